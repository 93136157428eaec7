//! Outcomes: what came of trying what a record advises.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{RecordId, Revision};
use time::OffsetDateTime;

use super::StoreError;

/// Votes on what records advise.
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
    /// `workarounds`.
    Workaround,
    /// `dead_ends`.
    DeadEnd,
}

impl ActionKind {
    /// The word that the database uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Workaround => "workaround",
            Self::DeadEnd => "dead_end",
        }
    }

    /// The kind that a word names.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Workaround, Self::DeadEnd]
            .into_iter()
            .find(|kind| kind.as_str() == word)
    }
}

/// A vote. The action is named by its text, for its place in the record may change with the next revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOutcome {
    /// The record.
    pub record: RecordId,
    /// The revision that was followed.
    pub revision: Revision,
    /// Which list the action stands in.
    pub kind: ActionKind,
    /// The action's text in that revision.
    pub action: String,
    /// Where it was tried: a JSON object with its keys in order, so that equal ones are equal texts.
    pub environment: String,
    /// The GPU model of it in lower case; empty where none was told. A reporter has one vote for an action and a model.
    pub model: String,
    /// Public part of the voter's token.
    pub reporter: String,
    /// Whether it helped.
    pub worked: bool,
    /// When it was reported.
    pub at: OffsetDateTime,
}

/// What became of a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeSaved {
    /// The reporter's first on this action and model.
    Added,
    /// The reporter had said otherwise; this counts now.
    Changed,
    /// The reporter had said the same.
    Unchanged,
    /// The reporter has voted on the action for as many models as count; nothing was kept.
    TooManyModels,
}

/// Votes on one action in one environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeCount {
    /// Which list the action stands in.
    pub kind: ActionKind,
    /// The action's text.
    pub action: String,
    /// The environment, as in [`NewOutcome`].
    pub environment: String,
    /// Votes that it helped.
    pub worked: u64,
    /// Votes that it did not.
    pub failed: u64,
}
