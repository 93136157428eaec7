//! API tokens: `prl_<id>_<secret>`. The id finds the token, the secret proves it. Only the secret's SHA-256 is
//! kept: it has 256 random bits, so a slow hash would add nothing but load.

use std::net::IpAddr;

use kb_core::ids::NodeId;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;
use time::OffsetDateTime;

use super::accounts::roles;
use crate::clock::{Random, RandomError};
use crate::store::{ActorKind, Bounds, By, NewToken, Scope, StoreError, StoredToken, TokenStore};

/// Every token begins with it, so that secret scanners can find one that leaked.
pub const PREFIX: &str = "prl";

/// Random bytes of the public part.
const ID_BYTES: usize = 8;
const SECRET_BYTES: usize = 32;

/// Who acts: somebody who is logged in, or the holder of a token that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub who: Who,
    pub name: String,
    /// What it may do now: of a token with an owner, what the owner may.
    pub scopes: Vec<Scope>,
    /// The only node that it may write; any where it is not said.
    pub node: Option<NodeId>,
    /// Where it comes from, where it comes over the network.
    pub address: Option<IpAddr>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// Somebody who is logged in.
    Person { id: String },
    Token {
        id: String,
        /// The person whose it is; the system's where nobody is said.
        owner: Option<String>,
    },
    /// The program itself.
    System,
}

impl Actor {
    /// True when the token was given `scope`, or `admin`.
    pub fn may(&self, scope: Scope) -> bool {
        roles::allow(&self.scopes, scope)
    }

    pub fn token(&self) -> Option<&str> {
        match &self.who {
            Who::Token { id, .. } => Some(id),
            Who::Person { .. } | Who::System => None,
        }
    }

    pub fn person(&self) -> Option<&str> {
        match &self.who {
            Who::Person { id } => Some(id),
            Who::Token { owner, .. } => owner.as_deref(),
            Who::System => None,
        }
    }

    pub fn by(&self) -> By {
        let (kind, id) = match &self.who {
            Who::Person { id } => (ActorKind::Person, id.as_str()),
            Who::Token { id, .. } => (ActorKind::Token, id.as_str()),
            Who::System => (ActorKind::System, self.name.as_str()),
        };
        By {
            kind,
            id: id.to_owned(),
            name: self.name.clone(),
            address: self.address.map(|address| address.to_string()),
        }
    }
}

/// Why a token is not accepted. Never says which part was wrong.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Not of the form, not known, or another secret.
    #[error("the token is not known")]
    Unknown,
    #[error("the token {id} expired at {at}")]
    Expired { id: String, at: OffsetDateTime },
    #[error("the owner of the token {id} may not log in")]
    OwnerDisabled { id: String },
    #[error("the token {id} was revoked at {at}")]
    Revoked { id: String, at: OffsetDateTime },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A token that was just made. The secret is shown once and kept nowhere.
pub struct IssuedToken {
    pub text: String,
    pub token: NewToken,
}

#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub name: String,
    pub scopes: Vec<Scope>,
    pub expires_at: Option<OffsetDateTime>,
    pub bounds: Bounds,
    /// Id of the person whose it will be; the system's where nobody is said.
    pub person: Option<String>,
}

pub async fn issue(
    store: &dyn TokenStore,
    random: &dyn Random,
    wanted: Wanted,
    by: &By,
    now: OffsetDateTime,
) -> Result<IssuedToken, IssueError> {
    let times = (now, wanted.expires_at);
    let mut issued = draw(random, &wanted.name, wanted.scopes, times, wanted.bounds)?;
    issued.token.person = wanted.person;
    store.create_token(issued.token.clone(), by).await?;
    Ok(issued)
}

/// Takes a token back; false where there is none.
pub async fn revoke(
    store: &dyn TokenStore,
    id: &str,
    by: &By,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    store.revoke_token(id, by, now).await
}

pub(super) fn draw(
    random: &dyn Random,
    name: &str,
    scopes: Vec<Scope>,
    (created_at, expires_at): (OffsetDateTime, Option<OffsetDateTime>),
    bounds: Bounds,
) -> Result<IssuedToken, RandomError> {
    let mut id_bytes = [0; ID_BYTES];
    let mut secret_bytes = [0; SECRET_BYTES];
    random.fill(&mut id_bytes)?;
    random.fill(&mut secret_bytes)?;
    let id = hex::encode(id_bytes);
    let secret = hex::encode(secret_bytes);
    let token = NewToken {
        id: id.clone(),
        secret_sha256: hash(&secret),
        name: name.to_owned(),
        scopes,
        created_at,
        expires_at,
        bounds,
        person: None,
    };
    let text = format!("{PREFIX}_{id}_{secret}");
    Ok(IssuedToken { text, token })
}

pub async fn authenticate(
    store: &dyn TokenStore,
    text: &str,
    now: OffsetDateTime,
) -> Result<Actor, TokenError> {
    let (id, secret) = split(text).ok_or(TokenError::Unknown)?;
    let stored = store.token(id).await?.ok_or(TokenError::Unknown)?;
    let (kept, shown) = (&stored.token.secret_sha256, hash(secret));
    // How long it takes says nothing of how much agrees.
    if !bool::from(kept.as_bytes().ct_eq(shown.as_bytes())) {
        return Err(TokenError::Unknown);
    }
    check_validity(&stored, now)?;
    let scopes = match &stored.owner {
        Some(owner) => roles::within(stored.token.scopes, owner.standing),
        None => stored.token.scopes,
    };
    Ok(Actor {
        who: Who::Token {
            id: stored.token.id,
            owner: stored.token.person,
        },
        name: stored.token.name,
        scopes,
        node: stored.token.bounds.node,
        address: None,
    })
}

fn check_validity(stored: &StoredToken, now: OffsetDateTime) -> Result<(), TokenError> {
    let id = || stored.token.id.clone();
    if let Some(at) = stored.revoked_at {
        return Err(TokenError::Revoked { id: id(), at });
    }
    if stored.owner.is_some_and(|owner| owner.disabled) {
        return Err(TokenError::OwnerDisabled { id: id() });
    }
    match stored.token.expires_at {
        Some(at) if at <= now => Err(TokenError::Expired { id: id(), at }),
        _ => Ok(()),
    }
}

fn split(text: &str) -> Option<(&str, &str)> {
    let (id, secret) = text.strip_prefix(PREFIX)?.strip_prefix('_')?.split_once('_')?;
    let well_formed = id.len() == 2 * ID_BYTES
        && secret.len() == 2 * SECRET_BYTES
        && id
            .bytes()
            .chain(secret.bytes())
            .all(|byte| byte.is_ascii_hexdigit());
    well_formed.then_some((id, secret))
}

pub(super) fn hash(secret: &str) -> String {
    hex::encode(Sha256::digest(secret.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_tokens_are_split() {
        let id = "0123456789abcdef";
        let secret = "ab".repeat(SECRET_BYTES);
        assert_eq!(split(&format!("prl_{id}_{secret}")), Some((id, secret.as_str())));
        for bad in [
            String::new(),
            "prl".to_owned(),
            format!("prl_{id}"),
            format!("prl_{id}_"),
            format!("prl_{id}_{secret}0"),
            format!("xyz_{id}_{secret}"),
            format!("prl_{id}_{}", secret.replace('a', "é")),
        ] {
            assert_eq!(split(&bad), None, "{bad:?}");
        }
    }
}
