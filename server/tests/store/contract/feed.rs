//! The feed: every change to what readers see, in order.

use std::sync::Arc;

use kb_core::ids::Seq;
use peerless::store::{By, Expected, Publish, Published, RecordState, StoreError};

use crate::support::{Place, at, draft, id, publish, published, record, revision};

pub(crate) async fn publishing_and_withdrawing_take_the_next_seq(place: Arc<Place>) {
    let store = place.store().await;
    let first = published(&*store, "cuda/a", record("cuda/a", "one")).await;
    assert_eq!(
        first,
        Published {
            seq: Seq(1),
            revision: revision(1)
        }
    );
    published(&*store, "cuda/b", record("cuda/b", "one")).await;
    let gone = store
        .withdraw(&id("cuda/a"), &By::system("ada"), at(9))
        .await
        .unwrap();
    assert_eq!(
        gone,
        Published {
            seq: Seq(3),
            revision: revision(1)
        }
    );
    assert_eq!(store.head_seq().await.unwrap(), Seq(3));

    let status = store.status(&id("cuda/a")).await.unwrap().unwrap();
    assert_eq!(
        (status.state, status.published, status.seq),
        (RecordState::Withdrawn, Some(revision(1)), Some(Seq(3)),)
    );
    assert_eq!(status.changed_at, at(9));

    let page = store.feed(Seq(0), 10).await.unwrap();
    let seen: Vec<(i64, &str, bool)> = page
        .changes
        .iter()
        .map(|change| (change.seq.0, change.id.as_str(), change.published.is_some()))
        .collect();
    assert_eq!(seen, [(2, "cuda/b", true), (3, "cuda/a", false)]);

    let back = store.publish(publish("cuda/a", 1)).await.unwrap();
    assert_eq!(back.seq, Seq(4));
}

/// A check of what readers see holds only until they see something else.
pub(crate) async fn a_publication_is_refused_where_the_feed_went_on(place: Arc<Place>) {
    let store = place.store().await;
    for name in ["cuda/a", "cuda/b"] {
        let texts = record(name, "one");
        store
            .save_head(draft(name, texts, Expected::Absent))
            .await
            .unwrap();
    }
    let after = |seq| Publish {
        after: Some(Seq(seq)),
        ..publish("cuda/b", 1)
    };
    store.publish(publish("cuda/a", 1)).await.unwrap();
    let refused = store.publish(after(0)).await.unwrap_err();
    assert!(matches!(refused, StoreError::FeedMoved(Seq(1))), "{refused}");
    assert_eq!(store.head_seq().await.unwrap(), Seq(1));
    assert_eq!(store.publish(after(1)).await.unwrap().seq, Seq(2));
    // What stands already is no change, whatever came since.
    assert_eq!(store.publish(after(0)).await.unwrap().seq, Seq(2));
}

pub(crate) async fn publishing_again_changes_nothing(place: Arc<Place>) {
    let store = place.store().await;
    published(&*store, "cuda/a", record("cuda/a", "one")).await;
    published(&*store, "cuda/b", record("cuda/b", "one")).await;
    let again = store.publish(publish("cuda/a", 1)).await.unwrap();
    assert_eq!(
        again,
        Published {
            seq: Seq(1),
            revision: revision(1)
        }
    );
    store
        .withdraw(&id("cuda/a"), &By::system("ada"), at(3))
        .await
        .unwrap();
    let again = store
        .withdraw(&id("cuda/a"), &By::system("ada"), at(4))
        .await
        .unwrap();
    assert_eq!(
        again,
        Published {
            seq: Seq(3),
            revision: revision(1)
        }
    );
    assert_eq!(store.head_seq().await.unwrap(), Seq(3));
}

pub(crate) async fn an_older_revision_can_be_brought_back(place: Arc<Place>) {
    let store = place.store().await;
    published(&*store, "cuda/a", record("cuda/a", "one")).await;
    published(&*store, "cuda/a", record("cuda/a", "two")).await;
    let back = store.publish(publish("cuda/a", 1)).await.unwrap();
    assert_eq!(
        back,
        Published {
            seq: Seq(3),
            revision: revision(1)
        }
    );
    let page = store.feed(Seq(2), 10).await.unwrap();
    assert_eq!(page.changes[0].changed_at, at(2), "when it was published");
    assert!(
        page.changes[0]
            .published
            .as_ref()
            .unwrap()
            .document
            .contains("error: one")
    );
    let status = store.status(&id("cuda/a")).await.unwrap().unwrap();
    assert_eq!((status.head, status.published), (revision(2), Some(revision(1))));
}

pub(crate) async fn a_newer_draft_does_not_move_the_time_of_publishing(place: Arc<Place>) {
    let store = place.store().await;
    published(&*store, "cuda/a", record("cuda/a", "one")).await;
    let mut newer = draft("cuda/a", record("cuda/a", "two"), Expected::Head(revision(1)));
    newer.at = at(7);
    store.save_head(newer).await.unwrap();
    let status = store.status(&id("cuda/a")).await.unwrap().unwrap();
    assert_eq!(status.changed_at, at(7));
    let page = store.feed(Seq(0), 10).await.unwrap();
    assert_eq!(page.changes[0].changed_at, publish("cuda/a", 1).at);

    store
        .withdraw(&id("cuda/a"), &By::system("ada"), at(9))
        .await
        .unwrap();
    let page = store.feed(Seq(0), 10).await.unwrap();
    assert_eq!(page.changes[0].changed_at, at(9));
}

pub(crate) async fn each_record_comes_once_in_seq_order(place: Arc<Place>) {
    let store = place.store().await;
    for word in ["one", "two", "three"] {
        for name in ["cuda/b", "cuda/a"] {
            published(&*store, name, record(name, word)).await;
        }
    }
    let page = store.feed(Seq(0), 10).await.unwrap();
    assert!(!page.more);
    assert_eq!(page.reaches, Seq(6));
    let seen: Vec<(i64, &str)> = page
        .changes
        .iter()
        .map(|change| (change.seq.0, change.id.as_str()))
        .collect();
    assert_eq!(seen, [(5, "cuda/b"), (6, "cuda/a")]);
    for change in &page.changes {
        let texts = change.published.as_ref().unwrap();
        assert_eq!(texts.meta.revision, revision(3));
        let (document, annex) = record(change.id.as_str(), "three");
        assert_eq!((&texts.document, &texts.annex), (&document, &annex));
    }
    let rest = store.feed(Seq(6), 10).await.unwrap();
    assert_eq!((rest.reaches, rest.more, rest.changes.len()), (Seq(6), false, 0));
}

pub(crate) async fn pages_cover_everything(place: Arc<Place>) {
    let store = place.store().await;
    for number in 0..7 {
        let name = format!("cuda/r{number}");
        published(&*store, &name, record(&name, "one")).await;
    }
    // The last seq belongs to a record that an early page would have held.
    published(&*store, "cuda/r0", record("cuda/r0", "two")).await;
    let mut seen = Vec::new();
    let mut after = Seq(0);
    loop {
        let page = store.feed(after, 3).await.unwrap();
        assert!(page.changes.len() <= 3);
        seen.extend(page.changes.iter().map(|change| change.seq.0));
        after = page.reaches;
        if !page.more {
            break;
        }
    }
    assert_eq!(seen, [2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(after, Seq(8));
}

pub(crate) async fn what_cannot_be_published_is_refused(place: Arc<Place>) {
    let store = place.store().await;
    let missing = store.publish(publish("cuda/a", 1)).await.unwrap_err();
    assert!(matches!(missing, StoreError::NoRecord(_)), "{missing}");
    store
        .save_head(draft("cuda/a", record("cuda/a", "one"), Expected::Absent))
        .await
        .unwrap();
    let missing = store.publish(publish("cuda/a", 2)).await.unwrap_err();
    assert!(matches!(missing, StoreError::NoRevision(_, _)), "{missing}");
    let never = store
        .withdraw(&id("cuda/a"), &By::system("ada"), at(3))
        .await
        .unwrap_err();
    assert!(matches!(never, StoreError::NeverPublished(_)), "{never}");
    let missing = store
        .withdraw(&id("cuda/b"), &By::system("ada"), at(3))
        .await
        .unwrap_err();
    assert!(matches!(missing, StoreError::NoRecord(_)), "{missing}");
    assert_eq!(store.head_seq().await.unwrap(), Seq(0));
}
