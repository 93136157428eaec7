//! API tokens.

use std::sync::Arc;

use peerless::store::{NewToken, Scope};

use crate::support::{Place, at};

fn token(id: &str) -> NewToken {
    NewToken {
        id: id.to_owned(),
        secret_sha256: format!("{:064x}", 7),
        name: "ci".to_owned(),
        scopes: vec![Scope::Report, Scope::Edit],
        created_at: at(1),
        expires_at: Some(at(100)),
    }
}

pub(crate) async fn tokens_are_kept_and_revoked_once(place: Arc<Place>) {
    let store = place.store().await;
    let eternal = NewToken {
        expires_at: None,
        scopes: Scope::ALL.into(),
        ..token("b")
    };
    store.create_token(token("a")).await.unwrap();
    store.create_token(eternal.clone()).await.unwrap();
    let kept = store.token("a").await.unwrap().unwrap();
    assert_eq!((kept.token, kept.revoked_at), (token("a"), None));
    assert_eq!(store.token("b").await.unwrap().unwrap().token, eternal);
    assert_eq!(store.token("c").await.unwrap(), None);

    assert!(store.revoke_token("a", at(5)).await.unwrap());
    assert!(store.revoke_token("a", at(6)).await.unwrap());
    assert!(!store.revoke_token("c", at(6)).await.unwrap());
    let all = store.tokens().await.unwrap();
    let seen: Vec<_> = all
        .iter()
        .map(|token| (token.token.id.as_str(), token.revoked_at))
        .collect();
    assert_eq!(seen, [("a", Some(at(5))), ("b", None)]);
}

pub(crate) async fn a_token_id_is_used_once(place: Arc<Place>) {
    let store = place.store().await;
    store.create_token(token("a")).await.unwrap();
    let other = NewToken {
        secret_sha256: format!("{:064x}", 8),
        ..token("a")
    };
    store.create_token(other).await.unwrap_err();
    assert_eq!(store.token("a").await.unwrap().unwrap().token, token("a"));
}
