//! Lists of records.

use std::sync::Arc;

use kb_core::ids::Seq;
use peerless::store::{By, Expected, ListQuery, RecordState};

use crate::support::{Place, at, draft, id, published, record};

pub(crate) async fn pages_come_in_id_order(place: Arc<Place>) {
    let store = place.store().await;
    for name in ["nccl/b", "cuda/c", "cuda/a"] {
        published(&*store, name, record(name, "one")).await;
    }
    store
        .save_head(draft("cuda/b", record("cuda/b", "one"), Expected::Absent))
        .await
        .unwrap();
    let mut query = ListQuery {
        limit: 2,
        ..ListQuery::default()
    };
    let page = store.list(query.clone()).await.unwrap();
    let names: Vec<&str> = page.iter().map(|listing| listing.status.id.as_str()).collect();
    assert_eq!(names, ["cuda/a", "cuda/c"]);
    assert_eq!(page[0].signature.as_deref(), Some("error: one"));
    query.after = Some(id("cuda/c"));
    let page = store.list(query.clone()).await.unwrap();
    assert_eq!(page.len(), 1);
    assert_eq!(page[0].status.id, id("nccl/b"));
    query.after = Some(id("nccl/b"));
    assert_eq!(store.list(query).await.unwrap(), []);

    let drafts = ListQuery {
        drafts: true,
        limit: 10,
        ..ListQuery::default()
    };
    let page = store.list(drafts).await.unwrap();
    let names: Vec<&str> = page.iter().map(|listing| listing.status.id.as_str()).collect();
    assert_eq!(names, ["cuda/a", "cuda/b", "cuda/c", "nccl/b"]);
    assert_eq!(
        (page[1].status.state, &page[1].signature),
        (RecordState::Draft, &None)
    );
}

pub(crate) async fn changes_come_in_seq_order_with_tombstones(place: Arc<Place>) {
    let store = place.store().await;
    for name in ["cuda/c", "cuda/b", "cuda/a"] {
        published(&*store, name, record(name, "one")).await;
    }
    store
        .withdraw(&id("cuda/b"), &By::system("ada"), at(9))
        .await
        .unwrap();
    let since = |seq| ListQuery {
        since: Some(Seq(seq)),
        limit: 10,
        ..ListQuery::default()
    };
    let seen = |page: Vec<peerless::store::RecordListing>| -> Vec<(i64, String, RecordState)> {
        page.into_iter()
            .map(|listing| {
                (
                    listing.status.seq.unwrap().0,
                    listing.status.id.to_string(),
                    listing.status.state,
                )
            })
            .collect()
    };
    let a = (3, "cuda/a".to_owned(), RecordState::Published);
    let b = (4, "cuda/b".to_owned(), RecordState::Withdrawn);
    assert_eq!(seen(store.list(since(1)).await.unwrap()), [a.clone(), b.clone()]);
    let before = |seq| ListQuery {
        since: None,
        before: Some(Seq(seq)),
        ..since(0)
    };
    let newest = seen(store.list(before(i64::MAX)).await.unwrap());
    assert_eq!(
        newest,
        [b, a.clone(), (1, "cuda/c".to_owned(), RecordState::Published)]
    );
    let one = ListQuery {
        limit: 1,
        ..before(4)
    };
    let last_before = seen(store.list(one).await.unwrap());
    let first_since = seen(store.list(ListQuery { limit: 1, ..since(1) }).await.unwrap());
    assert_eq!([last_before, first_since], [[a.clone()], [a]]);
    assert_eq!(seen(store.list(since(4)).await.unwrap()), []);
}

pub(crate) async fn lists_are_narrowed_by_state_and_domain(place: Arc<Place>) {
    let store = place.store().await;
    for name in ["cuda/a", "cuda-x/b", "nccl/c"] {
        published(&*store, name, record(name, "one")).await;
    }
    store
        .withdraw(&id("nccl/c"), &By::system("ada"), at(3))
        .await
        .unwrap();
    let everything = ListQuery {
        limit: 10,
        drafts: true,
        ..ListQuery::default()
    };
    let names = async |query: ListQuery| -> Vec<String> {
        let listed = store.list(query).await.unwrap().into_iter();
        listed.map(|listing| listing.status.id.to_string()).collect()
    };
    let cuda = ListQuery {
        domain: Some("cuda".to_owned()),
        ..everything.clone()
    };
    assert_eq!(names(cuda.clone()).await, ["cuda/a"]);
    let withdrawn = ListQuery {
        state: Some(RecordState::Withdrawn),
        ..everything.clone()
    };
    assert_eq!(names(withdrawn).await, ["nccl/c"]);
    for (since, before) in [(Some(Seq(0)), None), (None, Some(Seq(99)))] {
        let query = ListQuery {
            since,
            before,
            state: Some(RecordState::Published),
            ..cuda.clone()
        };
        assert_eq!(names(query).await, ["cuda/a"], "{since:?} {before:?}");
    }
    assert_eq!(names(everything).await.len(), 3);
}

/// Not by a language's rules, in which `-`, `.` and `_` may count for nothing.
pub(crate) async fn ids_are_ordered_by_bytes(place: Arc<Place>) {
    let store = place.store().await;
    for name in [
        "cuda/ab", "cuda/a_c", "cuda/a-d", "cuda/a.e", "cuda/a/f", "cuda/a0",
    ] {
        published(&*store, name, record(name, "one")).await;
    }
    let page = store
        .list(ListQuery {
            limit: 10,
            ..ListQuery::default()
        })
        .await
        .unwrap();
    let names: Vec<&str> = page.iter().map(|listing| listing.status.id.as_str()).collect();
    assert_eq!(
        names,
        [
            "cuda/a-d", "cuda/a.e", "cuda/a/f", "cuda/a0", "cuda/a_c", "cuda/ab"
        ]
    );
}
