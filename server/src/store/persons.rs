//! People: how they log in, and what role they have.

use std::fmt::Debug;

use async_trait::async_trait;
use time::OffsetDateTime;

use super::{By, StoreError};

/// People, by id and by login. Whatever changes what a person may do ends the person's sessions in the same transaction.
#[async_trait]
pub trait PersonStore: Send + Sync + Debug {
    /// False where another person has the login, or the subject at the provider.
    async fn create_person(&self, person: NewPerson, by: &By) -> Result<bool, StoreError>;

    /// Makes the first person, who is an administrator. The key is used up.
    async fn create_first_admin(
        &self,
        key_sha256: &str,
        person: NewPerson,
        by: &By,
    ) -> Result<FirstAdmin, StoreError>;

    /// Keeps the hash of a key for [`PersonStore::create_first_admin`]; false where there are people already.
    async fn offer_first_admin(
        &self,
        key_sha256: &str,
        ends_at: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;

    async fn is_first_admin_key(&self, key_sha256: &str, now: OffsetDateTime) -> Result<bool, StoreError>;

    async fn person(&self, id: &str) -> Result<Option<Person>, StoreError>;

    /// Whatever the case of the letters.
    async fn person_by_login(&self, login: &str) -> Result<Option<Person>, StoreError>;

    async fn person_by_subject(&self, issuer: &str, subject: &str) -> Result<Option<Person>, StoreError>;

    /// All people, by login.
    async fn persons(&self) -> Result<Vec<Person>, StoreError>;

    /// Gives a person another role, and ends the sessions.
    async fn set_role(
        &self,
        id: &str,
        standing: Standing,
        by: &By,
        at: OffsetDateTime,
    ) -> Result<PersonChange, StoreError>;

    /// Shuts a person out, tokens too, or lets in again. Ends the sessions.
    async fn set_disabled(
        &self,
        id: &str,
        disabled: bool,
        by: &By,
        at: OffsetDateTime,
    ) -> Result<PersonChange, StoreError>;

    /// Sets another password, and ends the sessions.
    async fn set_password(
        &self,
        id: &str,
        hash: &str,
        by: &By,
        at: OffsetDateTime,
    ) -> Result<PersonChange, StoreError>;
}

/// What a person may do with records. Each role may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Viewer,
    Contributor,
    Editor,
    Admin,
}

impl Role {
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Contributor, Self::Editor, Self::Admin];

    /// The word that the database, the command line and the API use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Contributor => "contributor",
            Self::Editor => "editor",
            Self::Admin => "admin",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }
}

/// A role, and beside it whether a person runs nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub role: Role,
    pub operator: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPerson {
    pub id: String,
    pub login: String,
    pub name: String,
    pub standing: Standing,
    /// Absent where the person logs in elsewhere.
    pub password_hash: Option<String>,
    /// Issuer and subject of OpenID Connect.
    pub subject: Option<(String, String)>,
    pub created_at: OffsetDateTime,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub id: String,
    pub login: String,
    pub name: String,
    pub standing: Standing,
    pub password_hash: Option<String>,
    pub subject: Option<(String, String)>,
    pub created_at: OffsetDateTime,
    pub disabled_at: Option<OffsetDateTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonChange {
    Changed,
    /// It was so already; nothing written.
    Unchanged,
    NoPerson,
    /// Nobody would be left who may administer.
    LastAdmin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstAdmin {
    Made,
    /// No such key, or its time is over.
    NoKey,
    /// Somebody was faster.
    Late,
}

/// A login as it is compared.
pub fn fold_login(login: &str) -> String {
    login.to_lowercase()
}
