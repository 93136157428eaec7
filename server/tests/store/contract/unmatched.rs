//! Lines that no record knows.

use std::sync::Arc;

use peerless::store::{
    AuditQuery, By, MOST_UNMATCHED, MOST_UNMATCHED_EXAMPLES, Merge, Store, StoreError, Unmatched,
    UnmatchedChange, UnmatchedChanged, UnmatchedOrder, UnmatchedQuery, UnmatchedSeen, UnmatchedSince,
    UnmatchedState, UnmatchedStep,
};
use time::{Duration, OffsetDateTime};

use crate::support::{Place, at, id, published, record};

fn seen(id: &str, node: &str, count: u32, example: &str) -> UnmatchedSeen {
    UnmatchedSeen {
        id: format!("{id:0>16}"),
        tokens: vec![format!("{id}blat"), " failed".to_owned()],
        is_wider: false,
        examples: vec![example.to_owned()],
        node: node.to_owned(),
        count,
    }
}

async fn all(store: &dyn Store, query: UnmatchedQuery) -> Vec<Unmatched> {
    store
        .unmatched(&UnmatchedQuery { limit: 100, ..query })
        .await
        .unwrap()
}

fn ids(found: &[Unmatched]) -> Vec<&str> {
    found.iter().map(|one| one.id.trim_start_matches('0')).collect()
}

async fn change(store: &dyn Store, id: &str, step: UnmatchedStep) -> Result<UnmatchedChanged, StoreError> {
    let change = UnmatchedChange {
        id: format!("{id:0>16}"),
        step,
        by: By::system("ada"),
        at: at(9),
        since: UnmatchedSince::Whatever,
    };
    store.change_unmatched(change).await
}

fn open_lines() -> UnmatchedQuery {
    UnmatchedQuery {
        state: Some(UnmatchedState::Open),
        ..UnmatchedQuery::default()
    }
}

pub(crate) async fn a_full_queue_takes_new_lines(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    let many = u64::from(MOST_UNMATCHED);
    let mut lines: Vec<UnmatchedSeen> = (0..many)
        .map(|number| seen(&format!("n{number}"), "node-1", 2, "noise failed"))
        .collect();
    // Those of the fewest lines: two that somebody decided about, two that nobody did.
    for line in lines.iter_mut().take(4) {
        line.count = 1;
    }
    assert_eq!(store.note_unmatched(&lines, at(0)).await.unwrap(), 0);
    change(store, "n0", UnmatchedStep::Assign(Some("ada".to_owned())))
        .await
        .unwrap();
    change(store, "n1", UnmatchedStep::Ignore("a test".to_owned()))
        .await
        .unwrap();
    let new = [
        seen("x", "node-2", 1, "x failed"),
        seen("y", "node-2", 1, "y failed"),
    ];
    assert_eq!(store.note_unmatched(&new, at(1)).await.unwrap(), 2);
    let kept = store.unmatched_tokens().await.unwrap();
    assert_eq!(kept.len() as u64, many);
    for (id, is_kept) in [
        ("x", true),
        ("y", true),
        ("n0", true),
        ("n1", true),
        ("n2", false),
        ("n3", false),
    ] {
        let found = store.unmatched_one(&format!("{id:0>16}")).await.unwrap();
        assert_eq!(found.is_some(), is_kept, "{id}");
    }
    // What is known does not need room.
    let again = [seen("x", "node-2", 1, "x failed")];
    assert_eq!(store.note_unmatched(&again, at(2)).await.unwrap(), 0);
}

pub(crate) async fn two_servers_widen_one_template(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    let line = |tokens: [&str; 3], is_wider| UnmatchedSeen {
        tokens: tokens.map(str::to_owned).to_vec(),
        is_wider,
        ..seen("a", "node-1", 1, "a failed")
    };
    for (tokens, is_wider) in [
        (["a", " b", " c"], false),
        (["<*>", " b", " c"], true),
        (["a", " b", " <*>"], true),
    ] {
        let lines = [line(tokens, is_wider)];
        store.note_unmatched(&lines, at(0)).await.unwrap();
    }
    let tokens = store.unmatched_tokens().await.unwrap();
    assert_eq!(tokens[0].1, ["<*>", " b", " <*>"]);
    let found = all(store, UnmatchedQuery::default()).await;
    assert_eq!(found[0].template, "<*> b <*>");
}

pub(crate) async fn a_template_names_the_record_that_its_own_became(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    for name in ["cuda/x", "cuda/y"] {
        published(store, name, record(name, name)).await;
    }
    let lines = [seen("a", "node-1", 1, "a failed")];
    store.note_unmatched(&lines, at(0)).await.unwrap();
    change(store, "a", UnmatchedStep::KnownAs(id("cuda/x")))
        .await
        .unwrap();
    let merge = Merge {
        id: id("cuda/x"),
        into: id("cuda/y"),
        by: By::system("ada"),
        reason: Some("says the same".to_owned()),
        expected: None,
        approves: None,
        at: at(5),
    };
    store.merge(merge).await.unwrap().unwrap();
    let found = all(store, UnmatchedQuery::default()).await;
    assert_eq!(found[0].record, Some(id("cuda/y")));
}

pub(crate) async fn an_editor_does_not_undo_what_was_not_shown(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    store
        .note_unmatched(&[seen("a", "node-1", 1, "a failed")], at(0))
        .await
        .unwrap();
    let step = async |by: &str, time, since| {
        let change = UnmatchedChange {
            id: format!("{:0>16}", "a"),
            step: UnmatchedStep::Assign(Some(by.to_owned())),
            by: By::system(by),
            at: at(time),
            since: UnmatchedSince::Nothing(since),
        };
        store.change_unmatched(change).await.unwrap()
    };
    assert_eq!(step("ada", 1, None).await, UnmatchedChanged::Done);
    assert_eq!(
        step("bob", 2, None).await,
        UnmatchedChanged::Before("ada".to_owned())
    );
    let found = all(store, open_lines()).await.remove(0);
    assert_eq!(found.assignee.as_deref(), Some("ada"));
    assert_eq!(step("bob", 3, found.changed_at).await, UnmatchedChanged::Done);
    assert_eq!(all(store, open_lines()).await[0].assignee.as_deref(), Some("bob"));
}

pub(crate) async fn lines_are_counted_by_node_and_day(place: Arc<Place>) {
    let store = place.store().await;
    let day = OffsetDateTime::from_unix_timestamp(1_795_000_000).unwrap();
    let first = [
        seen("a", "node-1", 2, "a 1 failed"),
        seen("b", "node-1", 9, "b failed"),
    ];
    store.note_unmatched(&first, day).await.unwrap();
    let next = [
        seen("a", "node-2", 3, "a 2 failed"),
        seen("a", "node-1", 1, "a 1 failed"),
    ];
    store
        .note_unmatched(&next, day + Duration::days(1))
        .await
        .unwrap();

    let history = store
        .unmatched_one(&format!("{:0>16}", "a"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(history.unmatched.count, 6);
    assert_eq!(history.unmatched.nodes, 2);
    assert_eq!(history.unmatched.template, "ablat failed");
    assert_eq!(history.unmatched.examples, ["a 1 failed", "a 2 failed"]);
    assert_eq!(history.unmatched.first_seen, day);
    assert_eq!(history.unmatched.last_seen, day + Duration::days(1));
    let by_day: Vec<u64> = history.by_day.iter().map(|(_, count)| *count).collect();
    assert_eq!(by_day, [4, 2]);
    assert!(history.by_day[0].0 > history.by_day[1].0);
    let by_node = [("node-1".to_owned(), 3), ("node-2".to_owned(), 3)];
    assert_eq!(history.by_node, by_node);
    assert_eq!(store.unmatched_one("0").await.unwrap(), None);

    let none = UnmatchedQuery::default;
    assert_eq!(ids(&all(store.as_ref(), none()).await), ["b", "a"]);
    let by = |order| UnmatchedQuery { order, ..none() };
    assert_eq!(
        ids(&all(store.as_ref(), by(UnmatchedOrder::Nodes)).await),
        ["a", "b"]
    );
    assert_eq!(
        ids(&all(store.as_ref(), by(UnmatchedOrder::LastSeen)).await),
        ["a", "b"]
    );
    let on = |node: &str| UnmatchedQuery {
        node: Some(node.to_owned()),
        ..none()
    };
    assert_eq!(ids(&all(store.as_ref(), on("node-2")).await), ["a"]);
    let holds = |text: &str| UnmatchedQuery {
        text: Some(text.to_owned()),
        ..none()
    };
    assert_eq!(ids(&all(store.as_ref(), holds("BBLAT")).await), ["b"]);
    assert!(all(store.as_ref(), holds("%")).await.is_empty());
    let second = UnmatchedQuery { skip: 1, ..none() };
    assert_eq!(ids(&all(store.as_ref(), second).await), ["a"]);
}

pub(crate) async fn what_is_kept_has_bounds(place: Arc<Place>) {
    let store = place.store().await;
    let now = at(0);
    for number in 0..10 {
        let line = seen("a", "node-1", 1, &format!("a {number} failed"));
        store.note_unmatched(&[line], now).await.unwrap();
    }
    let found = all(store.as_ref(), UnmatchedQuery::default()).await;
    assert_eq!(found[0].examples.len(), MOST_UNMATCHED_EXAMPLES);
    assert_eq!(found[0].count, 10);
    let wider = UnmatchedSeen {
        tokens: vec!["<*>".to_owned(), " failed".to_owned()],
        is_wider: true,
        ..seen("a", "node-1", 1, "x failed")
    };
    store.note_unmatched(&[wider], now).await.unwrap();
    let tokens = store.unmatched_tokens().await.unwrap();
    assert_eq!(tokens[0].1, ["<*>", " failed"]);

    // What nobody took up and was not seen for long is dropped; what somebody has taken on stays.
    store
        .note_unmatched(&[seen("b", "node-1", 1, "b failed")], now)
        .await
        .unwrap();
    change(store.as_ref(), "b", UnmatchedStep::Assign(Some("ada".to_owned())))
        .await
        .unwrap();
    // What was decided about lines is over when they are.
    store
        .note_unmatched(&[seen("d", "node-1", 1, "d failed")], now)
        .await
        .unwrap();
    change(store.as_ref(), "d", UnmatchedStep::Ignore("a test".to_owned()))
        .await
        .unwrap();
    let later = now + Duration::days(200);
    store
        .note_unmatched(&[seen("c", "node-1", 1, "c failed")], later)
        .await
        .unwrap();
    let found = all(store.as_ref(), UnmatchedQuery::default()).await;
    assert_eq!(ids(&found), ["c", "b"]);
    assert_eq!(found[1].nodes, 0);
}

pub(crate) async fn editors_say_what_becomes_of_lines(place: Arc<Place>) {
    let store = place.store().await;
    published(store.as_ref(), "cuda/x", record("cuda/x", "x")).await;
    store
        .note_unmatched(&[seen("a", "node-1", 1, "a failed")], at(0))
        .await
        .unwrap();
    let one = async || all(store.as_ref(), UnmatchedQuery::default()).await.remove(0);

    let taken = change(store.as_ref(), "a", UnmatchedStep::Assign(Some("ada".to_owned()))).await;
    assert_eq!(taken.unwrap(), UnmatchedChanged::Done);
    assert_eq!(one().await.assignee.as_deref(), Some("ada"));
    let mine = UnmatchedQuery {
        assignee: Some("bob".to_owned()),
        ..UnmatchedQuery::default()
    };
    assert!(all(store.as_ref(), mine).await.is_empty());

    change(store.as_ref(), "a", UnmatchedStep::Ignore("a test".to_owned()))
        .await
        .unwrap();
    let ignored = one().await;
    assert_eq!(
        (ignored.state, ignored.reason.as_deref()),
        (UnmatchedState::Ignored, Some("a test"))
    );
    assert!(all(store.as_ref(), open_lines()).await.is_empty());

    let unknown = change(store.as_ref(), "a", UnmatchedStep::KnownAs(id("cuda/none"))).await;
    assert!(matches!(unknown, Err(StoreError::NoRecord(_))));
    change(store.as_ref(), "a", UnmatchedStep::KnownAs(id("cuda/x")))
        .await
        .unwrap();
    let known = one().await;
    assert_eq!(
        (known.state, known.record, known.reason),
        (UnmatchedState::Known, Some(id("cuda/x")), None)
    );

    change(store.as_ref(), "a", UnmatchedStep::Reopen).await.unwrap();
    assert_eq!(all(store.as_ref(), open_lines()).await[0].record, None);
    let nothing = change(store.as_ref(), "z", UnmatchedStep::Reopen).await;
    assert_eq!(nothing.unwrap(), UnmatchedChanged::Nothing);

    let query = AuditQuery {
        action: Some("unmatched".to_owned()),
        limit: 10,
        ..AuditQuery::default()
    };
    let told = store.audit(&query).await.unwrap();
    let told: Vec<&str> = told.iter().map(|entry| entry.action.as_str()).collect();
    let expected = [
        "unmatched.reopen",
        "unmatched.known_as",
        "unmatched.ignore",
        "unmatched.assign",
    ];
    assert_eq!(told, expected);
}
