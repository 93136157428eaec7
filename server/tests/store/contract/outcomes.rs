//! Votes on what records advise.

use std::sync::Arc;

use peerless::store::{
    ActionKind, Bounds, By, NewOutcome, NewToken, OutcomeCount, OutcomeSaved, Scope, Store, StoreError,
};

use crate::support::{Place, at, id, published, record, revision};

const RECORD: &str = "cuda/x";

async fn store_with(place: &Place, reporters: &[&str]) -> Arc<dyn Store> {
    let store = place.store().await;
    published(store.as_ref(), RECORD, record(RECORD, "x")).await;
    for reporter in reporters {
        let token = NewToken {
            id: (*reporter).to_owned(),
            secret_sha256: format!("{:064x}", 7),
            name: "node".to_owned(),
            scopes: vec![Scope::Report],
            created_at: at(0),
            expires_at: None,
            bounds: Bounds::default(),
            person: None,
        };
        store.create_token(token, &By::system("ada")).await.unwrap();
    }
    store
}

fn vote(reporter: &str, environment: &str, worked: bool) -> NewOutcome {
    NewOutcome {
        record: id(RECORD),
        revision: revision(1),
        kind: ActionKind::Workaround,
        action: "turn it off and on again".to_owned(),
        environment: environment.to_owned(),
        model: String::new(),
        reporter: reporter.to_owned(),
        worked,
        at: at(1),
    }
}

fn count(kind: ActionKind, environment: &str, worked: u64, failed: u64) -> OutcomeCount {
    OutcomeCount {
        kind,
        action: "turn it off and on again".to_owned(),
        environment: environment.to_owned(),
        worked,
        failed,
    }
}

pub(crate) async fn each_reporter_has_one_vote_for_an_action_and_a_model(place: Arc<Place>) {
    let store = store_with(&place, &["a", "b"]).await;
    assert_eq!(store.outcomes(&id(RECORD)).await.unwrap(), []);
    for (reporter, worked, saved) in [
        ("a", true, OutcomeSaved::Added),
        ("a", true, OutcomeSaved::Unchanged),
        ("b", true, OutcomeSaved::Added),
        ("a", false, OutcomeSaved::Changed),
    ] {
        assert_eq!(
            store.save_outcome(vote(reporter, "{}", worked)).await.unwrap(),
            saved
        );
    }
    let counts = store.outcomes(&id(RECORD)).await.unwrap();
    assert_eq!(counts, [count(ActionKind::Workaround, "{}", 1, 1)]);
    // Another driver is no other vote, and the latest counts.
    for driver in ["{\"driver\":\"1\"}", "{\"driver\":\"2\"}"] {
        let saved = store.save_outcome(vote("a", driver, true)).await.unwrap();
        assert_eq!(saved, OutcomeSaved::Changed);
    }
    let counts = store.outcomes(&id(RECORD)).await.unwrap();
    let votes: u64 = counts.iter().map(|count| count.worked + count.failed).sum();
    assert_eq!(votes, 2, "{counts:?}");
    assert!(counts.contains(&count(ActionKind::Workaround, "{\"driver\":\"2\"}", 1, 0)));
}

/// Models can be invented as well as versions.
pub(crate) async fn a_reporter_votes_for_so_many_models(place: Arc<Place>) {
    let store = store_with(&place, &["a", "b"]).await;
    let of_model = |reporter, model: usize| NewOutcome {
        model: format!("model {model}"),
        ..vote(reporter, "{}", true)
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
    assert_eq!(store.outcomes(&id(RECORD)).await.unwrap()[0].worked, 17);
}

pub(crate) async fn environments_and_kinds_are_counted_apart(place: Arc<Place>) {
    let store = store_with(&place, &["a"]).await;
    let new = "{\"driver\":\"580\"}";
    store.save_outcome(vote("a", "{}", true)).await.unwrap();
    let on_another_model = |reporter| NewOutcome {
        model: "h200".to_owned(),
        ..vote(reporter, new, false)
    };
    store.save_outcome(on_another_model("a")).await.unwrap();
    let dead_end = NewOutcome {
        kind: ActionKind::DeadEnd,
        ..on_another_model("a")
    };
    store.save_outcome(dead_end).await.unwrap();
    let mut counts = store.outcomes(&id(RECORD)).await.unwrap();
    counts.sort_by(|left, right| (left.kind, &left.environment).cmp(&(right.kind, &right.environment)));
    let expected = [
        count(ActionKind::Workaround, new, 0, 1),
        count(ActionKind::Workaround, "{}", 1, 0),
        count(ActionKind::DeadEnd, new, 0, 1),
    ];
    assert_eq!(counts, expected);
}

pub(crate) async fn votes_need_a_record_and_a_reporter(place: Arc<Place>) {
    let store = store_with(&place, &["a"]).await;
    let elsewhere = NewOutcome {
        record: id("cuda/other"),
        ..vote("a", "{}", true)
    };
    let refused = store.save_outcome(elsewhere).await;
    assert!(matches!(refused, Err(StoreError::NoRecord(_))), "{refused:?}");
    assert!(store.save_outcome(vote("nobody", "{}", true)).await.is_err());
    let nul = vote("a", "{\"a\":\"\0\"}", true);
    assert!(matches!(
        store.save_outcome(nul).await,
        Err(StoreError::Unstorable { .. })
    ));
    assert_eq!(store.outcomes(&id(RECORD)).await.unwrap(), []);
}

pub(crate) async fn votes_at_once_count_once(place: Arc<Place>) {
    let store = store_with(&place, &["a"]).await;
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.save_outcome(vote("a", "{}", true)).await.unwrap() })
        })
        .collect();
    let mut added = 0;
    for task in tasks {
        added += u32::from(task.await.unwrap() == OutcomeSaved::Added);
    }
    assert_eq!(added, 1);
    assert_eq!(store.outcomes(&id(RECORD)).await.unwrap()[0].worked, 1);
}
