//! People.

use std::sync::Arc;

use peerless::store::{
    AuditQuery, By, FirstAdmin, NewPerson, NewToken, PersonChange, Role, Scope, Standing, Store,
};

use crate::contract::sessions::session;
use crate::support::{Place, at};

pub(crate) fn person(id: &str, login: &str, role: Role) -> NewPerson {
    NewPerson {
        id: id.to_owned(),
        login: login.to_owned(),
        name: "Ada Lovelace".to_owned(),
        standing: Standing {
            role,
            operator: false,
        },
        password_hash: Some("$argon2id$…".to_owned()),
        subject: None,
        created_at: at(1),
    }
}

fn ada() -> By {
    By::system("ada")
}

async fn actions(store: &dyn Store) -> Vec<(String, String)> {
    let query = AuditQuery {
        limit: 100,
        ..AuditQuery::default()
    };
    let entries = store.audit(&query).await.unwrap();
    let told = entries.into_iter().rev();
    told.map(|entry| (entry.action, entry.subject)).collect()
}

pub(crate) async fn a_login_belongs_to_one_person_whatever_its_case(place: Arc<Place>) {
    let store = place.store().await;
    let kept = person("p1", "Ada", Role::Editor);
    assert!(store.create_person(kept.clone(), &ada()).await.unwrap());
    let again = person("p2", "aDA", Role::Admin);
    assert!(!store.create_person(again, &ada()).await.unwrap());
    let found = store.person_by_login("ADA").await.unwrap().unwrap();
    assert_eq!((found.id.as_str(), found.login.as_str()), ("p1", "Ada"));
    assert_eq!(found.standing, kept.standing);
    assert_eq!(found.password_hash, kept.password_hash);
    assert_eq!((found.created_at, found.disabled_at), (at(1), None));
    assert_eq!(store.person("p1").await.unwrap(), Some(found));
    assert_eq!(store.person("p2").await.unwrap(), None);
    assert_eq!(store.person_by_login("a\0da").await.unwrap(), None);
    assert_eq!(
        actions(store.as_ref()).await,
        [("person.create".to_owned(), "Ada".to_owned())]
    );
}

pub(crate) async fn a_subject_belongs_to_one_person(place: Arc<Place>) {
    let store = place.store().await;
    let with = |id: &str, login: &str, issuer: &str| NewPerson {
        subject: Some((issuer.to_owned(), "42".to_owned())),
        password_hash: None,
        ..person(id, login, Role::Viewer)
    };
    assert!(
        store
            .create_person(with("p1", "ada", "https://a"), &ada())
            .await
            .unwrap()
    );
    assert!(
        store
            .create_person(with("p2", "bob", "https://b"), &ada())
            .await
            .unwrap()
    );
    assert!(
        !store
            .create_person(with("p3", "eve", "https://a"), &ada())
            .await
            .unwrap()
    );
    // Nobody in particular is no subject.
    for id in ["p4", "p5"] {
        assert!(
            store
                .create_person(person(id, id, Role::Viewer), &ada())
                .await
                .unwrap()
        );
    }
    let found = store.person_by_subject("https://a", "42").await.unwrap();
    assert_eq!(found.unwrap().id, "p1");
    assert_eq!(store.person_by_subject("https://a", "43").await.unwrap(), None);
    let all = store.persons().await.unwrap();
    let logins: Vec<_> = all.iter().map(|person| person.login.as_str()).collect();
    assert_eq!(logins, ["ada", "bob", "p4", "p5"]);
}

pub(crate) async fn a_change_of_role_ends_the_sessions(place: Arc<Place>) {
    let store = place.store().await;
    for (id, role) in [("p1", Role::Editor), ("p2", Role::Admin)] {
        assert!(store.create_person(person(id, id, role), &ada()).await.unwrap());
        store
            .start_session(session(id, id, role), None, (&ada(), "login"))
            .await
            .unwrap();
    }
    let admin = Standing {
        role: Role::Admin,
        operator: true,
    };
    let change = store.set_role("p1", admin, &ada(), at(5)).await.unwrap();
    assert_eq!(change, PersonChange::Changed);
    assert_eq!(store.person("p1").await.unwrap().unwrap().standing, admin);
    assert_eq!(store.session("p1", at(6)).await.unwrap(), None);
    assert!(store.session("p2", at(6)).await.unwrap().is_some());
    let again = store.set_role("p1", admin, &ada(), at(7)).await.unwrap();
    assert_eq!(again, PersonChange::Unchanged);
    let nobody = store.set_role("p9", admin, &ada(), at(7)).await.unwrap();
    assert_eq!(nobody, PersonChange::NoPerson);
    let query = AuditQuery {
        action: Some("person.role".to_owned()),
        limit: 9,
        ..AuditQuery::default()
    };
    let entries = store.audit(&query).await.unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].detail["role"]["from"], "editor");
    assert_eq!(entries[0].detail["role"]["to"], "admin");
}

pub(crate) async fn the_last_administrator_stays(place: Arc<Place>) {
    let store = place.store().await;
    let viewer = Standing {
        role: Role::Viewer,
        operator: false,
    };
    for id in ["p1", "p2"] {
        assert!(
            store
                .create_person(person(id, id, Role::Admin), &ada())
                .await
                .unwrap()
        );
    }
    // Both at once: one of them stays.
    let change = |id: &'static str| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.set_role(id, viewer, &ada(), at(2)).await.unwrap() })
    };
    let (one, other) = (change("p1"), change("p2"));
    let changes = [one.await.unwrap(), other.await.unwrap()];
    assert!(changes.contains(&PersonChange::Changed), "{changes:?}");
    assert!(changes.contains(&PersonChange::LastAdmin), "{changes:?}");
    let all = store.persons().await.unwrap();
    let left = all
        .iter()
        .find(|person| person.standing.role == Role::Admin)
        .unwrap();
    let disabled = store.set_disabled(&left.id, true, &ada(), at(3)).await.unwrap();
    assert_eq!(disabled, PersonChange::LastAdmin);
}

pub(crate) async fn who_is_shut_out_has_no_session_and_no_token(place: Arc<Place>) {
    let store = place.store().await;
    assert!(
        store
            .create_person(person("p1", "ada", Role::Editor), &ada())
            .await
            .unwrap()
    );
    store
        .start_session(session("s1", "p1", Role::Editor), None, (&ada(), "login"))
        .await
        .unwrap();
    let token = NewToken {
        id: "t1".to_owned(),
        secret_sha256: format!("{:064x}", 7),
        name: "ci".to_owned(),
        scopes: vec![Scope::Edit],
        created_at: at(1),
        expires_at: None,
        bounds: peerless::store::Bounds::default(),
        person: Some("p1".to_owned()),
    };
    store.create_token(token.clone(), &ada()).await.unwrap();
    let kept = store.token("t1").await.unwrap().unwrap();
    assert_eq!(kept.token, token);
    assert!(!kept.owner.unwrap().disabled);
    assert_eq!(store.tokens_of("p1").await.unwrap(), [kept]);
    assert_eq!(store.tokens_of("p2").await.unwrap(), []);

    let shut = store.set_disabled("p1", true, &ada(), at(2)).await.unwrap();
    assert_eq!(shut, PersonChange::Changed);
    assert_eq!(
        store.person("p1").await.unwrap().unwrap().disabled_at,
        Some(at(2))
    );
    assert_eq!(store.session("s1", at(3)).await.unwrap(), None);
    assert!(store.token("t1").await.unwrap().unwrap().owner.unwrap().disabled);
    let open = store.set_disabled("p1", false, &ada(), at(4)).await.unwrap();
    assert_eq!(open, PersonChange::Changed);
    assert_eq!(store.person("p1").await.unwrap().unwrap().disabled_at, None);
    // The session does not come back.
    assert_eq!(store.session("s1", at(5)).await.unwrap(), None);
}

pub(crate) async fn another_password_ends_the_sessions(place: Arc<Place>) {
    let store = place.store().await;
    assert!(
        store
            .create_person(person("p1", "ada", Role::Editor), &ada())
            .await
            .unwrap()
    );
    store
        .start_session(session("s1", "p1", Role::Editor), None, (&ada(), "login"))
        .await
        .unwrap();
    let changed = store.set_password("p1", "other", &ada(), at(2)).await.unwrap();
    assert_eq!(changed, PersonChange::Changed);
    let kept = store.person("p1").await.unwrap().unwrap().password_hash;
    assert_eq!(kept.as_deref(), Some("other"));
    assert_eq!(store.session("s1", at(3)).await.unwrap(), None);
}

pub(crate) async fn the_first_administrator_is_made_once(place: Arc<Place>) {
    let store = place.store().await;
    let admin = |id: &str| person(id, id, Role::Admin);
    assert!(store.offer_first_admin("k1", at(3600), at(0)).await.unwrap());
    assert!(store.offer_first_admin("k2", at(3600), at(0)).await.unwrap());
    assert!(store.is_first_admin_key("k1", at(5)).await.unwrap());
    assert!(!store.is_first_admin_key("k1", at(3600)).await.unwrap());
    let made = store.create_first_admin("k3", admin("p0"), &ada()).await.unwrap();
    assert_eq!(made, FirstAdmin::NoKey);
    let late = NewPerson {
        created_at: at(3600),
        ..admin("p0")
    };
    let made = store.create_first_admin("k1", late, &ada()).await.unwrap();
    assert_eq!(made, FirstAdmin::NoKey);
    // Two links, opened at once: one administrator.
    let open_link = |key: &'static str, id: &'static str| {
        let (store, admin) = (Arc::clone(&store), admin(id));
        tokio::spawn(async move { store.create_first_admin(key, admin, &ada()).await.unwrap() })
    };
    let (one, other) = (open_link("k1", "p1"), open_link("k2", "p2"));
    let made = [one.await.unwrap(), other.await.unwrap()];
    assert!(
        made.contains(&FirstAdmin::Made) && made.contains(&FirstAdmin::Late),
        "{made:?}"
    );
    assert_eq!(store.persons().await.unwrap().len(), 1);
    assert!(!store.is_first_admin_key("k2", at(5)).await.unwrap());
    assert!(!store.offer_first_admin("k4", at(3600), at(6)).await.unwrap());
}
