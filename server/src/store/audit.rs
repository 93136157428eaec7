//! The audit: who did what, when, from where. Rows are added in the transaction of what they tell of.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::Revision;
use serde_json::Value;
use time::OffsetDateTime;

use super::StoreError;

/// What was done, in the order in which it was committed.
#[async_trait]
pub trait AuditStore: Send + Sync + Debug {
    /// Adds a row that tells of nothing stored, such as a login that was refused.
    async fn note(&self, entry: NewAudit) -> Result<(), StoreError>;

    /// Rows, the newest first.
    async fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    pub kind: ActorKind,
    /// Id of the person or of the token; what part of the program it is, of the system.
    pub id: String,
    pub name: String,
    /// The address that it came from, where it came over the network.
    pub address: Option<String>,
}

impl By {
    /// A part of the program itself, or whoever runs it on the command line.
    pub fn system(name: &str) -> Self {
        Self {
            kind: ActorKind::System,
            id: name.to_owned(),
            name: name.to_owned(),
            address: None,
        }
    }

    pub fn command_line() -> Self {
        Self::system("command line")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorKind {
    Person,
    Token,
    System,
}

impl ActorKind {
    pub const ALL: [Self; 3] = [Self::Person, Self::Token, Self::System];

    /// The word that the database and the API use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Token => "token",
            Self::System => "system",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// All actions. `NewAudit::new` holds new ones against it in debug builds; a filter by any other is refused.
pub const AUDIT_ACTIONS: [&str; 35] = [
    "comment.add",
    "comment.resolve",
    "feedback.ignore",
    "feedback.take",
    "finding.acknowledge",
    "finding.own",
    "finding.release",
    "finding.silence",
    "login",
    "login.failed",
    "logout",
    "person.create",
    "person.disable",
    "person.enable",
    "person.password",
    "person.role",
    "record.import",
    "record.merge",
    "record.publish",
    "record.rename",
    "record.save",
    "record.split",
    "record.withdraw",
    "review.ask",
    "review.send_back",
    "review.withdraw",
    "session.end",
    "token.create",
    "token.enrol",
    "token.revoke",
    "unmatched.assign",
    "unmatched.ignore",
    "unmatched.known_as",
    "unmatched.reopen",
    "webhook.give_up",
];

#[derive(Debug, Clone)]
pub struct NewAudit {
    pub at: OffsetDateTime,
    pub by: By,
    /// What was done: `record.publish`.
    pub action: &'static str,
    /// What it was done to: the id of a record or token, a login.
    pub subject: String,
    pub revisions: (Option<Revision>, Option<Revision>),
    /// What else is worth telling, as an object.
    pub detail: Value,
}

impl NewAudit {
    pub fn new(action: &'static str, subject: impl Into<String>, by: &By, at: OffsetDateTime) -> Self {
        debug_assert!(
            AUDIT_ACTIONS.contains(&action),
            "{action} is not among AUDIT_ACTIONS"
        );
        Self {
            at,
            by: by.clone(),
            action,
            subject: subject.into(),
            revisions: (None, None),
            detail: Value::Object(serde_json::Map::new()),
        }
    }

    /// The revision before, and the one afterwards.
    #[must_use]
    pub fn revisions(mut self, from: Option<Revision>, to: Option<Revision>) -> Self {
        self.revisions = (from, to);
        self
    }

    #[must_use]
    pub fn detail(mut self, detail: Value) -> Self {
        self.detail = detail;
        self
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// Rows are counted from 1, without gaps.
    pub n: i64,
    pub at: OffsetDateTime,
    pub by: By,
    pub action: String,
    pub subject: String,
    pub from_revision: Option<Revision>,
    pub to_revision: Option<Revision>,
    pub detail: Value,
}

#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    /// Only rows of the actor with this id or name.
    pub actor: Option<String>,
    /// Only this action, or all of a kind: `record` means `record.publish` and the like.
    pub action: Option<String>,
    pub subject: Option<String>,
    /// Only rows with a revision afterwards from the first to the last of these.
    pub revisions: Option<(Revision, Revision)>,
    /// Only rows before this one.
    pub before: Option<i64>,
    pub limit: u32,
}
