//! Lines that look like errors and that no record knows, as templates.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::RecordId;
use time::OffsetDateTime;

use super::{By, StoreError};

/// Templates that are kept, at most.
pub const MOST_UNMATCHED: u32 = 2_000;
pub const MOST_UNMATCHED_EXAMPLES: usize = 5;
/// Days for which nodes are counted. A template not seen for so long is dropped, unless it is open and has an owner.
pub const UNMATCHED_DAYS: i64 = 90;

#[async_trait]
pub trait UnmatchedStore: Send + Sync + Debug {
    /// Counts lines. Where [`MOST_UNMATCHED`] templates are kept, a new one takes the place of the one of the fewest lines that
    /// nobody took up. How many were lost by that, old or new.
    async fn note_unmatched(&self, seen: &[UnmatchedSeen], at: OffsetDateTime) -> Result<u64, StoreError>;

    /// Every template with its tokens, the one that was seen first first.
    async fn unmatched_tokens(&self) -> Result<Vec<(String, Vec<String>)>, StoreError>;

    async fn unmatched(&self, query: &UnmatchedQuery) -> Result<Vec<Unmatched>, StoreError>;

    async fn unmatched_one(&self, id: &str) -> Result<Option<UnmatchedHistory>, StoreError>;

    async fn change_unmatched(&self, change: UnmatchedChange) -> Result<UnmatchedChanged, StoreError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmatchedSeen {
    /// 16 hexadecimal digits.
    pub id: String,
    pub tokens: Vec<String>,
    /// Whether the template has become more general, so that its tokens are others than those that are kept.
    pub is_wider: bool,
    /// Redacted.
    pub examples: Vec<String>,
    /// Where they stood; empty for pasted texts.
    pub node: String,
    pub count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnmatchedState {
    Open,
    Ignored,
    Known,
}

impl UnmatchedState {
    pub const ALL: [Self; 3] = [Self::Open, Self::Ignored, Self::Known];

    /// The word that the database and the API use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ignored => "ignored",
            Self::Known => "known",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmatched {
    pub id: String,
    /// The template as a text; what varies stands in `<>`.
    pub template: String,
    pub examples: Vec<String>,
    pub count: u64,
    /// Nodes on which it was seen lately.
    pub nodes: u64,
    pub first_seen: OffsetDateTime,
    pub last_seen: OffsetDateTime,
    pub state: UnmatchedState,
    pub assignee: Option<String>,
    pub reason: Option<String>,
    pub record: Option<RecordId>,
    pub changed_by: Option<String>,
    pub changed_at: Option<OffsetDateTime>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmatchedHistory {
    pub unmatched: Unmatched,
    /// Lines by day (`2026-11-28`), the newest first.
    pub by_day: Vec<(String, u64)>,
    /// Lines by node, the most first; the name is empty for pasted texts and for nodes beyond those that are counted.
    pub by_node: Vec<(String, u64)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnmatchedOrder {
    #[default]
    Count,
    Nodes,
    LastSeen,
}

#[derive(Debug, Clone, Default)]
pub struct UnmatchedQuery {
    pub state: Option<UnmatchedState>,
    /// Only what this person has taken on.
    pub assignee: Option<String>,
    pub node: Option<String>,
    /// Only templates that hold this text, in whatever case.
    pub text: Option<String>,
    pub order: UnmatchedOrder,
    pub skip: u32,
    pub limit: u32,
}

#[derive(Debug, Clone)]
pub struct UnmatchedChange {
    pub id: String,
    pub step: UnmatchedStep,
    pub by: By,
    pub at: OffsetDateTime,
    pub since: UnmatchedSince,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnmatchedSince {
    Whatever,
    /// Nothing since it was shown, when it had been changed at this time or never.
    Nothing(Option<OffsetDateTime>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnmatchedChanged {
    Done,
    Nothing,
    /// Somebody of this name has changed it since it was shown.
    Before(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnmatchedStep {
    /// To somebody, or to nobody again.
    Assign(Option<String>),
    Ignore(String),
    KnownAs(RecordId),
    Reopen,
}
