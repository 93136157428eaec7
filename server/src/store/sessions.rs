//! Sessions of people in browsers.

use std::fmt::Debug;

use async_trait::async_trait;
use time::OffsetDateTime;

use super::{By, Person, Standing, StoreError};

/// Sessions, by the hash of their secret.
#[async_trait]
pub trait SessionStore: Send + Sync + Debug {
    /// Keeps a new session; ends the browser's former one, and forgets the person's expired ones. `action` is for the audit.
    async fn start_session(
        &self,
        session: NewSession,
        instead_of: Option<&str>,
        (by, action): (&By, &'static str),
    ) -> Result<(), StoreError>;

    /// A session that is not over, of a person who may log in and has the role that the session was made with.
    async fn session(&self, id: &str, now: OffsetDateTime) -> Result<Option<LiveSession>, StoreError>;

    /// Puts off the end of an idle session.
    async fn touch_session(
        &self,
        id: &str,
        now: OffsetDateTime,
        idle_ends_at: OffsetDateTime,
    ) -> Result<(), StoreError>;

    /// The sessions of a person that are not over, the newest first.
    async fn sessions_of(&self, person: &str, now: OffsetDateTime) -> Result<Vec<NewSession>, StoreError>;

    /// Ends a session of a person; false where there is none.
    async fn end_session(
        &self,
        person: &str,
        id: &str,
        (by, action): (&By, &'static str),
        at: OffsetDateTime,
    ) -> Result<bool, StoreError>;

    /// Ends all sessions of a person; how many.
    async fn end_sessions(&self, person: &str, by: &By, at: OffsetDateTime) -> Result<u64, StoreError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// SHA-256 of the secret, hex.
    pub id: String,
    pub person: String,
    /// Secret that proves a form to be of this session, hex.
    pub csrf: String,
    pub standing: Standing,
    pub made_at: OffsetDateTime,
    pub seen_at: OffsetDateTime,
    pub idle_ends_at: OffsetDateTime,
    pub ends_at: OffsetDateTime,
    pub address: Option<String>,
    pub user_agent: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSession {
    pub session: NewSession,
    pub person: Person,
}
