//! Outcomes: what came of trying what a record advises.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{RecordId, Revision};
use time::OffsetDateTime;

use super::StoreError;

#[async_trait]
pub trait OutcomeStore: Send + Sync + Debug {
    /// Keeps a vote. A voter has one for each action and GPU model, and may change it.
    async fn save_outcome(&self, outcome: NewOutcome) -> Result<OutcomeSaved, StoreError>;

    /// Votes on a record, the latest of each voter last.
    async fn votes(&self, id: &RecordId) -> Result<Vec<Vote>, StoreError>;

    /// Records with votes that were changed after a count, each once, and the count now.
    async fn voted_since(&self, seq: i64) -> Result<(Vec<RecordId>, i64), StoreError>;
}

/// Which list of a record an action stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionKind {
    Workaround,
    DeadEnd,
}

impl ActionKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Workaround => "workaround",
            Self::DeadEnd => "dead_end",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Workaround, Self::DeadEnd]
            .into_iter()
            .find(|kind| kind.as_str() == word)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VoteOutcome {
    Worked,
    DidNotHelp,
    /// It helped at first, and the error was there again within a week.
    CameBack,
}

impl VoteOutcome {
    pub const ALL: [Self; 3] = [Self::Worked, Self::DidNotHelp, Self::CameBack];

    /// The word that the database and the API use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Worked => "worked",
            Self::DidNotHelp => "did_not_help",
            Self::CameBack => "came_back",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VoterKind {
    /// Somebody with an account, by a session or by a token of their own.
    Person,
    /// A token without an owner.
    Token,
    /// Nobody knows who.
    Anonymous,
    /// A coding assistant, whoever it works for; the id is that of its token.
    Assistant,
}

impl VoterKind {
    pub const ALL: [Self; 4] = [Self::Person, Self::Token, Self::Anonymous, Self::Assistant];

    /// The word that the database and the API use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Token => "token",
            Self::Anonymous => "anonymous",
            Self::Assistant => "assistant",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Voter {
    pub kind: VoterKind,
    /// Id of the person or token; empty of an anonymous one.
    pub id: String,
}

/// A vote of a person or a token. The action is named by its text, for its place in the record may change with the next revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOutcome {
    pub record: RecordId,
    pub revision: Revision,
    pub kind: ActionKind,
    pub action: String,
    /// Where the action stood in the revision, from 0.
    pub position: u32,
    /// Where it was tried: a JSON object with its keys in order, so that equal ones are equal texts.
    pub environment: String,
    /// The GPU model of it in lower case; empty where none was told. A voter has one vote for an action and a model.
    pub model: String,
    /// The driver of it; empty where none was told.
    pub driver: String,
    pub voter: Voter,
    pub outcome: VoteOutcome,
    pub at: OffsetDateTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeSaved {
    /// The voter's first on this action and model.
    Added,
    /// The voter had said otherwise; this counts now.
    Changed,
    Unchanged,
    /// The voter has voted on the action for as many models as count; nothing was kept.
    TooManyModels,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    pub kind: ActionKind,
    pub action: String,
    pub model: String,
    pub driver: String,
    pub voter: Voter,
    pub outcome: VoteOutcome,
    pub at: OffsetDateTime,
}
