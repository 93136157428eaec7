//! Heads and revisions.

use std::sync::Arc;

use kb_core::ids::Seq;
use peerless::store::{Expected, RecordState, Saved, StoreError};
use sqlx::{Connection as _, Executor as _};

use crate::support::{Engine, Place, at, draft, id, publish, published, record, revision};

pub(crate) async fn texts_come_back_byte_for_byte(place: Arc<Place>) {
    let store = place.store().await;
    let document = "{\r\n  \"id\": \"cuda/a\",\t\"x\": \"不支持 \\u00e9 é 😀\"  \r\n}  \n\n".to_owned();
    let annex = "{ }\u{2028}\r".to_owned();
    let saved = store
        .save_head(draft(
            "cuda/a",
            (document.clone(), annex.clone()),
            Expected::Absent,
        ))
        .await;
    assert_eq!(saved.unwrap(), Saved::Saved(revision(1)));

    let other = place.store().await;
    let texts = other.revision(&id("cuda/a"), revision(1)).await.unwrap().unwrap();
    assert_eq!(texts.document, document);
    assert_eq!(texts.annex, annex);
    assert_eq!(texts.meta.actor, "ada");
    assert_eq!(texts.meta.at, at(1));
    // `printf '{ }\xe2\x80\xa8\r' | sha256sum`
    assert_eq!(
        texts.meta.annex_sha256,
        "e76100b9fc1e6388011f004dc51df8f9601c81e8f92aab10bbba4d961d6e2ddf"
    );
}

pub(crate) async fn a_draft_is_not_seen_by_readers(place: Arc<Place>) {
    let store = place.store().await;
    store
        .save_head(draft("cuda/a", record("cuda/a", "one"), Expected::Absent))
        .await
        .unwrap();
    let status = store.status(&id("cuda/a")).await.unwrap().unwrap();
    assert_eq!(status.state, RecordState::Draft);
    assert_eq!(
        (status.head, status.published, status.seq),
        (revision(1), None, None)
    );
    assert_eq!(store.head_seq().await.unwrap(), Seq(0));
    assert!(store.feed(Seq(0), 10).await.unwrap().changes.is_empty());

    published(&*store, "cuda/a", record("cuda/a", "two")).await;
    store
        .save_head(draft(
            "cuda/a",
            record("cuda/a", "three"),
            Expected::Head(revision(2)),
        ))
        .await
        .unwrap();
    let status = store.status(&id("cuda/a")).await.unwrap().unwrap();
    assert_eq!(status.state, RecordState::Published);
    assert_eq!((status.head, status.published), (revision(3), Some(revision(2))));
    let page = store.feed(Seq(0), 10).await.unwrap();
    assert_eq!(
        page.changes[0].published.as_ref().unwrap().meta.revision,
        revision(2)
    );
}

pub(crate) async fn equal_texts_make_no_revision(place: Arc<Place>) {
    let store = place.store().await;
    let change = draft("cuda/a", record("cuda/a", "one"), Expected::Absent);
    store.save_head(change.clone()).await.unwrap();
    assert_eq!(
        store.save_head(change.clone()).await.unwrap(),
        Saved::Unchanged(revision(1))
    );
    let mut with_a_blank = change;
    with_a_blank.expected = Expected::Head(revision(1));
    with_a_blank.document.push(' ');
    assert_eq!(
        store.save_head(with_a_blank).await.unwrap(),
        Saved::Saved(revision(2))
    );
    assert_eq!(store.revisions(&id("cuda/a")).await.unwrap().len(), 2);
}

pub(crate) async fn a_stale_editor_is_told_the_head(place: Arc<Place>) {
    let store = place.store().await;
    let edit = |word, expected| store.save_head(draft("cuda/a", record("cuda/a", word), expected));
    assert_eq!(
        edit("one", Expected::Head(revision(1))).await.unwrap(),
        Saved::Stale(None)
    );
    assert_eq!(store.status(&id("cuda/a")).await.unwrap(), None);
    edit("one", Expected::Absent).await.unwrap();
    edit("two", Expected::Head(revision(1))).await.unwrap();
    assert_eq!(
        edit("three", Expected::Head(revision(1))).await.unwrap(),
        Saved::Stale(Some(revision(2)))
    );
    assert_eq!(
        edit("three", Expected::Head(revision(3))).await.unwrap(),
        Saved::Stale(Some(revision(2)))
    );
    assert_eq!(
        edit("three", Expected::Absent).await.unwrap(),
        Saved::Stale(Some(revision(2)))
    );
    let status = store.status(&id("cuda/a")).await.unwrap().unwrap();
    assert_eq!(status.head, revision(2));
}

pub(crate) async fn revisions_are_numbered_and_never_reused(place: Arc<Place>) {
    let store = place.store().await;
    // Back and forth between two texts: each save is a revision of its own.
    for (number, word) in (1..).zip(["one", "two", "one", "two"]) {
        let expected = if number == 1 {
            Expected::Absent
        } else {
            Expected::Head(revision(number - 1))
        };
        let saved = store
            .save_head(draft("cuda/a", record("cuda/a", word), expected))
            .await
            .unwrap();
        assert_eq!(saved, Saved::Saved(revision(number)));
    }
    let revisions = store.revisions(&id("cuda/a")).await.unwrap();
    let numbers: Vec<u32> = revisions.iter().map(|meta| meta.revision.0).collect();
    assert_eq!(numbers, [4, 3, 2, 1]);
    assert_eq!(revisions[0].document_sha256, revisions[2].document_sha256);
    assert_ne!(revisions[0].document_sha256, revisions[1].document_sha256);
    assert_eq!(store.revision(&id("cuda/a"), revision(5)).await.unwrap(), None);
    assert_eq!(store.revision(&id("cuda/b"), revision(1)).await.unwrap(), None);
}

pub(crate) async fn a_nul_is_refused(place: Arc<Place>) {
    let store = place.store().await;
    for (document, annex) in [("{}\0", "{}"), ("{}", "\0")] {
        let change = draft(
            "cuda/a",
            (document.to_owned(), annex.to_owned()),
            Expected::Absent,
        );
        let error = store.save_head(change).await.unwrap_err();
        assert!(matches!(error, StoreError::Unstorable { .. }), "{error}");
    }
    assert_eq!(store.status(&id("cuda/a")).await.unwrap(), None);
}

pub(crate) async fn an_unreadable_text_is_kept_but_not_published(place: Arc<Place>) {
    let store = place.store().await;
    let texts = ("{\"id\": ".to_owned(), "{}".to_owned());
    store
        .save_head(draft("cuda/a", texts, Expected::Absent))
        .await
        .unwrap();
    let error = store.publish(publish("cuda/a", 1)).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Damaged { id, .. } if id.as_str() == "cuda/a"),
        "{error}"
    );
    assert_eq!(store.head_seq().await.unwrap(), Seq(0));
}

pub(crate) async fn a_document_under_another_id_is_not_published(place: Arc<Place>) {
    let store = place.store().await;
    store
        .save_head(draft("cuda/a", record("cuda/b", "one"), Expected::Absent))
        .await
        .unwrap();
    let error = store.publish(publish("cuda/a", 1)).await.unwrap_err().to_string();
    assert!(error.contains("cuda/a") && error.contains("cuda/b"), "{error}");
}

pub(crate) async fn revisions_cannot_be_changed_in_the_database(place: Arc<Place>) {
    let store = place.store().await;
    store
        .save_head(draft("cuda/a", record("cuda/a", "one"), Expected::Absent))
        .await
        .unwrap();
    for sql in ["UPDATE revision SET document = '{}'", "DELETE FROM revision"] {
        let refused = match place.engine {
            Engine::Sqlite => {
                let mut raw = sqlx::SqliteConnection::connect(&place.url).await.unwrap();
                raw.execute(sql).await.unwrap_err()
            }
            Engine::Postgres => {
                let mut raw = sqlx::PgConnection::connect(&place.url).await.unwrap();
                raw.execute(sql).await.unwrap_err()
            }
        };
        assert!(refused.to_string().contains("a revision is never"), "{refused}");
    }
}
