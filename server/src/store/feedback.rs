//! Feedback that editors are to read: suggestions of corrections, and votes that count in no share.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{RecordId, Revision};
use time::OffsetDateTime;

use super::{AnonymousKept, By, NewAnonymous, StoreError, Voter};

/// The queue of feedback. Entries are counted from 1.
#[async_trait]
pub trait FeedbackStore: Send + Sync + Debug {
    /// Puts an entry into the queue; what is written without a login stands in the room of anonymous writing. A vote takes the
    /// place of one that its voter cast before on the same topic and that still waits.
    async fn add_feedback(&self, feedback: NewFeedback) -> Result<FeedbackAdded, StoreError>;

    /// Entries in a state, the newest first, from before an entry.
    async fn feedback(
        &self,
        state: FeedbackState,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Feedback>, StoreError>;

    async fn decide_feedback(&self, decision: DecideFeedback) -> Result<FeedbackDecided, StoreError>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedbackDecided {
    Done,
    /// Somebody was faster.
    Before,
    /// There is no such entry, or none any more.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedbackKind {
    Suggestion,
    Vote,
}

impl FeedbackKind {
    pub const ALL: [Self; 2] = [Self::Suggestion, Self::Vote];

    /// The word that the database and the API use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Suggestion => "suggestion",
            Self::Vote => "vote",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedbackState {
    Waiting,
    Taken,
    Ignored,
}

impl FeedbackState {
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Taken, Self::Ignored];

    /// The word that the database and the API use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Taken => "taken",
            Self::Ignored => "ignored",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

#[derive(Debug, Clone)]
pub enum FeedbackBody {
    Known(String),
    /// In the room of anonymous writing.
    Anonymous(NewAnonymous),
}

#[derive(Debug, Clone)]
pub struct NewFeedback {
    pub kind: FeedbackKind,
    pub record: RecordId,
    pub revision: Revision,
    pub from: Voter,
    /// Name of whoever it is from, as readers see it.
    pub name: String,
    /// What a second vote of the same voter takes the place of; empty of suggestions.
    pub topic: String,
    /// JSON.
    pub body: FeedbackBody,
    pub at: OffsetDateTime,
    /// Most entries of one known voter that wait.
    pub most_waiting: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedbackAdded {
    Added(i64),
    /// The same, in the room of anonymous writing, or refused there.
    Anonymous(AnonymousKept),
    /// As many entries of this voter wait as may; nothing was kept.
    TooManyWait,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    pub n: i64,
    pub kind: FeedbackKind,
    pub record: RecordId,
    pub revision: Revision,
    pub from: Voter,
    pub name: String,
    pub body: String,
    pub at: OffsetDateTime,
    pub state: FeedbackState,
    pub decided: Option<(String, OffsetDateTime, String)>,
}

#[derive(Debug, Clone)]
pub struct DecideFeedback {
    pub n: i64,
    pub state: FeedbackState,
    pub by: By,
    pub reason: String,
    pub at: OffsetDateTime,
}
