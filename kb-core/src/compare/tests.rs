//! Changes of records as editors make them, and made-up ones.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::ids::Revision;
use crate::text::{Part, Tree, rewrite};

fn tree(value: &Value) -> Tree {
    Tree::parse(&serde_json::to_string_pretty(value).unwrap()).unwrap()
}

fn read(tree: &Tree) -> Value {
    serde_json::from_str(&tree.compact()).unwrap()
}

fn changes(old: &Value, new: &Value) -> Vec<(String, ChangeKind)> {
    diff(Part::Document, &tree(old), &tree(new))
        .into_iter()
        .map(|change| (change.pointer, change.kind))
        .collect()
}

fn base() -> Value {
    json!({
        "root_cause": "old",
        "tags": ["a", "b", "c"],
        "workarounds": [
            {"action": "first", "how": "so"},
            {"action": "second", "how": null},
            {"action": "third", "how": "thus"},
        ],
    })
}

#[test]
fn an_item_put_in_between_changes_no_other() {
    let mut new = base();
    new["workarounds"]
        .as_array_mut()
        .unwrap()
        .insert(1, json!({"action": "new"}));
    new["workarounds"][3]["how"] = json!("otherwise");
    new["root_cause"] = json!("new");
    assert_eq!(
        changes(&base(), &new),
        [
            ("/root_cause".to_owned(), ChangeKind::Changed),
            ("/workarounds/1".to_owned(), ChangeKind::Added),
            ("/workarounds/3/how".to_owned(), ChangeKind::Changed),
        ]
    );
    assert_eq!(changes(&new, &base())[1].1, ChangeKind::Changed);
    assert!(changes(&base(), &base()).is_empty());
    let mut moved = base();
    moved["tags"] = json!(["c", "a", "b"]);
    assert_eq!(
        changes(&base(), &moved),
        [("/tags".to_owned(), ChangeKind::Moved)]
    );
}

#[test]
fn an_action_that_was_reworded_is_a_change_of_its_field() {
    let mut new = base();
    new["workarounds"][1]["action"] = json!("second, reworded");
    assert_eq!(
        changes(&base(), &new),
        [("/workarounds/1/action".to_owned(), ChangeKind::Changed)]
    );
}

#[test]
fn changes_of_different_fields_are_merged() {
    let (mut mine, mut theirs) = (base(), base());
    mine["root_cause"] = json!("mine");
    mine["workarounds"]
        .as_array_mut()
        .unwrap()
        .push(json!({"action": "fourth"}));
    mine["workarounds"][0]["how"] = json!("mine");
    theirs["workarounds"][1]["how"] = json!("theirs");
    theirs["workarounds"].as_array_mut().unwrap().remove(2);
    theirs["tags"] = json!(["b", "c", "d"]);
    let merged = merge(Part::Document, &tree(&base()), &tree(&mine), &tree(&theirs));
    assert_eq!(merged.conflicts, []);
    assert_eq!(
        read(&merged.tree),
        json!({
            "root_cause": "mine",
            "tags": ["b", "c", "d"],
            "workarounds": [
                {"action": "first", "how": "mine"},
                {"action": "second", "how": "theirs"},
                {"action": "fourth"},
            ],
        })
    );
}

#[test]
fn what_contradicts_is_told_and_theirs_is_kept() {
    let (mut mine, mut theirs) = (base(), base());
    mine["root_cause"] = json!("mine");
    theirs["root_cause"] = json!("theirs");
    mine["workarounds"].as_array_mut().unwrap().remove(2);
    theirs["workarounds"][2]["how"] = json!("theirs");
    let merged = merge(Part::Document, &tree(&base()), &tree(&mine), &tree(&theirs));
    assert_eq!(read(&merged.tree), theirs);
    let told: Vec<&str> = merged.conflicts.iter().map(|one| one.pointer.as_str()).collect();
    assert_eq!(told, ["/root_cause", "/workarounds/2"]);
    assert_eq!(merged.conflicts[0].base.as_deref(), Some("\"old\""));
    assert_eq!(merged.conflicts[1].mine, None);
}

#[test]
fn items_that_moved_are_never_merged_by_their_place() {
    // Mine took the first item away, so that every other moved; theirs corrected the second.
    let (mut mine, mut theirs) = (base(), base());
    mine["workarounds"].as_array_mut().unwrap().remove(0);
    theirs["workarounds"][1]["how"] = json!("theirs");
    let merged = merge(Part::Document, &tree(&base()), &tree(&mine), &tree(&theirs));
    assert_eq!(merged.conflicts, []);
    assert_eq!(
        read(&merged.tree)["workarounds"],
        json!([{"action": "second", "how": "theirs"}, {"action": "third", "how": "thus"}])
    );
    // Both put them into another order, or two have the same name: nobody guesses.
    let mut mine = base();
    mine["tags"] = json!(["c", "b", "a"]);
    theirs["tags"] = json!(["a", "b", "c", "d"]);
    let merged = merge(Part::Document, &tree(&base()), &tree(&mine), &tree(&theirs));
    assert_eq!(merged.conflicts.len(), 1);
    assert_eq!(merged.conflicts[0].pointer, "/tags");
}

#[test]
fn a_field_is_from_the_revision_that_changed_it_last() {
    let first = base();
    let mut second = base();
    second["workarounds"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({"action": "new", "how": "x"}));
    let mut third = second.clone();
    third["workarounds"][2]["how"] = json!("now");
    let trees = [tree(&first), tree(&second), tree(&third)];
    let found = blame(Part::Document, (1..).map(Revision).zip(&trees));
    let of = |pointer: &str| {
        found
            .iter()
            .find(|one| one.pointer == pointer)
            .unwrap()
            .revision
            .0
    };
    assert_eq!(of("/root_cause"), 1);
    assert_eq!(of("/workarounds/0/action"), 2);
    assert_eq!(of("/workarounds/1/how"), 1);
    assert_eq!(of("/workarounds/2/how"), 3);
    assert_eq!(of("/workarounds/2/action"), 1);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        (0..4_u8).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]|id|action", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_merge_with_one_change_is_that_change(base in value(), other in value()) {
        let (base, other) = (tree(&base), tree(&other));
        for (mine, theirs) in [(&other, &base), (&base, &other), (&other, &other)] {
            let merged = merge(Part::Annex, &base, mine, theirs);
            prop_assert_eq!(&merged.conflicts, &[]);
            prop_assert_eq!(&merged.tree, &other);
        }
    }

    #[test]
    fn a_merge_is_told_or_holds_every_change(base in value(), mine in value(), theirs in value()) {
        let (base, mine, theirs) = (tree(&base), tree(&mine), tree(&theirs));
        let one = merge(Part::Annex, &base, &mine, &theirs);
        let other = merge(Part::Annex, &base, &theirs, &mine);
        prop_assert_eq!(one.conflicts.is_empty(), other.conflicts.is_empty());
        // What was merged can be written.
        let text = theirs.compact();
        prop_assert_eq!(Tree::parse(&rewrite(&text, &one.tree).unwrap()).unwrap(), one.tree);
    }

    #[test]
    fn equal_texts_have_no_difference_and_others_have_one(one in value(), other in value()) {
        let (one, other) = (tree(&one), tree(&other));
        prop_assert_eq!(diff(Part::Annex, &one, &other).is_empty(), one == other);
    }
}
