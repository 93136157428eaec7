//! API tokens: those of people and programs, join tokens, credentials of nodes.

use std::collections::BTreeMap;
use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::NodeId;
use time::OffsetDateTime;

use super::{By, Standing, StoreError};

#[async_trait]
pub trait TokenStore: Send + Sync + Debug {
    /// Keeps the hashes of tokens, all or none.
    async fn create_tokens(&self, tokens: Vec<NewToken>, by: &By) -> Result<(), StoreError>;

    async fn create_token(&self, token: NewToken, by: &By) -> Result<(), StoreError> {
        self.create_tokens(vec![token], by).await
    }

    /// Keeps the credential of a node, bound to node and machine, which the join token `with` gives it. One node has one
    /// credential: that of the same machine is revoked, and takes no use of the join token; that of another refuses it.
    async fn enrol_node(&self, with: &str, token: NewToken, by: &By) -> Result<Enrolled, StoreError>;

    async fn token(&self, id: &str) -> Result<Option<StoredToken>, StoreError>;

    /// All tokens, without hashes shown to anyone.
    async fn tokens(&self) -> Result<Vec<StoredToken>, StoreError>;

    /// Revokes; false when there is no such token.
    async fn revoke_token(&self, id: &str, by: &By, at: OffsetDateTime) -> Result<bool, StoreError>;

    /// The tokens of a person, the oldest first.
    async fn tokens_of(&self, person: &str) -> Result<Vec<StoredToken>, StoreError>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Edit,
    Publish,
    Report,
    /// Enrol nodes, which then upload reports of their own alone.
    Enrol,
    Fleet,
    Admin,
}

impl Scope {
    pub const ALL: [Self; 6] = [
        Self::Edit,
        Self::Publish,
        Self::Report,
        Self::Enrol,
        Self::Fleet,
        Self::Admin,
    ];

    /// The word that the database, the command line and the API use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Edit => "edit",
            Self::Publish => "publish",
            Self::Report => "report",
            Self::Enrol => "enrol",
            Self::Fleet => "fleet",
            Self::Admin => "admin",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// Public part, by which it is found.
    pub id: String,
    /// SHA-256 of the secret part, hex. The secret has 256 random bits, so a slow hash would add nothing.
    pub secret_sha256: String,
    pub name: String,
    pub scopes: Vec<Scope>,
    pub created_at: OffsetDateTime,
    pub expires_at: Option<OffsetDateTime>,
    pub bounds: Bounds,
    /// Id of the person whose it is; the system's where nobody is said.
    pub person: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The only node that it may write; any where it is not said.
    pub node: Option<NodeId>,
    /// Hash of the machine that enrolled with it, hex.
    pub machine_sha256: Option<String>,
    pub enrolled_by: Option<String>,
    /// Enrolments that are left; without end where it is not said.
    pub uses_left: Option<u32>,
    /// Of a join token: what it says of the nodes that enrol with it.
    pub labels: Labels,
    /// Of a join token: a node may enrol with it under an id whose credential another machine has. False of one without a number of uses
    /// or an end, whatever it was made with.
    pub adopts: bool,
}

/// Names with their values: `rack` is `r17`.
pub type Labels = BTreeMap<String, String>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enrolled {
    New,
    /// Reports of the node came before, from whoever wrote them; now it has a credential.
    Known,
    /// Another machine had the id; its credential is revoked now.
    Adopted,
    /// The same machine had one, which is revoked now.
    Again,
    /// Another machine holds the id; nothing was kept.
    Taken,
    /// The join token has no enrolment left; nothing was kept.
    UsedUp,
    /// The join token was revoked, or its time is over; nothing was kept.
    Over,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredToken {
    pub token: NewToken,
    /// What its owner may do; absent of a token of the system.
    pub owner: Option<Owner>,
    pub revoked_at: Option<OffsetDateTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    pub standing: Standing,
    /// The person may not log in, nor the token be used.
    pub disabled: bool,
}
