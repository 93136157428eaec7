//! API tokens.

use std::sync::Arc;

use peerless::store::{Bounds, By, Enrolled, Labels, NewToken, Scope};

use crate::support::{Place, at};

fn token(id: &str) -> NewToken {
    NewToken {
        id: id.to_owned(),
        secret_sha256: format!("{:064x}", 7),
        name: "ci".to_owned(),
        scopes: vec![Scope::Report, Scope::Edit],
        created_at: at(1),
        expires_at: Some(at(100)),
        bounds: Bounds::default(),
        person: None,
    }
}

pub(crate) async fn tokens_are_kept_and_revoked_once(place: Arc<Place>) {
    let store = place.store().await;
    let eternal = NewToken {
        expires_at: None,
        scopes: Scope::ALL.into(),
        ..token("b")
    };
    store.create_token(token("a"), &By::system("ada")).await.unwrap();
    store
        .create_token(eternal.clone(), &By::system("ada"))
        .await
        .unwrap();
    let kept = store.token("a").await.unwrap().unwrap();
    assert_eq!((kept.token, kept.revoked_at), (token("a"), None));
    assert_eq!(store.token("b").await.unwrap().unwrap().token, eternal);
    assert_eq!(store.token("c").await.unwrap(), None);

    assert!(store.revoke_token("a", &By::system("ada"), at(5)).await.unwrap());
    assert!(store.revoke_token("a", &By::system("ada"), at(6)).await.unwrap());
    assert!(!store.revoke_token("c", &By::system("ada"), at(6)).await.unwrap());
    let all = store.tokens().await.unwrap();
    let seen: Vec<_> = all
        .iter()
        .map(|token| (token.token.id.as_str(), token.revoked_at))
        .collect();
    assert_eq!(seen, [("a", Some(at(5))), ("b", None)]);
}

pub(crate) async fn a_token_id_is_used_once(place: Arc<Place>) {
    let store = place.store().await;
    store.create_token(token("a"), &By::system("ada")).await.unwrap();
    let other = NewToken {
        secret_sha256: format!("{:064x}", 8),
        ..token("a")
    };
    store.create_token(other, &By::system("ada")).await.unwrap_err();
    assert_eq!(store.token("a").await.unwrap().unwrap().token, token("a"));
}

/// A credential of this node, made by this machine.
fn credential(token_id: &str, node: &str, machine: &str) -> NewToken {
    NewToken {
        bounds: Bounds {
            node: Some(node.parse().unwrap()),
            machine_sha256: Some(machine.to_owned()),
            enrolled_by: Some("join".to_owned()),
            uses_left: None,
            labels: Labels::new(),
            adopts: false,
        },
        expires_at: None,
        scopes: vec![Scope::Report],
        ..token(token_id)
    }
}

pub(crate) async fn a_node_has_one_credential(place: Arc<Place>) {
    let store = place.store().await;
    let join = NewToken {
        bounds: Bounds {
            uses_left: Some(2),
            ..Bounds::default()
        },
        scopes: vec![Scope::Enrol],
        ..token("join")
    };
    store
        .create_token(join.clone(), &By::system("ada"))
        .await
        .unwrap();
    assert_eq!(store.token("join").await.unwrap().unwrap().token, join);
    let ada = By::system("ada");
    let enrol = |new| store.enrol_node("join", new, &ada);
    assert_eq!(enrol(credential("a", "n1", "m1")).await.unwrap(), Enrolled::New);
    assert_eq!(
        store.token("a").await.unwrap().unwrap().token,
        credential("a", "n1", "m1")
    );
    // A clone is refused, and takes no enrolment away.
    assert_eq!(enrol(credential("b", "n1", "m2")).await.unwrap(), Enrolled::Taken);
    assert_eq!(store.token("b").await.unwrap(), None);
    // The same machine asks again at once: none either.
    assert_eq!(enrol(credential("c", "n1", "m1")).await.unwrap(), Enrolled::Again);
    let revoked = |id: &'static str| {
        let store = Arc::clone(&store);
        async move { store.token(id).await.unwrap().unwrap().revoked_at }
    };
    assert_eq!((revoked("a").await, revoked("c").await), (Some(at(1)), None));
    assert_eq!(enrol(credential("d", "n2", "m2")).await.unwrap(), Enrolled::New);
    assert_eq!(
        enrol(credential("e", "n3", "m3")).await.unwrap(),
        Enrolled::UsedUp
    );
    assert_eq!(store.token("e").await.unwrap(), None);
    assert_eq!(enrol(credential("h", "n2", "m2")).await.unwrap(), Enrolled::Again);
    // What was taken back leaves the id to others.
    assert!(store.revoke_token("h", &By::system("ada"), at(2)).await.unwrap());
    let unlimited = NewToken {
        scopes: vec![Scope::Enrol],
        ..token("more")
    };
    store.create_token(unlimited, &By::system("ada")).await.unwrap();
    let other = store
        .enrol_node("more", credential("f", "n2", "m4"), &ada)
        .await
        .unwrap();
    assert_eq!(other, Enrolled::Adopted);
    assert_eq!(
        store
            .enrol_node("none", credential("g", "n9", "m9"), &ada)
            .await
            .unwrap(),
        Enrolled::Over
    );
}

/// Those of before a token that takes ids over needed bounds, and those of before there was such a token.
pub(crate) async fn an_old_join_token_takes_no_id_over(place: Arc<Place>) {
    let store = place.store().await;
    let ada = By::system("ada");
    let join = |id: &str, adopts, uses_left, expires_at| NewToken {
        bounds: Bounds {
            uses_left,
            adopts,
            ..Bounds::default()
        },
        scopes: vec![Scope::Enrol],
        expires_at,
        ..token(id)
    };
    let old = [
        join("plain", false, Some(9), Some(at(100))),
        join("endless", true, Some(9), None),
        join("any-number", true, None, Some(at(100))),
        join("unbounded", true, None, None),
    ];
    for token in &old {
        store.create_token(token.clone(), &ada).await.unwrap();
    }
    let first = credential("first", "n1", "m1");
    assert_eq!(
        store.enrol_node("plain", first, &ada).await.unwrap(),
        Enrolled::New
    );
    for with in &old {
        let other = credential(&format!("by-{}", with.id), "n1", "m2");
        let enrolled = store.enrol_node(&with.id, other, &ada).await.unwrap();
        assert_eq!(enrolled, Enrolled::Taken, "{}", with.id);
        let listed = store.token(&with.id).await.unwrap().unwrap();
        assert!(!listed.token.bounds.adopts, "{}", with.id);
        assert_eq!(
            listed.token.bounds.uses_left,
            with.bounds
                .uses_left
                .map(|left| left - u32::from(with.id == "plain"))
        );
    }
    assert_eq!(store.token("first").await.unwrap().unwrap().revoked_at, None);
    let bounded = join("bounded", true, Some(1), Some(at(100)));
    store.create_token(bounded, &ada).await.unwrap();
    let other = credential("other", "n1", "m2");
    assert_eq!(
        store.enrol_node("bounded", other, &ada).await.unwrap(),
        Enrolled::Adopted
    );
}

/// The name of a machine is no secret: with it and a join token that is used up nobody takes a credential over.
pub(crate) async fn who_had_a_revoked_credential_is_known(place: Arc<Place>) {
    let store = place.store().await;
    let ada = By::system("ada");
    let join = NewToken {
        scopes: vec![Scope::Enrol],
        ..token("join")
    };
    store.create_token(join, &ada).await.unwrap();
    let enrol = |id: &'static str, machine: &'static str, seconds: i64| {
        let asked = credential(id, "n1", machine);
        let created_at = asked.created_at + time::Duration::seconds(seconds);
        let (store, ada) = (&store, &ada);
        async move {
            let asked = NewToken { created_at, ..asked };
            let enrolled = store.enrol_node("join", asked, ada).await.unwrap();
            assert!(store.revoke_token(id, ada, created_at).await.unwrap());
            enrolled
        }
    };
    assert_eq!(enrol("a", "m1", 0).await, Enrolled::New);
    assert_eq!(enrol("b", "m1", 1).await, Enrolled::Again);
    assert_eq!(enrol("c", "m2", 2).await, Enrolled::Adopted);
    assert_eq!(enrol("d", "m2", 3).await, Enrolled::Again);
}

pub(crate) async fn a_join_token_that_is_used_up_renews_no_credential(place: Arc<Place>) {
    let store = place.store().await;
    let join = |id: &str, uses, expires_at| NewToken {
        bounds: Bounds {
            uses_left: Some(uses),
            ..Bounds::default()
        },
        scopes: vec![Scope::Enrol],
        expires_at,
        ..token(id)
    };
    store
        .create_token(join("join", 1, None), &By::system("ada"))
        .await
        .unwrap();
    store
        .create_token(join("other", 1, None), &By::system("ada"))
        .await
        .unwrap();
    store
        .create_token(join("ended", 1, Some(at(0))), &By::system("ada"))
        .await
        .unwrap();
    let enrol = |by: &'static str, id: &str, minutes: i64| {
        let asked = credential(id, "n1", "m1");
        let created_at = asked.created_at + time::Duration::minutes(minutes);
        let store = Arc::clone(&store);
        let by_now = NewToken {
            created_at,
            bounds: Bounds {
                enrolled_by: Some(by.to_owned()),
                ..asked.bounds.clone()
            },
            ..asked
        };
        async move { store.enrol_node(by, by_now, &By::system("ada")).await.unwrap() }
    };
    assert_eq!(enrol("join", "a", 0).await, Enrolled::New);
    assert_eq!(
        enrol("join", "b", 9).await,
        Enrolled::Again,
        "an answer that was lost"
    );
    assert_eq!(enrol("join", "c", 60).await, Enrolled::UsedUp);
    assert_eq!(store.token("b").await.unwrap().unwrap().revoked_at, None);
    assert_eq!(enrol("ended", "d", 60).await, Enrolled::Over);
    assert_eq!(enrol("other", "e", 60).await, Enrolled::Again);
    assert_eq!(enrol("other", "f", 120).await, Enrolled::UsedUp);
    assert!(
        store
            .revoke_token("join", &By::system("ada"), at(3))
            .await
            .unwrap()
    );
    assert_eq!(enrol("join", "g", 121).await, Enrolled::Over);
}

pub(crate) async fn a_join_token_is_not_used_too_often(place: Arc<Place>) {
    let store = place.store().await;
    let join = NewToken {
        bounds: Bounds {
            uses_left: Some(2),
            ..Bounds::default()
        },
        ..token("join")
    };
    store.create_token(join, &By::system("ada")).await.unwrap();
    let tasks: Vec<_> = (0..6)
        .map(|number| {
            let store = Arc::clone(&store);
            let new = credential(&format!("t{number}"), &format!("n{number}"), "m");
            tokio::spawn(async move { store.enrol_node("join", new, &By::system("ada")).await.unwrap() })
        })
        .collect();
    let mut enrolled = 0;
    for task in tasks {
        enrolled += u32::from(task.await.unwrap() == Enrolled::New);
    }
    assert_eq!(enrolled, 2);
}

pub(crate) async fn one_of_many_machines_gets_an_id(place: Arc<Place>) {
    let store = place.store().await;
    for number in 0..6 {
        let join = NewToken {
            scopes: vec![Scope::Enrol],
            ..token(&format!("join{number}"))
        };
        store.create_token(join, &By::system("ada")).await.unwrap();
    }
    // Several rounds: the first one opens the connections.
    for round in 0..10 {
        let tasks: Vec<_> = (0..6)
            .map(|number| {
                let store = Arc::clone(&store);
                let id = format!("t{round}-{number}");
                let new = credential(&id, &format!("n{round}"), &format!("m{number}"));
                tokio::spawn(async move {
                    store
                        .enrol_node(&format!("join{number}"), new, &By::system("ada"))
                        .await
                        .unwrap()
                })
            })
            .collect();
        let mut enrolled = Vec::new();
        for task in tasks {
            enrolled.push(task.await.unwrap());
        }
        let count = |outcome| enrolled.iter().filter(|found| **found == outcome).count();
        let counts = (count(Enrolled::New), count(Enrolled::Taken));
        assert_eq!(counts, (1, 5), "{enrolled:?}");
    }
}
