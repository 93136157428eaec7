//! The audit.

use std::sync::Arc;

use kb_core::ids::Revision;
use peerless::store::{
    ActorKind, AuditEntry, AuditQuery, Bounds, By, Expected, NewAudit, NewToken, Saved, Scope, Store,
};
use serde_json::json;
use sqlx::{Connection as _, Executor as _};

use crate::support::{Engine, Place, at, draft, id, publish, record};

async fn all(store: &dyn Store) -> Vec<AuditEntry> {
    let query = AuditQuery {
        limit: 1000,
        ..AuditQuery::default()
    };
    let mut entries = store.audit(&query).await.unwrap();
    entries.reverse();
    entries
}

pub(crate) async fn what_happens_to_a_record_is_noted_with_it(place: Arc<Place>) {
    let store = place.store().await;
    let texts = |word| record("cuda/a", word);
    let saved = store
        .save_head(draft("cuda/a", texts("one"), Expected::Absent))
        .await;
    assert_eq!(saved.unwrap(), Saved::Saved(Revision(1)));
    let head = Expected::Head(Revision(1));
    store
        .save_head(draft("cuda/a", texts("one"), head))
        .await
        .unwrap();
    store
        .save_head(draft("cuda/a", texts("two"), head))
        .await
        .unwrap();
    // Refused, and so not noted.
    store
        .save_head(draft("cuda/a", texts("three"), head))
        .await
        .unwrap();
    store.publish(publish("cuda/a", 1)).await.unwrap();
    store.publish(publish("cuda/a", 2)).await.unwrap();
    store.publish(publish("cuda/a", 2)).await.unwrap();
    store.publish(publish("cuda/a", 9)).await.unwrap_err();
    let person = By {
        kind: ActorKind::Person,
        id: "p1".to_owned(),
        name: "Ada".to_owned(),
        address: Some("192.0.2.7".to_owned()),
    };
    store.withdraw(&id("cuda/a"), &person, at(9)).await.unwrap();
    store.withdraw(&id("cuda/a"), &person, at(9)).await.unwrap();
    let entries = all(store.as_ref()).await;
    let told: Vec<_> = entries
        .iter()
        .map(|entry| {
            let number = |revision: Option<Revision>| revision.map(|revision| revision.0);
            assert_eq!(entry.subject, "cuda/a");
            (
                entry.n,
                entry.action.as_str(),
                number(entry.from_revision),
                number(entry.to_revision),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (1, "record.save", None, Some(1)),
            (2, "record.save", Some(1), Some(2)),
            (3, "record.publish", None, Some(1)),
            (4, "record.publish", Some(1), Some(2)),
            (5, "record.withdraw", Some(2), None),
        ]
    );
    assert_eq!(entries[4].by, person);
    assert_eq!(entries[4].at, at(9));
    assert_eq!(entries[4].detail, json!({ "seq": 3 }));
    let of_revisions = AuditQuery {
        action: Some("record.save".to_owned()),
        revisions: Some((Revision(2), Revision(9))),
        limit: 9,
        ..AuditQuery::default()
    };
    assert_eq!(store.audit(&of_revisions).await.unwrap(), entries[1..2]);
}

pub(crate) async fn what_happens_to_a_token_is_noted_with_it(place: Arc<Place>) {
    let store = place.store().await;
    let token = NewToken {
        id: "t1".to_owned(),
        secret_sha256: format!("{:064x}", 7),
        name: "ci".to_owned(),
        scopes: vec![Scope::Edit, Scope::Publish],
        created_at: at(1),
        expires_at: None,
        bounds: Bounds::default(),
        person: None,
    };
    store.create_token(token, &By::command_line()).await.unwrap();
    for _ in 0..2 {
        let by = By::command_line();
        assert!(store.revoke_token("t1", &by, at(2)).await.unwrap());
    }
    let entries = all(store.as_ref()).await;
    let told: Vec<_> = entries
        .iter()
        .map(|entry| (entry.action.as_str(), entry.subject.as_str()))
        .collect();
    assert_eq!(told, [("token.create", "t1"), ("token.revoke", "t1")]);
    let secret = format!("{:064x}", 7);
    assert!(!entries[0].detail.to_string().contains(&secret));
    assert_eq!(
        entries[0].detail,
        json!({ "name": "ci", "scopes": ["edit", "publish"] })
    );
}

pub(crate) async fn the_audit_is_narrowed_and_comes_in_pages(place: Arc<Place>) {
    let store = place.store().await;
    for (name, action, subject) in [
        ("ada", "record.save", "cuda/a"),
        ("bob", "record.save", "cuda/b"),
        ("ada", "record.publish", "cuda/a"),
        ("ada", "login", "ada"),
        ("bob", "login.failed", "ada"),
    ] {
        let entry = NewAudit::new(action, subject, &By::system(name), at(1));
        store.note(entry).await.unwrap();
    }
    let found = |query: AuditQuery| {
        let store = Arc::clone(&store);
        async move {
            let entries = store.audit(&query).await.unwrap();
            entries.iter().map(|entry| entry.n).collect::<Vec<_>>()
        }
    };
    let query = || AuditQuery {
        limit: 100,
        ..AuditQuery::default()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(found(query()).await, [5, 4, 3, 2, 1]);
    let page = AuditQuery {
        before: Some(4),
        limit: 2,
        ..query()
    };
    assert_eq!(found(page).await, [3, 2]);
    let actor = some("ada");
    assert_eq!(found(AuditQuery { actor, ..query() }).await, [4, 3, 1]);
    for (action, expected) in [
        ("record", vec![3, 2, 1]),
        ("record.save", vec![2, 1]),
        ("login", vec![5, 4]),
        ("rec", vec![]),
    ] {
        let action = some(action);
        assert_eq!(found(AuditQuery { action, ..query() }).await, expected);
    }
    let (actor, subject) = (some("ada"), some("cuda/a"));
    let both = AuditQuery {
        actor,
        subject,
        ..query()
    };
    assert_eq!(found(both).await, [3, 1]);
}

pub(crate) async fn rows_are_counted_without_gaps_however_many_write(place: Arc<Place>) {
    let store = place.store().await;
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let entry = NewAudit::new("login", format!("p{number}"), &By::system("x"), at(1));
                store.note(entry).await.unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let numbers: Vec<_> = all(store.as_ref()).await.iter().map(|entry| entry.n).collect();
    assert_eq!(numbers, (1..=20).collect::<Vec<i64>>());
}

pub(crate) async fn the_audit_cannot_be_changed_in_the_database(place: Arc<Place>) {
    let store = place.store().await;
    let entry = NewAudit::new("login", "ada", &By::system("x"), at(1));
    store.note(entry).await.unwrap();
    for sql in ["UPDATE audit SET actor_name = 'eve'", "DELETE FROM audit"] {
        let refused = match place.engine {
            Engine::Sqlite => {
                let mut raw = sqlx::SqliteConnection::connect(&place.url).await.unwrap();
                raw.execute(sql).await.unwrap_err()
            }
            Engine::Postgres => {
                let mut raw = sqlx::PgConnection::connect(&place.url).await.unwrap();
                raw.execute("TRUNCATE audit").await.unwrap_err();
                raw.execute(sql).await.unwrap_err()
            }
        };
        assert!(refused.to_string().contains("the audit is never"), "{refused}");
    }
    assert_eq!(all(store.as_ref()).await.len(), 1);
}
