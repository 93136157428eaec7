//! The room of anonymous writing.

use std::sync::Arc;

use peerless::store::{AnonymousKept, AnonymousKind, AnonymousTotals, NewAnonymous, Store, StoreError};

use crate::support::{Place, at};

const A_DAY: i64 = 86_400;

fn entry(source: &str, body: &str, second: i64) -> NewAnonymous {
    NewAnonymous {
        kind: AnonymousKind::Suggestion,
        subject: "cuda/x".to_owned(),
        body: body.to_owned(),
        key_sha256: None,
        name_sha256: None,
        source: source.to_owned(),
        at: at(second),
        expires_at: at(second + 90 * A_DAY),
        most_a_day: 2,
        room_bytes: 1_000,
    }
}

fn of(kind: AnonymousKind, entry: NewAnonymous) -> NewAnonymous {
    NewAnonymous { kind, ..entry }
}

async fn bodies(store: &dyn Store, kind: AnonymousKind) -> Vec<String> {
    let entries = store.anonymous(kind, None, 100).await.unwrap();
    entries.into_iter().map(|entry| entry.body).collect()
}

async fn keep(store: &dyn Store, entry: NewAnonymous) -> i64 {
    match store.keep_anonymous(entry).await.unwrap() {
        AnonymousKept::Kept { n, .. } => n,
        AnonymousKept::TooManyToday => panic!("the day is used up"),
    }
}

pub(crate) async fn an_address_has_a_quota_for_each_day(place: Arc<Place>) {
    let store = place.store().await;
    keep(store.as_ref(), entry("a", "1", 0)).await;
    // One quota for all kinds.
    keep(store.as_ref(), of(AnonymousKind::Vote, entry("a", "2", 1))).await;
    let refused = of(AnonymousKind::Lines, entry("a", "3", 2));
    assert_eq!(
        store.keep_anonymous(refused).await.unwrap(),
        AnonymousKept::TooManyToday
    );
    keep(store.as_ref(), entry("b", "4", 3)).await;
    keep(store.as_ref(), entry("a", "5", A_DAY)).await;
    assert_eq!(
        bodies(store.as_ref(), AnonymousKind::Suggestion).await,
        ["5", "4", "1"]
    );
    assert_eq!(bodies(store.as_ref(), AnonymousKind::Vote).await, ["2"]);
    assert!(bodies(store.as_ref(), AnonymousKind::Lines).await.is_empty());
}

pub(crate) async fn removing_an_entry_gives_back_room_and_no_quota(place: Arc<Place>) {
    let store = place.store().await;
    let n = keep(store.as_ref(), entry("a", &"x".repeat(900), 0)).await;
    assert!(store.remove_anonymous(n).await.unwrap());
    assert!(!store.remove_anonymous(n).await.unwrap());
    let again = store.keep_anonymous(entry("a", "y", 1)).await.unwrap();
    let expected = AnonymousKept::Kept {
        n: n + 1,
        bytes_in_all: 7,
        pushed_out: 0,
    };
    assert_eq!(again, expected);
    let third = store.keep_anonymous(entry("a", "z", 2)).await.unwrap();
    assert_eq!(third, AnonymousKept::TooManyToday);
}

pub(crate) async fn a_full_room_loses_its_oldest(place: Arc<Place>) {
    let store = place.store().await;
    for (number, source) in ["a", "b", "c"].into_iter().enumerate() {
        let body = number.to_string().repeat(294);
        keep(store.as_ref(), entry(source, &body, 0)).await;
    }
    let kept = store
        .keep_anonymous(entry("d", &"3".repeat(494), 1))
        .await
        .unwrap();
    let expected = AnonymousKept::Kept {
        n: 4,
        bytes_in_all: 800,
        pushed_out: 2,
    };
    assert_eq!(kept, expected);
    let left = bodies(store.as_ref(), AnonymousKind::Suggestion).await;
    assert_eq!(left, ["3".repeat(494), "2".repeat(294)]);
    let totals = AnonymousTotals {
        entries: 2,
        bytes: 800,
    };
    assert_eq!(store.anonymous_totals().await.unwrap(), totals);
}

pub(crate) async fn entries_expire(place: Arc<Place>) {
    let store = place.store().await;
    keep(store.as_ref(), entry("a", "old", 0)).await;
    keep(store.as_ref(), entry("a", "new", 10)).await;
    assert_eq!(store.expire_anonymous(at(90 * A_DAY - 1)).await.unwrap(), 0);
    assert_eq!(store.expire_anonymous(at(90 * A_DAY)).await.unwrap(), 1);
    assert_eq!(bodies(store.as_ref(), AnonymousKind::Suggestion).await, ["new"]);
    assert_eq!(store.anonymous_totals().await.unwrap().bytes, 9);
}

pub(crate) async fn a_writer_takes_back_with_the_key(place: Arc<Place>) {
    let store = place.store().await;
    let with_key = |key: &str, source: &str| NewAnonymous {
        key_sha256: Some(key.to_owned()),
        ..entry(source, key, 0)
    };
    keep(store.as_ref(), with_key("k1", "a")).await;
    keep(store.as_ref(), with_key("k2", "b")).await;
    assert!(!store.take_back_anonymous("k3").await.unwrap());
    assert!(store.take_back_anonymous("k1").await.unwrap());
    assert_eq!(bodies(store.as_ref(), AnonymousKind::Suggestion).await, ["k2"]);
    let nul = store.keep_anonymous(entry("c", "\0", 0)).await;
    assert!(matches!(nul, Err(StoreError::Unstorable { .. })), "{nul:?}");
}

pub(crate) async fn an_answer_is_read_by_its_name_until_its_time_is_over(place: Arc<Place>) {
    let store = place.store().await;
    let answer = |name: &str, days: i64| NewAnonymous {
        kind: AnonymousKind::Answer,
        key_sha256: Some(format!("key of {name}")),
        name_sha256: Some(name.to_owned()),
        expires_at: at(days * A_DAY),
        ..entry(name, name, 0)
    };
    keep(store.as_ref(), answer("a1", 1)).await;
    keep(store.as_ref(), answer("a7", 7)).await;
    // What has no name is not read by one.
    keep(store.as_ref(), entry("c", "", 0)).await;
    let read = async |name: &str, second: i64| {
        let found = store.anonymous_named(name, at(second)).await.unwrap();
        found.map(|entry| (entry.kind, entry.body, entry.written_at, entry.expires_at))
    };
    let expected = |name: &str, days: i64| {
        let times = (at(0), at(days * A_DAY));
        Some((AnonymousKind::Answer, name.to_owned(), times.0, times.1))
    };
    assert_eq!(read("a1", A_DAY - 1).await, expected("a1", 1));
    assert_eq!(read("a1", A_DAY).await, None, "before anybody looked through");
    assert_eq!(read("a7", A_DAY).await, expected("a7", 7));
    for name in ["", "a", "key of a7"] {
        assert_eq!(read(name, 1).await, None, "{name}");
    }
    assert!(bodies(store.as_ref(), AnonymousKind::Lines).await.is_empty());
    assert!(store.take_back_anonymous("key of a7").await.unwrap());
    assert_eq!(read("a7", 1).await, None);
    assert_eq!(read("a1", 1).await, expected("a1", 1));
    let twice = NewAnonymous {
        key_sha256: None,
        ..answer("a1", 7)
    };
    assert!(store.keep_anonymous(twice).await.is_err());
}

pub(crate) async fn many_writers_at_once_stay_within_the_limits(place: Arc<Place>) {
    let store = place.store().await;
    let tasks: Vec<_> = (0..12)
        .map(|number| {
            let store = Arc::clone(&store);
            let source = format!("s{}", number % 3);
            let write = entry(&source, &"x".repeat(294), 0);
            tokio::spawn(async move { store.keep_anonymous(write).await.unwrap() })
        })
        .collect();
    let mut kept = 0;
    for task in tasks {
        kept += u32::from(task.await.unwrap() != AnonymousKept::TooManyToday);
    }
    assert_eq!(kept, 6);
    let totals = AnonymousTotals {
        entries: 3,
        bytes: 900,
    };
    assert_eq!(store.anonymous_totals().await.unwrap(), totals);
}
