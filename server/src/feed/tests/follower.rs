//! A follower of a feed that fails in every way a feed can.

use std::sync::Arc;
use std::time::Duration;

use kb_core::ids::{RecordId, Seq};

use crate::feed::follow::{FeedError, Follower, load, load_beside, send_all};
use crate::feed::samples::{PEER_ACCESS, change, document, tombstone};
use crate::store::{FeedChange, SeedRecord};
use peerless_search::{SearchError, SearchRequest};

use super::fake_feed::FakeFeed;

const ANNEX: &str = r#"{"schema_version": 1, "codes": ["Xid 79"]}"#;

fn small(seq: i64, id: &str, signature: &str) -> FeedChange {
    change(seq, id, &document(id, signature).to_string(), ANNEX)
}

async fn follower(feed: &FakeFeed) -> Follower {
    load(Arc::new(feed.clone())).await.unwrap()
}

fn ids(follower: &Follower) -> Vec<String> {
    follower
        .knowledge()
        .current()
        .records()
        .map(|published| published.id().to_string())
        .collect()
}

fn hits(follower: &Follower, text: &str) -> Vec<RecordId> {
    let generation = follower.knowledge().current();
    let request = SearchRequest {
        text: text.to_owned(),
        ..SearchRequest::default()
    };
    let answer = generation.index.search(&request, generation.seq).unwrap();
    answer.hits.into_iter().map(|hit| hit.id).collect()
}

#[tokio::test]
async fn all_parts_of_a_generation_change_together() {
    let feed = FakeFeed::default();
    feed.publish(change(
        1,
        "cuda/peer-access-unsupported-by-hardware",
        PEER_ACCESS.0,
        PEER_ACCESS.1,
    ));
    for seq in 2..8 {
        feed.publish(small(
            seq,
            &format!("test/r{seq}"),
            &format!("zebra number{seq} crossed"),
        ));
    }
    let mut follower = follower(&feed).await;
    let first = follower.knowledge().current();
    assert_eq!((first.seq, first.len(), first.matcher.len()), (Seq(7), 7, 7));
    assert_eq!(first.by_code(" xid  79 ").len(), 6);
    assert_eq!(first.by_code("CUDAERRORPEERACCESSUNSUPPORTED").len(), 1);
    assert_eq!(hits(&follower, "number3").len(), 1);

    feed.publish(small(8, "test/r3", "giraffe asleep"));
    feed.publish(tombstone(9, "test/r4"));
    assert!(follower.catch_up().await.unwrap());
    assert!(!follower.catch_up().await.unwrap(), "nothing is new");
    let second = follower.knowledge().current();
    assert_eq!((second.seq, second.len(), second.matcher.len()), (Seq(9), 6, 6));
    assert_eq!(second.by_code("xid 79").len(), 5);
    assert!(second.number > first.number);
    assert_eq!(hits(&follower, "giraffe"), ["test/r3".parse().unwrap()]);
    for (text, gone) in [("number3", "test/r3"), ("number4", "test/r4")] {
        // The word is in no record any more, so those that share a part of it are near.
        let found = hits(&follower, text);
        assert!(found.iter().all(|id| id.as_str() != gone), "{found:?}");
    }
    assert_eq!(
        (first.seq, first.len(), first.by_code("xid 79").len()),
        (Seq(7), 7, 6),
        "readers keep theirs"
    );
}

#[tokio::test]
async fn following_has_the_index_built_also_where_it_starts_over() {
    let feed = FakeFeed::default();
    feed.publish(small(1, "test/one", "zebra"));
    feed.publish(small(2, "test/two", "zebra"));
    let follower = follower(&feed).await;
    let knowledge = follower.knowledge();
    assert!(!knowledge.current().index.is_built());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(follower.run(Duration::from_millis(5), async { drop(stopped.await) }));
    let built = async |seq: Seq| {
        let generation = loop {
            let generation = knowledge.current();
            if generation.seq == seq && generation.index.is_built() {
                break generation;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        generation.index.len()
    };
    let patience = Duration::from_secs(20);
    assert_eq!(tokio::time::timeout(patience, built(Seq(2))).await.unwrap(), 2);
    feed.with(|state| {
        state.head = 1;
        state.changes.truncate(1);
    });
    assert_eq!(tokio::time::timeout(patience, built(Seq(1))).await.unwrap(), 1);
    stop.send(()).unwrap();
    running.await.unwrap();
}

#[tokio::test]
async fn a_start_fails_with_the_feed() {
    let feed = FakeFeed::default();
    for seq in 1..=5 {
        feed.publish(small(seq, &format!("test/r{seq}"), "zebra"));
    }
    // The first page is taken in, the second one never comes.
    feed.with(|state| state.fails_after = Some(Seq(2)));
    let refused = load(Arc::new(feed.clone())).await;
    assert!(matches!(refused, Err(FeedError::Store(_))), "{refused:?}");
    feed.with(|state| state.fails_after = None);
    assert_eq!(ids(&follower(&feed).await).len(), 5);
}

#[tokio::test]
async fn an_index_that_cannot_be_built_is_a_fault_with_its_cause() {
    let feed = FakeFeed::default();
    feed.publish(small(1, "test/one", "zebra"));
    let mut follower = follower(&feed).await;
    follower.fail_index();
    let refused = follower.catch_up().await;
    assert!(
        matches!(refused, Err(FeedError::Index(SearchError::Limit(0)))),
        "{refused:?}"
    );
    assert!(follower.catch_up().await.unwrap(), "it starts over");
    assert_eq!(hits(&follower, "zebra"), ["test/one".parse().unwrap()]);
    assert!(!follower.catch_up().await.unwrap(), "and only once");
}

#[tokio::test]
async fn nothing_more_is_read_where_nobody_takes_it() {
    let feed = FakeFeed::default();
    for seq in 1..=20 {
        feed.publish(small(seq, &format!("test/r{seq}"), "zebra"));
    }
    let (sender, pages) = tokio::sync::mpsc::channel(1);
    drop(pages);
    send_all(&feed, sender).await.unwrap();
    feed.with(|state| assert_eq!(state.asked, 1));
    // Nor far ahead of who takes it.
    let (sender, pages) = tokio::sync::mpsc::channel(1);
    let reading = tokio::time::timeout(Duration::from_millis(50), send_all(&feed, sender));
    assert!(reading.await.is_err(), "it waits");
    feed.with(|state| assert_eq!(state.asked, 3));
    drop(pages);
}

#[tokio::test]
async fn records_beside_the_store_give_way_to_what_it_has() {
    let feed = FakeFeed::default();
    feed.publish(small(1, "test/a", "zebra"));
    let beside = ["test/a", "test/b", "test/c"].map(|id| SeedRecord {
        id: id.parse().unwrap(),
        document: document(id, "giraffe").to_string(),
        annex: ANNEX.to_owned(),
    });
    let mut follower = load_beside(Arc::new(feed.clone()), beside.to_vec())
        .await
        .unwrap();
    assert_eq!(ids(&follower), ["test/a", "test/b", "test/c"]);
    let signature = |follower: &Follower, id: &str| {
        let generation = follower.knowledge().current();
        let published = generation.record(&id.parse().unwrap()).unwrap();
        published.record.document.signature.clone()
    };
    assert_eq!(signature(&follower, "test/a"), "zebra");
    assert_eq!(signature(&follower, "test/b"), "giraffe");
    feed.publish(tombstone(2, "test/b"));
    follower.catch_up().await.unwrap();
    assert_eq!(ids(&follower), ["test/a", "test/c"]);
    // A database that is older than what was seen makes it start over, with what is beside.
    feed.with(|state| {
        state.head = 1;
        state.changes.retain(|change| change.seq == Seq(1));
    });
    follower.catch_up().await.unwrap();
    assert_eq!(ids(&follower), ["test/a", "test/b", "test/c"]);
}

#[tokio::test]
async fn a_record_goes_by_the_ids_of_those_that_became_it() {
    let feed = FakeFeed::default();
    let mut leads = document("test/before", "giraffe");
    leads["transition_graph"] = serde_json::json!({"leads_to": [{"error_id": "test/old"}]});
    feed.publish(change(1, "test/before", &leads.to_string(), ANNEX));
    feed.publish(small(2, "test/old", "zebra"));
    feed.publish(small(3, "test/new", "zebra too"));
    let mut follower = follower(&feed).await;
    feed.publish(tombstone(4, "test/old"));
    feed.publish(FeedChange {
        former: vec!["test/old".parse().unwrap()],
        ..small(5, "test/new", "zebra too")
    });
    follower.catch_up().await.unwrap();
    let generation = follower.knowledge().current();
    let new: RecordId = "test/new".parse().unwrap();
    assert_eq!(generation.alias("test/old"), Some(&new));
    let neighbours = generation.graph.neighbours(&new);
    assert_eq!(neighbours.len(), 1, "{neighbours:?}");
}

#[tokio::test]
async fn a_damaged_record_is_left_out_by_name_until_it_is_corrected() {
    let feed = FakeFeed::default();
    feed.publish(small(1, "test/good", "zebra"));
    feed.publish(small(2, "test/bad", "giraffe"));
    let mut follower = follower(&feed).await;
    for (seq, damaged) in [
        (3, change(3, "test/bad", "{\"id\": ", ANNEX)),
        (
            4,
            change(4, "test/bad", &document("test/bad", "giraffe").to_string(), "[]"),
        ),
        (
            5,
            change(
                5,
                "test/bad",
                &document("test/other", "giraffe").to_string(),
                ANNEX,
            ),
        ),
    ] {
        feed.publish(damaged);
        assert!(follower.catch_up().await.unwrap());
        let generation = follower.knowledge().current();
        assert_eq!(generation.seq, Seq(seq));
        assert_eq!(ids(&follower), ["test/good"]);
        assert_eq!(hits(&follower, "giraffe"), []);
        let [left_out] = generation.left_out.as_slice() else {
            panic!("{:?}", generation.left_out)
        };
        assert_eq!((left_out.id.as_str(), left_out.seq), ("test/bad", Seq(seq)));
        assert!(!left_out.reason.is_empty());
    }
    feed.publish(small(6, "test/bad", "giraffe"));
    follower.catch_up().await.unwrap();
    assert_eq!(follower.knowledge().current().left_out, []);
    assert_eq!(ids(&follower), ["test/bad", "test/good"]);
}

#[tokio::test]
async fn faults_leave_readers_what_they_have_and_pass() {
    let feed = FakeFeed::default();
    feed.publish(small(1, "test/one", "zebra"));
    let mut follower = follower(&feed).await;
    feed.publish(small(2, "test/two", "giraffe"));
    feed.with(|state| state.fails = true);
    assert!(matches!(follower.catch_up().await, Err(FeedError::Store(_))));
    feed.with(|state| (state.fails, state.stands_still) = (false, true));
    assert!(matches!(
        follower.catch_up().await,
        Err(FeedError::StandsStill(Seq(1)))
    ));
    assert_eq!(ids(&follower), ["test/one"]);
    feed.with(|state| state.stands_still = false);
    assert!(follower.catch_up().await.unwrap());
    assert_eq!(ids(&follower), ["test/one", "test/two"]);
}

#[tokio::test]
async fn an_older_database_is_read_from_the_beginning() {
    let feed = FakeFeed::default();
    for seq in 1..=5 {
        feed.publish(small(seq, &format!("test/r{seq}"), "zebra"));
    }
    let mut follower = follower(&feed).await;
    feed.with(|state| {
        state.head = 2;
        state.changes.truncate(2);
    });
    assert!(follower.catch_up().await.unwrap());
    assert_eq!(follower.knowledge().current().seq, Seq(2));
    assert_eq!(ids(&follower), ["test/r1", "test/r2"]);
    assert_eq!(hits(&follower, "zebra").len(), 2);
}

#[tokio::test]
async fn a_nudge_is_followed_at_once_and_shutdown_ends_it() {
    let feed = FakeFeed::default();
    let follower = follower(&feed).await;
    let knowledge = follower.knowledge();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let hour = Duration::from_hours(1);
    let running = tokio::spawn(follower.run(hour, async { drop(stopped.await) }));
    feed.publish(small(1, "test/one", "zebra"));
    assert!(
        knowledge.holds(Seq(1), Duration::from_secs(20)).await,
        "without waiting for the interval"
    );
    assert!(
        !knowledge.holds(Seq(2), Duration::from_millis(1)).await,
        "what does not exist is not waited for"
    );
    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(20), running)
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn changes_that_come_while_it_rests_come_together() {
    let feed = FakeFeed::default();
    let follower = follower(&feed).await;
    let knowledge = follower.knowledge();
    feed.with(|state| (state.slow, state.asked) = (Duration::from_millis(100), 0));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let hour = Duration::from_hours(1);
    let running = tokio::spawn(follower.run(hour, async { drop(stopped.await) }));
    let patience = Duration::from_secs(20);
    feed.publish(small(1, "test/one", "zebra"));
    assert!(knowledge.holds(Seq(1), patience).await);
    for seq in 2..5 {
        feed.publish(small(seq, "test/one", "zebra"));
        knowledge.nudge();
        // The follower gets as far as it likes to go.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        feed.with(|state| assert_eq!(state.asked, 1, "it rests as long as it has worked"));
    }
    assert!(knowledge.holds(Seq(4), patience).await);
    feed.with(|state| assert_eq!(state.asked, 2));
    stop.send(()).unwrap();
    running.await.unwrap();
}
