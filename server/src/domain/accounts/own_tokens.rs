//! Tokens that people make for themselves: never with more than their role.

use time::{Duration, OffsetDateTime};

use super::roles;
use crate::clock::Random;
use crate::domain::join_tokens::parse_name;
use crate::domain::tokens::{self, IssueError, IssuedToken};
use crate::store::{By, Person, Scope, Standing, StoreError, TokenStore};

/// Tokens that one person may have that are good at the same time.
pub const MOST: usize = 50;
/// Longest time that such a token is good, in days.
pub const LONGEST_DAYS: i64 = 366;

#[derive(Debug, thiserror::Error)]
pub enum OwnTokenError {
    #[error("a name has 1 to 100 characters, all in one line")]
    Name,
    #[error("choose what the token may do")]
    NoScope,
    #[error("your role does not have the scope {:?}", .0.as_str())]
    NotYours(Scope),
    #[error("a token is good for 1 to {LONGEST_DAYS} days")]
    Days,
    #[error("you have {MOST} tokens that are good: revoke some")]
    TooMany,
    #[error(transparent)]
    Issue(#[from] IssueError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub fn grantable(standing: Standing) -> Vec<Scope> {
    let held = roles::scopes(standing);
    let all = Scope::ALL.into_iter();
    all.filter(|scope| roles::allow(&held, *scope)).collect()
}

pub async fn make(
    store: &dyn TokenStore,
    random: &dyn Random,
    person: &Person,
    (name, scopes, days): (&str, Vec<Scope>, i64),
    by: &By,
    now: OffsetDateTime,
) -> Result<IssuedToken, OwnTokenError> {
    let name = parse_name(name).map_err(|_| OwnTokenError::Name)?;
    if scopes.is_empty() {
        return Err(OwnTokenError::NoScope);
    }
    let held = roles::scopes(person.standing);
    if let Some(scope) = scopes.iter().find(|scope| !roles::allow(&held, **scope)) {
        return Err(OwnTokenError::NotYours(*scope));
    }
    if !(1..=LONGEST_DAYS).contains(&days) {
        return Err(OwnTokenError::Days);
    }
    let own = store.tokens_of(&person.id).await?;
    let is_good = |token: &&crate::store::StoredToken| {
        token.revoked_at.is_none() && token.token.expires_at.is_none_or(|at| at > now)
    };
    if own.iter().filter(is_good).count() >= MOST {
        return Err(OwnTokenError::TooMany);
    }
    let wanted = tokens::Wanted {
        name,
        scopes,
        expires_at: Some(now + Duration::days(days)),
        person: Some(person.id.clone()),
        ..tokens::Wanted::default()
    };
    Ok(tokens::issue(store, random, wanted, by, now).await?)
}

/// Takes back a token of the person; false where the person has none with this id.
pub async fn revoke(
    store: &dyn TokenStore,
    person: &str,
    id: &str,
    by: &By,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    match store.token(id).await? {
        Some(token) if token.token.person.as_deref() == Some(person) => store.revoke_token(id, by, now).await,
        _ => Ok(false),
    }
}
