//! Votes on what records advise.

use std::sync::Arc;

use peerless::store::{
    ActionKind, NewOutcome, OutcomeSaved, Store, StoreError, VoteOutcome, Voter, VoterKind,
};

use crate::support::{Place, at, id, published, record, revision};

const RECORD: &str = "cuda/x";

async fn store_with_record(place: &Place) -> Arc<dyn Store> {
    let store = place.store().await;
    published(store.as_ref(), RECORD, record(RECORD, "x")).await;
    store
}

fn vote(voter: &str, environment: &str, outcome: VoteOutcome) -> NewOutcome {
    NewOutcome {
        record: id(RECORD),
        revision: revision(1),
        kind: ActionKind::Workaround,
        action: "turn it off and on again".to_owned(),
        position: 0,
        environment: environment.to_owned(),
        model: String::new(),
        driver: String::new(),
        voter: Voter {
            kind: VoterKind::Person,
            id: voter.to_owned(),
        },
        outcome,
        at: at(1),
    }
}

async fn kept(store: &dyn Store) -> Vec<(ActionKind, String, String, VoteOutcome)> {
    let votes = store.votes(&id(RECORD)).await.unwrap().into_iter();
    votes
        .map(|vote| (vote.kind, vote.voter.id, vote.model, vote.outcome))
        .collect()
}

fn line(voter: &str, outcome: VoteOutcome) -> (ActionKind, String, String, VoteOutcome) {
    (ActionKind::Workaround, voter.to_owned(), String::new(), outcome)
}

pub(crate) async fn each_voter_has_one_vote_for_an_action_and_a_model(place: Arc<Place>) {
    use VoteOutcome::{CameBack, DidNotHelp, Worked};
    let store = store_with_record(&place).await;
    assert_eq!(kept(store.as_ref()).await, []);
    for (voter, outcome, saved) in [
        ("a", Worked, OutcomeSaved::Added),
        ("a", Worked, OutcomeSaved::Unchanged),
        ("b", DidNotHelp, OutcomeSaved::Added),
        // A week later.
        ("a", CameBack, OutcomeSaved::Changed),
    ] {
        assert_eq!(
            store.save_outcome(vote(voter, "{}", outcome)).await.unwrap(),
            saved
        );
    }
    let mut votes = kept(store.as_ref()).await;
    votes.sort_by(|left, right| left.1.cmp(&right.1));
    assert_eq!(votes, [line("a", CameBack), line("b", DidNotHelp)]);
    // Another driver is no other vote, and the latest counts.
    for driver in ["1", "2"] {
        let changed = NewOutcome {
            driver: driver.to_owned(),
            at: at(2),
            ..vote("a", &format!("{{\"driver\":\"{driver}\"}}"), Worked)
        };
        assert_eq!(store.save_outcome(changed).await.unwrap(), OutcomeSaved::Changed);
    }
    let votes = store.votes(&id(RECORD)).await.unwrap();
    assert_eq!(votes.len(), 2);
    // The latest comes last.
    assert_eq!((votes[1].voter.id.as_str(), votes[1].driver.as_str()), ("a", "2"));
}

pub(crate) async fn a_person_and_a_token_of_one_id_are_two_voters(place: Arc<Place>) {
    let store = store_with_record(&place).await;
    let person = vote("a", "{}", VoteOutcome::Worked);
    let token = NewOutcome {
        voter: Voter {
            kind: VoterKind::Token,
            id: "a".to_owned(),
        },
        ..person.clone()
    };
    for vote in [person, token] {
        assert_eq!(store.save_outcome(vote).await.unwrap(), OutcomeSaved::Added);
    }
    assert_eq!(kept(store.as_ref()).await.len(), 2);
}

/// Models can be invented as well as versions.
pub(crate) async fn a_voter_votes_for_so_many_models(place: Arc<Place>) {
    let store = store_with_record(&place).await;
    let of_model = |voter, model: usize| NewOutcome {
        model: format!("model {model}"),
        ..vote(voter, "{}", VoteOutcome::Worked)
    };
    for model in 0..16 {
        let saved = store.save_outcome(of_model("a", model)).await.unwrap();
        assert_eq!(saved, OutcomeSaved::Added, "{model}");
    }
    let saved = store.save_outcome(of_model("a", 16)).await.unwrap();
    assert_eq!(saved, OutcomeSaved::TooManyModels);
    assert_eq!(
        store.save_outcome(of_model("b", 16)).await.unwrap(),
        OutcomeSaved::Added
    );
    assert_eq!(kept(store.as_ref()).await.len(), 17);
}

pub(crate) async fn models_and_kinds_are_kept_apart(place: Arc<Place>) {
    let store = store_with_record(&place).await;
    let first = vote("a", "{}", VoteOutcome::Worked);
    let other_model = NewOutcome {
        model: "h200".to_owned(),
        outcome: VoteOutcome::DidNotHelp,
        ..first.clone()
    };
    let dead_end = NewOutcome {
        kind: ActionKind::DeadEnd,
        ..other_model.clone()
    };
    for vote in [first, other_model, dead_end] {
        assert_eq!(store.save_outcome(vote).await.unwrap(), OutcomeSaved::Added);
    }
    let mut votes = kept(store.as_ref()).await;
    votes.sort_by(|left, right| (left.0, &left.2).cmp(&(right.0, &right.2)));
    let line = |kind, model: &str, outcome| (kind, "a".to_owned(), model.to_owned(), outcome);
    let expected = [
        line(ActionKind::Workaround, "", VoteOutcome::Worked),
        line(ActionKind::Workaround, "h200", VoteOutcome::DidNotHelp),
        line(ActionKind::DeadEnd, "h200", VoteOutcome::DidNotHelp),
    ];
    assert_eq!(votes, expected);
}

pub(crate) async fn votes_need_a_record(place: Arc<Place>) {
    let store = store_with_record(&place).await;
    let elsewhere = NewOutcome {
        record: id("cuda/other"),
        ..vote("a", "{}", VoteOutcome::Worked)
    };
    let refused = store.save_outcome(elsewhere).await;
    assert!(matches!(refused, Err(StoreError::NoRecord(_))), "{refused:?}");
    let nul = vote("a", "{\"a\":\"\0\"}", VoteOutcome::Worked);
    assert!(matches!(
        store.save_outcome(nul).await,
        Err(StoreError::Unstorable { .. })
    ));
    assert_eq!(kept(store.as_ref()).await, []);
}

pub(crate) async fn votes_at_once_count_once(place: Arc<Place>) {
    let store = store_with_record(&place).await;
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let vote = vote("a", "{}", VoteOutcome::Worked);
                store.save_outcome(vote).await.unwrap()
            })
        })
        .collect();
    let mut added = 0;
    for task in tasks {
        added += u32::from(task.await.unwrap() == OutcomeSaved::Added);
    }
    assert_eq!(added, 1);
    assert_eq!(kept(store.as_ref()).await.len(), 1);
}

pub(crate) async fn changed_votes_are_told_once(place: Arc<Place>) {
    let store = store_with_record(&place).await;
    published(store.as_ref(), "cuda/y", record("cuda/y", "y")).await;
    let (none, start) = store.voted_since(0).await.unwrap();
    assert!(none.is_empty());
    store
        .save_outcome(vote("a", "{}", VoteOutcome::Worked))
        .await
        .unwrap();
    let (changed, first) = store.voted_since(start).await.unwrap();
    assert_eq!(changed, [id(RECORD)]);
    let other = NewOutcome {
        record: id("cuda/y"),
        ..vote("a", "{}", VoteOutcome::Worked)
    };
    store.save_outcome(other).await.unwrap();
    let (changed, second) = store.voted_since(first).await.unwrap();
    assert_eq!(changed, [id("cuda/y")]);
    assert_eq!(store.voted_since(second).await.unwrap(), (Vec::new(), second));
    let (all, _) = store.voted_since(0).await.unwrap();
    assert_eq!(all, [id(RECORD), id("cuda/y")]);
}
