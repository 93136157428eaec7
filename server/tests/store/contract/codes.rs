//! Codes and former ids.

use std::sync::Arc;

use peerless::store::{By, Expected, Saved, StoreError};
use serde_json::{Value, json};

use crate::support::{Place, at, draft, id, publish, published, record, record_with};

fn coded(name: &str, codes: Value) -> (String, String) {
    record_with(
        name,
        "one",
        json!({"error_code": "cudaErrorDocumentOwn"}),
        json!({"codes": codes}),
    )
}

fn aliased(name: &str, aliases: Value) -> (String, String) {
    record_with(name, "one", json!({"aliases": aliases}), json!({}))
}

pub(crate) async fn codes_are_found_whatever_the_case_and_blanks(place: Arc<Place>) {
    let store = place.store().await;
    published(
        &*store,
        "xid/b",
        coded("xid/b", json!(["Xid 79", "CUDA_ERROR_X"])),
    )
    .await;
    published(&*store, "xid/a", coded("xid/a", json!(["xid  79", "XID 79"]))).await;
    for code in ["Xid 79", "xid 79", " XID \t 79 "] {
        assert_eq!(
            store.records_by_code(code).await.unwrap(),
            [id("xid/a"), id("xid/b")],
            "{code:?}"
        );
    }
    assert_eq!(
        store.records_by_code("cuda_error_x").await.unwrap(),
        [id("xid/b")]
    );
    assert_eq!(
        store.records_by_code("CUDAERRORDOCUMENTOWN").await.unwrap().len(),
        2
    );
    for code in ["Xid79", "Xid 7", "", " ", "%"] {
        assert_eq!(store.records_by_code(code).await.unwrap(), [], "{code:?}");
    }
}

pub(crate) async fn codes_follow_the_published_revision(place: Arc<Place>) {
    let store = place.store().await;
    store
        .save_head(draft("xid/a", coded("xid/a", json!(["E 1"])), Expected::Absent))
        .await
        .unwrap();
    assert_eq!(store.records_by_code("E 1").await.unwrap(), []);
    store.publish(publish("xid/a", 1)).await.unwrap();
    assert_eq!(store.records_by_code("E 1").await.unwrap(), [id("xid/a")]);
    published(&*store, "xid/a", coded("xid/a", json!(["E 2"]))).await;
    assert_eq!(store.records_by_code("E 1").await.unwrap(), []);
    assert_eq!(store.records_by_code("E 2").await.unwrap(), [id("xid/a")]);
    store
        .withdraw(&id("xid/a"), &By::system("ada"), at(9))
        .await
        .unwrap();
    assert_eq!(store.records_by_code("E 2").await.unwrap(), []);
    store.publish(publish("xid/a", 1)).await.unwrap();
    assert_eq!(store.records_by_code("E 1").await.unwrap(), [id("xid/a")]);
}

pub(crate) async fn aliases_lead_to_the_record(place: Arc<Place>) {
    let store = place.store().await;
    let texts = aliased(
        "cuda/new",
        json!(["cuda/old", "cuda/older", "cuda/old", "cuda/new"]),
    );
    published(&*store, "cuda/new", texts).await;
    for alias in ["cuda/old", "cuda/older"] {
        assert_eq!(
            store.resolve_alias(alias).await.unwrap(),
            Some(id("cuda/new")),
            "{alias}"
        );
    }
    for alias in ["cuda/new", "cuda/none", ""] {
        assert_eq!(store.resolve_alias(alias).await.unwrap(), None, "{alias}");
    }
    // An old link still leads to the withdrawn record, which says what became of it.
    store
        .withdraw(&id("cuda/new"), &By::system("ada"), at(9))
        .await
        .unwrap();
    assert_eq!(
        store.resolve_alias("cuda/old").await.unwrap(),
        Some(id("cuda/new"))
    );
    published(&*store, "cuda/new", aliased("cuda/new", json!(["cuda/older"]))).await;
    assert_eq!(store.resolve_alias("cuda/old").await.unwrap(), None);
}

pub(crate) async fn an_alias_belongs_to_one_record(place: Arc<Place>) {
    let store = place.store().await;
    published(&*store, "cuda/a", aliased("cuda/a", json!(["cuda/old"]))).await;
    // Even a draft's id is taken.
    store
        .save_head(draft("cuda/c", record("cuda/c", "one"), Expected::Absent))
        .await
        .unwrap();
    for (alias, holder) in [("cuda/old", "cuda/a"), ("cuda/a", "cuda/a"), ("cuda/c", "cuda/c")] {
        let status = store.status(&id("cuda/b")).await.unwrap();
        let expected = status.map_or(Expected::Absent, |status| Expected::Head(status.head));
        let saved = store
            .save_head(draft("cuda/b", aliased("cuda/b", json!([alias])), expected))
            .await
            .unwrap();
        let Saved::Saved(revision) = saved else {
            panic!("{saved:?}")
        };
        let error = store.publish(publish("cuda/b", revision.0)).await.unwrap_err();
        let StoreError::AliasTaken {
            alias: told,
            holder: by,
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!((told.as_str(), by.as_str()), (alias, holder));
    }
    assert_eq!(store.resolve_alias("cuda/old").await.unwrap(), Some(id("cuda/a")));
    // Given up by its holder, it is free.
    published(&*store, "cuda/a", record("cuda/a", "two")).await;
    store.publish(publish("cuda/b", 1)).await.unwrap();
    assert_eq!(store.resolve_alias("cuda/old").await.unwrap(), Some(id("cuda/b")));
}

pub(crate) async fn a_former_id_is_not_given_away(place: Arc<Place>) {
    let store = place.store().await;
    published(&*store, "cuda/new", aliased("cuda/new", json!(["cuda/old"]))).await;
    let change = draft("cuda/old", record("cuda/old", "one"), Expected::Absent);
    let error = store.save_head(change).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::AliasTaken { holder, .. } if holder.as_str() == "cuda/new"),
        "{error}"
    );
    assert_eq!(store.status(&id("cuda/old")).await.unwrap(), None);
}
