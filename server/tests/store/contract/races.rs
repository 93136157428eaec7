//! Several writers at once, on several handles.

use std::collections::BTreeMap;
use std::sync::Arc;

use kb_core::ids::Seq;
use peerless::store::{By, Expected, Saved, Store};
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::{Place, at, draft, id, publish, published, record, record_with, revision};

const TASKS: usize = 8;

/// Handles of two programs, dealt out to tasks.
async fn handles(place: &Place) -> Vec<Arc<dyn Store>> {
    let programs = [place.store().await, place.store().await];
    programs.iter().cycle().take(TASKS).cloned().collect()
}

async fn save_at_once(place: &Place, expected: Expected) -> Vec<Saved> {
    let mut tasks = JoinSet::new();
    for (number, store) in handles(place).await.into_iter().enumerate() {
        let change = draft("cuda/a", record("cuda/a", &format!("by {number}")), expected);
        tasks.spawn(async move { store.save_head(change).await.unwrap() });
    }
    tasks.join_all().await
}

pub(crate) async fn one_of_many_savers_wins(place: Arc<Place>) {
    let store = place.store().await;
    store
        .save_head(draft("cuda/a", record("cuda/a", "one"), Expected::Absent))
        .await
        .unwrap();
    let outcomes = save_at_once(&place, Expected::Head(revision(1))).await;
    let won = outcomes
        .iter()
        .filter(|saved| **saved == Saved::Saved(revision(2)))
        .count();
    let told = outcomes
        .iter()
        .filter(|saved| **saved == Saved::Stale(Some(revision(2))))
        .count();
    assert_eq!((won, told), (1, TASKS - 1), "{outcomes:?}");
    assert_eq!(store.revisions(&id("cuda/a")).await.unwrap().len(), 2);
}

pub(crate) async fn one_of_many_makers_wins(place: Arc<Place>) {
    let outcomes = save_at_once(&place, Expected::Absent).await;
    let won = outcomes
        .iter()
        .filter(|saved| **saved == Saved::Saved(revision(1)))
        .count();
    let told = outcomes
        .iter()
        .filter(|saved| **saved == Saved::Stale(Some(revision(1))))
        .count();
    assert_eq!((won, told), (1, TASKS - 1), "{outcomes:?}");
}

pub(crate) async fn seqs_have_no_gaps_and_no_twins(place: Arc<Place>) {
    let mut tasks = JoinSet::new();
    for (number, store) in handles(&place).await.into_iter().enumerate() {
        tasks.spawn(async move {
            let name = format!("cuda/r{number}");
            let mut seqs = Vec::new();
            for round in 0..4 {
                let texts = record(&name, &format!("round {round}"));
                seqs.push(published(&*store, &name, texts).await.seq.0);
            }
            seqs.push(
                store
                    .withdraw(&id(&name), &By::system("ada"), at(5))
                    .await
                    .unwrap()
                    .seq
                    .0,
            );
            assert!(seqs.is_sorted(), "{seqs:?}");
            seqs
        });
    }
    let mut all: Vec<i64> = tasks.join_all().await.into_iter().flatten().collect();
    all.sort_unstable();
    let expected: Vec<i64> = (1..=i64::try_from(TASKS * 5).unwrap()).collect();
    assert_eq!(all, expected);
}

/// A reader that follows the feed while others publish ends with what the store holds: no change slipped in behind
/// the place it had reached.
pub(crate) async fn readers_never_miss_a_change(place: Arc<Place>) {
    let total = Seq(i64::try_from(TASKS * 6).unwrap());
    let reader = place.store().await;
    let follower = tokio::spawn(async move {
        let mut known = BTreeMap::new();
        let mut reached = Seq(0);
        while reached < total {
            let page = reader.feed(reached, 3).await.unwrap();
            for change in page.changes {
                assert!(change.seq > reached, "{} came after {reached}", change.seq);
                assert!(change.seq <= page.reaches);
                known.insert(change.id, (change.seq, change.published.unwrap().meta.revision));
            }
            reached = page.reaches;
            tokio::task::yield_now().await;
        }
        known
    });
    let mut writers = JoinSet::new();
    for (number, store) in handles(&place).await.into_iter().enumerate() {
        writers.spawn(async move {
            let name = format!("cuda/r{number}");
            for round in 0..6 {
                published(&*store, &name, record(&name, &format!("round {round}"))).await;
            }
        });
    }
    writers.join_all().await;
    let known = follower.await.unwrap();
    let store = place.store().await;
    assert_eq!(known.len(), TASKS);
    for (id, (seq, revision)) in known {
        let status = store.status(&id).await.unwrap().unwrap();
        assert_eq!(
            (status.seq, status.published),
            (Some(seq), Some(revision)),
            "{id}"
        );
    }
}

pub(crate) async fn a_failed_publish_leaves_no_gap(place: Arc<Place>) {
    let store = place.store().await;
    published(
        &*store,
        "cuda/a",
        record_with("cuda/a", "one", json!({"aliases": ["cuda/old"]}), json!({})),
    )
    .await;
    let taken = record_with(
        "cuda/b",
        "one",
        json!({"aliases": ["cuda/old"]}),
        json!({"codes": ["E1"]}),
    );
    store
        .save_head(draft("cuda/b", taken, Expected::Absent))
        .await
        .unwrap();
    store.publish(publish("cuda/b", 1)).await.unwrap_err();
    // Nothing of the attempt is left.
    assert_eq!(store.head_seq().await.unwrap(), Seq(1));
    assert!(store.records_by_code("E1").await.unwrap().is_empty());
    assert_eq!(
        published(&*store, "cuda/c", record("cuda/c", "one")).await.seq,
        Seq(2)
    );
}
