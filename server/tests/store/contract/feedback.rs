//! The queue of feedback.

use std::sync::Arc;

use peerless::store::{
    AnonymousKept, AnonymousKind, AuditQuery, By, DecideFeedback, Feedback, FeedbackAdded, FeedbackBody,
    FeedbackDecided, FeedbackKind, FeedbackState, Merge, NewAnonymous, NewFeedback, Store, StoreError, Voter,
    VoterKind,
};

use crate::support::{Place, at, id, published, record, revision};

const RECORD: &str = "cuda/x";

async fn store_with_record(place: &Place) -> Arc<dyn Store> {
    let store = place.store().await;
    published(store.as_ref(), RECORD, record(RECORD, "x")).await;
    store
}

fn from_known(voter: &str, topic: &str, body: &str) -> NewFeedback {
    NewFeedback {
        kind: FeedbackKind::Vote,
        record: id(RECORD),
        revision: revision(1),
        from: Voter {
            kind: VoterKind::Assistant,
            id: voter.to_owned(),
        },
        name: "an assistant".to_owned(),
        topic: topic.to_owned(),
        body: FeedbackBody::Known(body.to_owned()),
        at: at(1),
        most_waiting: 2,
    }
}

fn from_nobody(body: &str) -> NewFeedback {
    let entry = NewAnonymous {
        kind: AnonymousKind::Suggestion,
        subject: RECORD.to_owned(),
        body: body.to_owned(),
        key_sha256: None,
        name_sha256: None,
        source: "somewhere".to_owned(),
        at: at(1),
        expires_at: at(100),
        most_a_day: 2,
        room_bytes: 1_000,
    };
    NewFeedback {
        kind: FeedbackKind::Suggestion,
        from: Voter {
            kind: VoterKind::Anonymous,
            id: String::new(),
        },
        topic: String::new(),
        body: FeedbackBody::Anonymous(entry),
        ..from_known("", "", "")
    }
}

async fn waiting(store: &dyn Store) -> Vec<Feedback> {
    store.feedback(FeedbackState::Waiting, None, 100).await.unwrap()
}

async fn bodies(store: &dyn Store) -> Vec<String> {
    waiting(store).await.into_iter().map(|entry| entry.body).collect()
}

fn decide(n: i64, state: FeedbackState) -> DecideFeedback {
    DecideFeedback {
        n,
        state,
        by: By::system("ada"),
        reason: "seen".to_owned(),
        at: at(5),
    }
}

pub(crate) async fn a_second_vote_takes_the_place_of_the_first(place: Arc<Place>) {
    let store = store_with_record(&place).await;
    for (voter, topic, body) in [
        ("a", "t1", "1"),
        ("a", "t1", "2"),
        ("b", "t1", "3"),
        ("a", "t2", "4"),
    ] {
        let added = store.add_feedback(from_known(voter, topic, body)).await.unwrap();
        assert!(matches!(added, FeedbackAdded::Added(_)), "{added:?}");
    }
    assert_eq!(bodies(store.as_ref()).await, ["4", "3", "2"]);
    let full = store.add_feedback(from_known("a", "t3", "5")).await.unwrap();
    assert_eq!(full, FeedbackAdded::TooManyWait);
    assert_eq!(bodies(store.as_ref()).await.len(), 3);
}

pub(crate) async fn what_nobody_signs_goes_with_its_room(place: Arc<Place>) {
    let store = store_with_record(&place).await;
    for body in ["1", "2"] {
        let added = store.add_feedback(from_nobody(body)).await.unwrap();
        let kept = matches!(added, FeedbackAdded::Anonymous(AnonymousKept::Kept { .. }));
        assert!(kept, "{added:?}");
    }
    let refused = store.add_feedback(from_nobody("3")).await.unwrap();
    assert_eq!(refused, FeedbackAdded::Anonymous(AnonymousKept::TooManyToday));
    store.add_feedback(from_known("a", "t", "4")).await.unwrap();
    assert_eq!(bodies(store.as_ref()).await, ["4", "2", "1"]);
    assert_eq!(store.expire_anonymous(at(100)).await.unwrap(), 2);
    assert_eq!(bodies(store.as_ref()).await, ["4"]);
}

pub(crate) async fn feedback_goes_where_its_record_goes(place: Arc<Place>) {
    let store = store_with_record(&place).await;
    published(store.as_ref(), "cuda/y", record("cuda/y", "y")).await;
    store.add_feedback(from_known("a", "t", "1")).await.unwrap();
    let merge = Merge {
        id: id(RECORD),
        into: id("cuda/y"),
        by: By::system("ada"),
        reason: Some("says the same".to_owned()),
        expected: None,
        approves: None,
        at: at(5),
    };
    store.merge(merge).await.unwrap().unwrap();
    assert_eq!(waiting(store.as_ref()).await[0].record, id("cuda/y"));
}

pub(crate) async fn an_entry_is_decided_once(place: Arc<Place>) {
    let store = store_with_record(&place).await;
    store.add_feedback(from_known("a", "t", "1")).await.unwrap();
    store.add_feedback(from_nobody("2")).await.unwrap();
    let entries = waiting(store.as_ref()).await;
    let (newer, older) = (entries[0].n, entries[1].n);
    let decided = async |n, state| store.decide_feedback(decide(n, state)).await.unwrap();
    assert_eq!(
        decided(older, FeedbackState::Ignored).await,
        FeedbackDecided::Done
    );
    assert_eq!(
        decided(older, FeedbackState::Taken).await,
        FeedbackDecided::Before
    );
    assert_eq!(decided(99, FeedbackState::Taken).await, FeedbackDecided::Nothing);
    assert_eq!(decided(newer, FeedbackState::Taken).await, FeedbackDecided::Done);
    assert!(waiting(store.as_ref()).await.is_empty());
    let ignored = store.feedback(FeedbackState::Ignored, None, 10).await.unwrap();
    let decided = Some(("ada".to_owned(), at(5), "seen".to_owned()));
    assert_eq!((ignored[0].n, &ignored[0].decided), (older, &decided));
    let query = AuditQuery {
        action: Some("feedback".to_owned()),
        limit: 10,
        ..AuditQuery::default()
    };
    let audit = store.audit(&query).await.unwrap();
    let actions: Vec<&str> = audit.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["feedback.take", "feedback.ignore"]);
}

pub(crate) async fn pages_of_the_queue_go_back_in_time(place: Arc<Place>) {
    let store = store_with_record(&place).await;
    for voter in ["a", "b", "c"] {
        store.add_feedback(from_known(voter, "t", voter)).await.unwrap();
    }
    let page = store.feedback(FeedbackState::Waiting, None, 2).await.unwrap();
    let last = page.last().unwrap().n;
    let next = store
        .feedback(FeedbackState::Waiting, Some(last), 2)
        .await
        .unwrap();
    assert_eq!((page.len(), next.len(), next[0].body.as_str()), (2, 1, "a"));
    let elsewhere = NewFeedback {
        record: id("cuda/other"),
        ..from_known("a", "t", "1")
    };
    let refused = store.add_feedback(elsewhere).await;
    assert!(matches!(refused, Err(StoreError::NoRecord(_))), "{refused:?}");
}
