//! Outcomes: what came of trying what a record advises.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{RecordId, Revision};
use time::OffsetDateTime;

use super::StoreError;

#[async_trait]
pub trait OutcomeStore: Send + Sync + Debug {
    /// Keeps a vote. A reporter has one for each action and environment, and may change it.
    async fn save_outcome(&self, outcome: NewOutcome) -> Result<OutcomeSaved, StoreError>;

    /// Votes on a record, by action and environment.
    async fn outcomes(&self, id: &RecordId) -> Result<Vec<OutcomeCount>, StoreError>;
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

/// A vote. The action is named by its text, for its place in the record may change with the next revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOutcome {
    pub record: RecordId,
    pub revision: Revision,
    pub kind: ActionKind,
    pub action: String,
    /// Where it was tried: a JSON object with its keys in order, so that equal ones are equal texts.
    pub environment: String,
    /// The GPU model of it in lower case; empty where none was told. A reporter has one vote for an action and a model.
    pub model: String,
    pub reporter: String,
    pub worked: bool,
    pub at: OffsetDateTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeSaved {
    /// The reporter's first on this action and model.
    Added,
    /// The reporter had said otherwise; this counts now.
    Changed,
    Unchanged,
    /// The reporter has voted on the action for as many models as count; nothing was kept.
    TooManyModels,
}

/// Votes on one action in one environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeCount {
    pub kind: ActionKind,
    pub action: String,
    pub environment: String,
    pub worked: u64,
    pub failed: u64,
}
