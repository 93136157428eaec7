//! Records that become another: their names, edges and votes follow.

use std::sync::Arc;

use kb_core::ids::Seq;
use peerless::store::{
    ActionKind, By, Expected, Merge, NewOutcome, RecordState, Rename, Saved, Split, SplitSaved, Store,
    StoreError, VoteOutcome, Voter, VoterKind,
};
use serde_json::json;

use crate::support::{Place, at, draft, id, publish, published, record, record_with, revision};

fn merge(from: &str, into: &str) -> Merge {
    Merge {
        id: id(from),
        into: id(into),
        by: By::system("ada"),
        reason: Some("says the same".to_owned()),
        expected: None,
        approves: None,
        at: at(5),
    }
}

fn rename(from: &str, number: u32, to: &str) -> Rename {
    let (document, annex) = record(to, "one");
    Rename {
        id: id(from),
        revision: revision(number),
        to: id(to),
        document,
        annex,
        by: By::system("ada"),
        at: at(5),
    }
}

async fn leads_to(store: &dyn Store, former: &str) -> Option<String> {
    let found = store.resolve_alias(former).await.unwrap();
    found.map(|id| id.to_string())
}

pub(crate) async fn a_merged_record_leads_to_the_other(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    let aliases = json!({ "aliases": ["cuda/old-a"] });
    published(store, "cuda/a", record_with("cuda/a", "one", aliases, json!({}))).await;
    let graph = json!({ "transition_graph": { "leads_to": [{ "error_id": "cuda/a" }] } });
    published(store, "cuda/c", record_with("cuda/c", "c", graph, json!({}))).await;
    for name in ["cuda/b", "cuda/d"] {
        published(store, name, record(name, name)).await;
    }
    let merged = store.merge(merge("cuda/a", "cuda/b")).await.unwrap().unwrap();
    assert_eq!((merged.seq, merged.revision), (Seq(6), revision(1)));
    let status = store.status(&id("cuda/a")).await.unwrap().unwrap();
    assert_eq!(
        (
            status.state,
            status.replaced_by,
            status.withdrawn_reason.as_deref()
        ),
        (RecordState::Withdrawn, Some(id("cuda/b")), Some("says the same"))
    );
    // Publishing the other again takes nothing of it back.
    published(store, "cuda/b", record("cuda/b", "b, better")).await;
    for former in ["cuda/a", "cuda/old-a"] {
        assert_eq!(leads_to(store, former).await.as_deref(), Some("cuda/b"));
    }
    let edges = store.edges_around(&id("cuda/b")).await.unwrap();
    assert_eq!((edges.len(), edges[0].resolved), (1, true), "{edges:?}");
    let page = store.feed(Seq(4), 10).await.unwrap();
    assert_eq!(page.changes.len(), 2);
    assert!(page.changes[0].published.is_none() && page.changes[0].former.is_empty());
    assert_eq!(page.changes[1].former, [id("cuda/a"), id("cuda/old-a")]);

    store.merge(merge("cuda/b", "cuda/d")).await.unwrap().unwrap();
    for former in ["cuda/a", "cuda/old-a", "cuda/b"] {
        assert_eq!(leads_to(store, former).await.as_deref(), Some("cuda/d"));
    }
    // Only what is published is merged, into what is published.
    for (from, into) in [("cuda/a", "cuda/c"), ("cuda/c", "cuda/a"), ("cuda/c", "cuda/c")] {
        assert_eq!(
            store.merge(merge(from, into)).await.unwrap(),
            None,
            "{from} {into}"
        );
    }
    // What is brought back stands for itself again.
    store.publish(publish("cuda/a", 1)).await.unwrap();
    assert_eq!(leads_to(store, "cuda/a").await, None);
    assert_eq!(leads_to(store, "cuda/b").await.as_deref(), Some("cuda/d"));
    // So do the names that its document has.
    assert_eq!(leads_to(store, "cuda/old-a").await.as_deref(), Some("cuda/a"));
    let change = draft("cuda/a", record("cuda/a", "draft"), Expected::Head(revision(1)));
    store.save_head(change).await.unwrap();
    let refused = store.merge(merge("cuda/a", "cuda/c")).await.unwrap();
    assert_eq!(refused, None, "a draft that came meanwhile would be lost");
    let aliases = json!({ "aliases": ["cuda/old-a"] });
    published(store, "cuda/a", record_with("cuda/a", "two", aliases, json!({}))).await;
    store.merge(merge("cuda/a", "cuda/c")).await.unwrap().unwrap();
    for former in ["cuda/a", "cuda/old-a"] {
        assert_eq!(leads_to(store, former).await.as_deref(), Some("cuda/c"));
    }
    // A name that led elsewhere is that of the record whose document says so, and goes with it.
    let aliases = json!({ "aliases": ["cuda/old-a"] });
    published(store, "cuda/e", record_with("cuda/e", "e", aliases, json!({}))).await;
    assert_eq!(leads_to(store, "cuda/old-a").await.as_deref(), Some("cuda/e"));
    store.merge(merge("cuda/e", "cuda/d")).await.unwrap().unwrap();
    assert_eq!(leads_to(store, "cuda/old-a").await.as_deref(), Some("cuda/d"));
}

pub(crate) async fn a_renamed_record_is_found_under_its_former_id(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    published(store, "cuda/a", record("cuda/a", "one")).await;
    published(store, "cuda/b", record("cuda/b", "two")).await;
    let renamed = store
        .rename(rename("cuda/a", 1, "cuda/new"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((renamed.seq, renamed.revision), (Seq(4), revision(1)));
    assert_eq!(leads_to(store, "cuda/a").await.as_deref(), Some("cuda/new"));
    let texts = store
        .revision(&id("cuda/new"), revision(1))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(texts.document, record("cuda/new", "one").0);
    let status = store.status(&id("cuda/new")).await.unwrap().unwrap();
    assert_eq!(status.state, RecordState::Published);

    let taken = async |from: &str, number: u32, to: &str| {
        let refused = store.rename(rename(from, number, to)).await;
        assert!(
            matches!(refused, Err(StoreError::AliasTaken { .. })),
            "{from} {to} {refused:?}"
        );
    };
    taken("cuda/new", 1, "cuda/b").await;
    taken("cuda/new", 1, "cuda/new").await;
    // A draft that came meanwhile would be lost.
    let change = draft("cuda/b", record("cuda/b", "draft"), Expected::Head(revision(1)));
    store.save_head(change).await.unwrap();
    assert_eq!(
        store.rename(rename("cuda/b", 1, "cuda/other")).await.unwrap(),
        None
    );
    assert_eq!(store.head_seq().await.unwrap(), Seq(4), "nothing else was done");

    // Its own former id it may have again.
    let back = store.rename(rename("cuda/new", 1, "cuda/a")).await.unwrap();
    let back = back.unwrap();
    assert_eq!((back.seq, back.revision), (Seq(6), revision(2)));
    let status = store.status(&id("cuda/a")).await.unwrap().unwrap();
    assert_eq!(
        (status.state, status.head, status.published),
        (RecordState::Published, revision(2), Some(revision(2)))
    );
    assert_eq!((status.replaced_by, status.withdrawn_reason), (None, None));
    assert_eq!(leads_to(store, "cuda/a").await, None);
    assert_eq!(leads_to(store, "cuda/new").await.as_deref(), Some("cuda/a"));
    let page = store.feed(Seq(4), 10).await.unwrap();
    assert_eq!(page.changes.len(), 2);
    assert!(page.changes[0].published.is_none());
    assert_eq!(page.changes[1].former, [id("cuda/new")]);
    let there = store.rename(rename("cuda/a", 2, "cuda/new")).await.unwrap();
    assert_eq!(there.unwrap().revision, revision(2));
    assert_eq!(leads_to(store, "cuda/a").await.as_deref(), Some("cuda/new"));
    // Another record may not, nor may it where a draft there would be lost.
    published(store, "cuda/c", record("cuda/c", "three")).await;
    taken("cuda/c", 1, "cuda/a").await;
    let change = draft("cuda/a", record("cuda/a", "draft"), Expected::Head(revision(2)));
    store.save_head(change).await.unwrap();
    taken("cuda/new", 2, "cuda/a").await;
}

pub(crate) async fn votes_go_where_their_record_goes(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    for name in ["cuda/a", "cuda/b"] {
        published(store, name, record(name, name)).await;
    }
    let (_, before) = store.voted_since(0).await.unwrap();
    for (name, voter, outcome) in [
        ("cuda/a", "one", VoteOutcome::DidNotHelp),
        ("cuda/a", "two", VoteOutcome::Worked),
        ("cuda/b", "one", VoteOutcome::Worked),
    ] {
        let vote = NewOutcome {
            record: id(name),
            revision: revision(1),
            kind: ActionKind::Workaround,
            action: "turn it off and on again".to_owned(),
            position: 0,
            environment: "{}".to_owned(),
            model: String::new(),
            driver: String::new(),
            voter: Voter {
                kind: VoterKind::Person,
                id: voter.to_owned(),
            },
            outcome,
            at: at(1),
        };
        store.save_outcome(vote).await.unwrap();
    }
    store.merge(merge("cuda/a", "cuda/b")).await.unwrap().unwrap();
    let votes = store.votes(&id("cuda/b")).await.unwrap();
    // Who voted on both has the vote that was given there.
    let mut votes: Vec<_> = votes
        .into_iter()
        .map(|vote| (vote.voter.id, vote.outcome))
        .collect();
    votes.sort_by(|left, right| left.0.cmp(&right.0));
    assert_eq!(
        votes,
        [
            ("one".to_owned(), VoteOutcome::Worked),
            ("two".to_owned(), VoteOutcome::Worked)
        ]
    );
    // Whoever keeps shares is told of the record that has them now.
    let (changed, _) = store.voted_since(before + 3).await.unwrap();
    assert_eq!(changed, [id("cuda/b")]);
}

pub(crate) async fn a_split_saves_both_or_none(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    let aliases = json!({ "aliases": ["cuda/old"] });
    published(
        store,
        "cuda/a",
        record_with("cuda/a", "one and two", aliases, json!({})),
    )
    .await;
    let split = |head: u32, to: &str, word: &str| Split {
        old: draft("cuda/a", record("cuda/a", word), Expected::Head(revision(head))),
        new: draft(to, record(to, "two"), Expected::Absent),
    };
    let head = async || store.status(&id("cuda/a")).await.unwrap().unwrap().head;
    let taken = store
        .save_head(draft("cuda/b", record("cuda/b", "b"), Expected::Absent))
        .await;
    assert_eq!(taken.unwrap(), Saved::Saved(revision(1)));
    // Nothing is kept of the old one where the new one cannot be made.
    let done = store.split(split(1, "cuda/b", "one")).await.unwrap();
    assert_eq!((done, head().await), (SplitSaved::Taken, revision(1)));
    let former = store.split(split(1, "cuda/old", "one")).await;
    assert!(matches!(former, Err(StoreError::AliasTaken { .. })), "{former:?}");
    assert_eq!(head().await, revision(1));
    let before = 1;
    // Another head than was seen.
    let stale = store.split(split(before + 1, "cuda/new", "one")).await.unwrap();
    assert_eq!(stale, SplitSaved::Stale(Some(revision(before))));
    assert_eq!(store.status(&id("cuda/new")).await.unwrap(), None);
    let nobody = Split {
        old: draft(
            "cuda/nobody",
            record("cuda/nobody", "x"),
            Expected::Head(revision(1)),
        ),
        ..split(before, "cuda/new", "one")
    };
    assert_eq!(store.split(nobody).await.unwrap(), SplitSaved::Stale(None));
    let seq = store.head_seq().await.unwrap();
    let done = store.split(split(before, "cuda/new", "one")).await.unwrap();
    let (old, new) = (revision(before + 1), revision(1));
    assert_eq!(done, SplitSaved::Saved { old, new });
    assert_eq!(head().await, old);
    let made = store.status(&id("cuda/new")).await.unwrap().unwrap();
    assert_eq!((made.state, made.published), (RecordState::Draft, None));
    // Readers see nothing of it.
    assert_eq!(store.head_seq().await.unwrap(), seq);
}
