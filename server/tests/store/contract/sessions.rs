//! Sessions of people.

use std::sync::Arc;

use peerless::store::{AuditQuery, By, NewSession, Role, Standing};

use crate::contract::persons::person;
use crate::support::{Place, at};

pub(crate) fn session(id: &str, person: &str, role: Role) -> NewSession {
    NewSession {
        id: id.to_owned(),
        person: person.to_owned(),
        csrf: "c0ffee".to_owned(),
        standing: Standing {
            role,
            operator: false,
        },
        made_at: at(1),
        seen_at: at(1),
        idle_ends_at: at(100),
        ends_at: at(1000),
        address: Some("192.0.2.7".to_owned()),
        user_agent: Some("Browser/1".to_owned()),
    }
}

fn ada() -> By {
    By::system("ada")
}

pub(crate) async fn a_session_ends_idle_and_absolutely(place: Arc<Place>) {
    let store = place.store().await;
    let kept = person("p1", "ada", Role::Editor);
    assert!(store.create_person(kept, &ada()).await.unwrap());
    let begun = session("s1", "p1", Role::Editor);
    store
        .start_session(begun.clone(), None, (&ada(), "login"))
        .await
        .unwrap();
    let live = store.session("s1", at(99)).await.unwrap().unwrap();
    assert_eq!(live.session, begun);
    assert_eq!(live.person.login, "ada");
    assert_eq!(store.session("s2", at(99)).await.unwrap(), None);
    assert_eq!(store.session("s1", at(100)).await.unwrap(), None, "idle");
    store.touch_session("s1", at(90), at(2000)).await.unwrap();
    let live = store.session("s1", at(999)).await.unwrap().unwrap();
    assert_eq!(
        (live.session.seen_at, live.session.idle_ends_at),
        (at(90), at(2000))
    );
    // A request that was overtaken takes nothing back.
    store.touch_session("s1", at(80), at(85)).await.unwrap();
    assert!(store.session("s1", at(999)).await.unwrap().is_some());
    assert_eq!(store.session("s1", at(1000)).await.unwrap(), None, "absolute");
}

pub(crate) async fn a_login_takes_the_place_of_the_session_before(place: Arc<Place>) {
    let store = place.store().await;
    for id in ["p1", "p2"] {
        assert!(
            store
                .create_person(person(id, id, Role::Editor), &ada())
                .await
                .unwrap()
        );
    }
    let start = |new, before: Option<&'static str>| {
        let store = Arc::clone(&store);
        async move { store.start_session(new, before, (&ada(), "login")).await.unwrap() }
    };
    start(session("s1", "p1", Role::Editor), None).await;
    start(session("s2", "p1", Role::Editor), None).await;
    start(session("s3", "p2", Role::Editor), Some("s1")).await;
    assert_eq!(store.session("s1", at(5)).await.unwrap(), None);
    assert!(store.session("s2", at(5)).await.unwrap().is_some());
    let later = NewSession {
        made_at: at(100),
        idle_ends_at: at(200),
        ..session("s4", "p1", Role::Editor)
    };
    start(later.clone(), None).await;
    assert_eq!(
        store.sessions_of("p1", at(5)).await.unwrap(),
        [later],
        "the idle one is forgotten"
    );
    let twice = store
        .start_session(session("s4", "p2", Role::Editor), None, (&ada(), "login"))
        .await;
    twice.unwrap_err();
}

pub(crate) async fn a_session_is_ended_by_its_owner_alone(place: Arc<Place>) {
    let store = place.store().await;
    for id in ["p1", "p2"] {
        assert!(
            store
                .create_person(person(id, id, Role::Editor), &ada())
                .await
                .unwrap()
        );
    }
    for (id, owner) in [("s1", "p1"), ("s2", "p1"), ("s3", "p1"), ("s4", "p2")] {
        store
            .start_session(session(id, owner, Role::Editor), None, (&ada(), "login"))
            .await
            .unwrap();
    }
    let by = (&ada(), "logout");
    assert!(!store.end_session("p2", "s1", by, at(5)).await.unwrap());
    assert!(store.session("s1", at(5)).await.unwrap().is_some());
    assert!(store.end_session("p1", "s1", by, at(5)).await.unwrap());
    assert!(!store.end_session("p1", "s1", by, at(5)).await.unwrap());
    assert_eq!(store.end_sessions("p1", &ada(), at(6)).await.unwrap(), 2);
    assert_eq!(store.end_sessions("p1", &ada(), at(6)).await.unwrap(), 0);
    assert!(store.session("s4", at(5)).await.unwrap().is_some());
    let query = AuditQuery {
        subject: Some("p1".to_owned()),
        limit: 100,
        ..AuditQuery::default()
    };
    let entries = store.audit(&query).await.unwrap();
    let actions: Vec<_> = entries.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(
        actions,
        [
            "session.end",
            "logout",
            "login",
            "login",
            "login",
            "person.create"
        ]
    );
}

pub(crate) async fn a_session_of_another_role_is_none(place: Arc<Place>) {
    let store = place.store().await;
    assert!(
        store
            .create_person(person("p1", "ada", Role::Viewer), &ada())
            .await
            .unwrap()
    );
    store
        .start_session(session("s1", "p1", Role::Editor), None, (&ada(), "login"))
        .await
        .unwrap();
    assert_eq!(store.session("s1", at(5)).await.unwrap(), None);
}
