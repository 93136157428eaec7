//! The strict reader and the editor against hand-written and made-up texts.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn values(text: &str) -> Result<Value, TextError> {
    parse_values(text, MAX_BYTES).map(|json| json.to_value())
}

fn refusal(text: &str) -> (String, &'static str, usize, usize) {
    let error = parse(text).expect_err(text);
    assert_eq!(parse_values(text, MAX_BYTES).as_ref(), Err(&error), "{text:?}");
    (
        error.pointer,
        error.rule,
        error.position.line,
        error.position.column,
    )
}

#[test]
fn what_readers_disagree_about_is_refused_with_place_and_rule() {
    let cases: &[(&str, &str, &str, usize, usize)] = &[
        ("\u{feff}{}", "", "bom", 1, 1),
        ("{\"a\": 1,\n \"é\": 2, \"a\": 3}", "/a", "duplicate-key", 2, 10),
        (
            "{\"a\": {\"b/~\": [0, {\"c\": 1, \"c\": 2}]}}",
            "/a/b~1~0/1/c",
            "duplicate-key",
            1,
            28,
        ),
        ("{\"a\": 1, \"\\u0061\": 2}", "/a", "duplicate-key", 1, 10),
        ("[\"x\0\"]", "/0", "nul", 1, 4),
        ("[\"x\\u0000\"]", "/0", "nul", 1, 4),
        ("{}\0", "", "nul", 1, 3),
        ("[\"\\ud800\"]", "/0", "surrogate", 1, 3),
        ("[\"\\udc00\\ud800\"]", "/0", "surrogate", 1, 3),
        ("[\"\\ud800\\u0041\"]", "/0", "surrogate", 1, 3),
        ("[1e999]", "/0", "number", 1, 2),
        ("[01]", "/0", "syntax", 1, 2),
        ("[+1]", "/0", "syntax", 1, 2),
        ("[1.]", "/0", "syntax", 1, 4),
        ("[1,]", "/1", "syntax", 1, 4),
        ("{\"a\": 1,}", "", "syntax", 1, 9),
        ("{a: 1}", "", "syntax", 1, 2),
        ("[\"a\nb\"]", "/0", "syntax", 1, 4),
        ("[NaN]", "/0", "syntax", 1, 2),
        ("", "", "syntax", 1, 1),
        ("{} {}", "", "trailing", 1, 4),
        ("// note\n{}", "", "syntax", 1, 1),
    ];
    for &(text, pointer, rule, line, column) in cases {
        assert_eq!(
            refusal(text),
            (pointer.to_owned(), rule, line, column),
            "{text:?}"
        );
    }
}

#[test]
fn size_and_depth_have_limits() {
    let deepest = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert!(parse(&deepest).is_ok() && parse_values(&deepest, MAX_BYTES).is_ok());
    assert_eq!(refusal(&format!("[{deepest}]")).1, "depth");
    assert_eq!(refusal(&"[".repeat(MAX_BYTES)).1, "depth");

    let largest = format!("\"{}\"", "x".repeat(MAX_BYTES - 2));
    assert!(parse(&largest).is_ok());
    assert_eq!(refusal(&format!("{largest} ")).1, "size");
}

#[test]
fn surrogate_pairs_and_escapes_read_as_characters() {
    let node = parse(r#""\ud83d\ude00 \"\\\/\b\f\n\r\t\u00e9""#).unwrap();
    assert_eq!(node.as_str(), Some("😀 \"\\/\u{8}\u{c}\n\r\té"));
}

#[test]
fn an_edit_takes_one_value_and_no_other_byte() {
    let text = "{ \"a\" : [ 1,\t{\"b/c\": \"é\"} ],\r\n\"d\":null }  \n";
    assert_eq!(
        replace_value(text, "/a/1/b~1c", " \"中\" ").unwrap(),
        "{ \"a\" : [ 1,\t{\"b/c\": \"中\"} ],\r\n\"d\":null }  \n"
    );
    assert_eq!(
        replace_value(text, "/d", "[]").unwrap(),
        text.replace("null", "[]")
    );
    assert_eq!(replace_value(text, "", "1").unwrap(), "1  \n");
    for (pointer, value) in [
        ("/x", "1"),
        ("/a/2", "1"),
        ("/a/01", "1"),
        ("/a/-", "1"),
        ("a", "1"),
    ] {
        let missing = EditError::NotFound(pointer.to_owned());
        assert_eq!(replace_value(text, pointer, value), Err(missing));
    }
    assert!(matches!(
        replace_value(text, "/d", "1, \"a\": 2"),
        Err(EditError::Value(_))
    ));
    assert!(matches!(replace_value("{", "", "1"), Err(EditError::Text(_))));
    let long = format!("\"{}\"", "x".repeat(MAX_BYTES - 10));
    assert!(matches!(
        replace_value(text, "/d", &long),
        Err(EditError::Result(_))
    ));
}

#[test]
fn members_come_and_go_in_the_style_of_the_text() {
    let text = "{\n  \"a\": 1,\n  \"b\": {}\n}";
    let with = insert_member(text, "/c~1d", "[2]").unwrap();
    assert_eq!(with, "{\n  \"a\": 1,\n  \"b\": {},\n  \"c/d\": [2]\n}");
    assert_eq!(remove_member(&with, "/c~1d").unwrap(), text);
    assert_eq!(remove_member(text, "/a").unwrap(), "{\n  \"b\": {}\n}");
    assert_eq!(
        insert_member(text, "/b/x", "1").unwrap(),
        "{\n  \"a\": 1,\n  \"b\": {\"x\": 1}\n}"
    );
    assert_eq!(remove_member("{ \"a\" : 1 }", "/a").unwrap(), "{}");
    assert_eq!(
        insert_member(text, "/a", "2"),
        Err(EditError::Exists("/a".to_owned()))
    );
    assert_eq!(
        insert_member(text, "/a/x", "2"),
        Err(EditError::NotAMember("/a/x".to_owned()))
    );
    assert_eq!(
        remove_member(text, "/x"),
        Err(EditError::NotFound("/x".to_owned()))
    );
    assert_eq!(remove_member(text, ""), Err(EditError::NotAMember(String::new())));
}

#[test]
fn sha256_is_lower_case_hexadecimal() {
    // FIPS 180-2, appendix B.1.
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(Sha256::of("abc").as_str(), abc);
    assert_eq!(abc.parse::<Sha256>().unwrap(), Sha256::of("abc"));
    for bad in ["", &abc[1..], &abc.to_uppercase(), &abc.replace('b', "g")] {
        assert!(bad.parse::<Sha256>().is_err(), "{bad:?}");
    }
}

/// Any JSON value without NUL, shallower than the limit.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("finite", |n| n.is_finite())
            .prop_map(Value::from),
        "[^\0]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[^\0]{0,6}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Every pointer into a tree, the empty one included.
fn pointers(node: &Node, pointer: &str, found: &mut Vec<String>) {
    found.push(pointer.to_owned());
    let mut go = |step: &Step<'_>, child: &Node| {
        let mut below = pointer.to_owned();
        push_step(&mut below, step);
        pointers(child, &below, found);
    };
    match &node.kind {
        Kind::Object(members) => members.iter().for_each(|m| go(&Step::Key(&m.key), &m.value)),
        Kind::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(i, item)| go(&Step::Index(i), item)),
        _ => {}
    }
}

fn as_value(text: &str, node: &Node) -> Value {
    match &node.kind {
        Kind::Null => Value::Null,
        Kind::Bool(truth) => Value::Bool(*truth),
        Kind::Number { .. } => serde_json::from_str(&text[node.span.clone()]).unwrap(),
        Kind::String(plain) => Value::String(plain.clone()),
        Kind::Array(items) => items.iter().map(|item| as_value(text, item)).collect(),
        Kind::Object(members) => {
            let pairs = members.iter().map(|m| (m.key.clone(), as_value(text, &m.value)));
            Value::Object(pairs.collect())
        }
    }
}

proptest! {
    #[test]
    fn agrees_with_serde_json_on_valid_texts(value in json_value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let node = parse(&text).unwrap();
        prop_assert_eq!(as_value(&text, &node), value);
    }

    #[test]
    fn accepts_nothing_that_serde_json_refuses(text in r#"[\[\]{}:,"\\ue0a1\-+.tfn ]{0,24}"#) {
        let read = parse(&text);
        prop_assert_eq!(&values(&text), &read.as_ref().map(|node| as_value(&text, node)).map_err(Clone::clone));
        if let Ok(node) = read {
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(as_value(&text, &node), value);
        }
    }

    #[test]
    fn values_without_spans_are_the_same(texts in prop::collection::vec(r#"\{("[ab]{1,2}":(1|-0|0\.5|1e400|"\\u0000"|\[\[\]\]),)"[ab]{1,2}":[0-9tn]\}"#, 1..4)) {
        let text = format!("[{}]", texts.join(","));
        let read = parse(&text);
        prop_assert_eq!(values(&text), read.map(|node| as_value(&text, &node)));
    }

    #[test]
    fn never_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn never_panics_on_damaged_json(value in json_value(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = serde_json::to_vec(&value).unwrap();
        let index = at.index(bytes.len());
        bytes[index] = byte;
        let text = String::from_utf8_lossy(&bytes);
        let read = parse(&text).map(|node| as_value(&text, &node));
        if let Ok(read) = &read {
            prop_assert_eq!(read, &serde_json::from_str::<Value>(&text).unwrap());
        }
        prop_assert_eq!(values(&text), read);
    }

    #[test]
    fn replace_keeps_every_other_byte(
        value in json_value(), new in json_value(), at in any::<prop::sample::Index>(), pretty in any::<bool>()
    ) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let root = parse(&text).unwrap();
        let mut all = Vec::new();
        pointers(&root, "", &mut all);
        let pointer = at.get(&all);
        let span = root.find(pointer).unwrap().span.clone();
        let new_text = serde_json::to_string(&new).unwrap();

        let edited = replace_value(&text, pointer, &new_text).unwrap();
        let suffix = &text[span.end..];
        prop_assert_eq!(&edited[..span.start], &text[..span.start]);
        prop_assert!(edited.ends_with(suffix));
        prop_assert_eq!(&edited[span.start..edited.len() - suffix.len()], new_text.as_str());

        let mut expected = value;
        *expected.pointer_mut(pointer).unwrap() = new;
        prop_assert_eq!(serde_json::from_str::<Value>(&edited).unwrap(), expected);
        // Putting the old value back gives the old text.
        let old = &text[span];
        prop_assert_eq!(replace_value(&edited, pointer, old).unwrap(), text.clone());
    }

    #[test]
    fn inserting_and_removing_a_member_are_inverse(value in json_value(), key in "[a-z~/é]{1,5}", new in json_value()) {
        let object = serde_json::json!({"first": value});
        let text = serde_json::to_string_pretty(&object).unwrap();
        let mut pointer = String::new();
        push_step(&mut pointer, &Step::Key(&key));
        prop_assume!(key != "first");
        let with = insert_member(&text, &pointer, &serde_json::to_string(&new).unwrap()).unwrap();
        let read: Value = serde_json::from_str(&with).unwrap();
        prop_assert_eq!(read.pointer(&pointer), Some(&new));
        prop_assert_eq!(remove_member(&with, &pointer).unwrap(), text);
    }

    #[test]
    fn rewriting_gives_the_value_and_keeps_what_did_not_change(
        value in json_value(), new in json_value(), pretty in any::<bool>()
    ) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let wanted = serde_json::to_string(&new).unwrap();
        let tree = Tree::parse(&wanted).unwrap();
        let edited = rewrite(&text, &tree).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&edited).unwrap(), new);
        prop_assert_eq!(rewrite(&text, &Tree::parse(&text).unwrap()).unwrap(), text);
    }

    #[test]
    fn setting_one_value_keeps_every_other_byte(
        value in json_value(), new in json_value(), at in any::<prop::sample::Index>(), pretty in any::<bool>()
    ) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let root = parse(&text).unwrap();
        let mut all = Vec::new();
        pointers(&root, "", &mut all);
        let pointer = at.get(&all);
        let span = root.find(pointer).unwrap().span.clone();
        let edited = set_value(&text, pointer, &new.to_string()).unwrap();
        let mut expected = value;
        *expected.pointer_mut(pointer).unwrap() = new;
        prop_assert_eq!(serde_json::from_str::<Value>(&edited).unwrap(), expected);
        prop_assert!(edited.starts_with(&text[..span.start]), "{}", edited);
        prop_assert!(edited.ends_with(&text[span.end..]), "{}", edited);
        // Putting the old value back gives the old text where it is a scalar; else the same value.
        let back = set_value(&edited, pointer, &text[span]).unwrap();
        prop_assert_eq!(
            serde_json::from_str::<Value>(&back).unwrap(),
            serde_json::from_str::<Value>(&text).unwrap()
        );
    }

    #[test]
    fn inserting_removing_and_moving_an_item_keep_the_others(
        items in prop::collection::vec(json_value(), 1..6), new in json_value(),
        at in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()
    ) {
        let text = serde_json::to_string_pretty(&serde_json::json!({"list": items})).unwrap();
        let at = at.index(items.len() + 1);
        let with = insert_item(&text, "/list", at, &new.to_string()).unwrap();
        let mut expected = items.clone();
        expected.insert(at, new);
        prop_assert_eq!(&serde_json::from_str::<Value>(&with).unwrap()["list"], &Value::from(expected.clone()));
        prop_assert_eq!(remove_item(&with, "/list", at).unwrap(), text.clone());
        let to = to.index(expected.len());
        let moved = move_item(&with, "/list", at, to).unwrap();
        prop_assert_eq!(move_item(&moved, "/list", to, at).unwrap(), with);
    }
}

#[test]
fn a_new_value_is_laid_out_as_its_surroundings_are() {
    let text = "{\n    \"a\": \"\\u00e9\",\n    \"b\":  [1,  2],\n    \"c\": null\n}\n";
    let edited = set_value(text, "/c/list/0/x", "[true]").unwrap();
    let expected = "{\n    \"a\": \"\\u00e9\",\n    \"b\":  [1,  2],\n    \"c\": {\n        \"list\": [\n            {\n                \"x\": [\n                    true\n                ]\n            }\n        ]\n    }\n}\n";
    assert_eq!(edited, expected);
    let edited = set_value(text, "/b/-", "3").unwrap();
    assert_eq!(edited, text.replace("[1,  2]", "[1,  2,  3]"));
    // Lines end as they did.
    let windows = "{\r\n  \"a\": 1\r\n}\r\n";
    let edited = set_value(windows, "/b", "[2]").unwrap();
    assert_eq!(edited, "{\r\n  \"a\": 1,\r\n  \"b\": [\r\n    2\r\n  ]\r\n}\r\n");
    assert!(matches!(
        set_value(text, "/b/7", "3"),
        Err(EditError::NotFound(_))
    ));
    assert!(matches!(
        set_value(text, "/a/x", "3"),
        Err(EditError::NotFound(_))
    ));
    assert!(matches!(move_item(text, "/b", 0, 2), Err(EditError::NotFound(_))));
}
