//! Reviews of revisions, and comments on the fields of a record.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{RecordId, Revision};
use kb_core::text::Part;
use time::OffsetDateTime;

use super::{By, StoreError};

#[async_trait]
pub trait ReviewStore: Send + Sync + Debug {
    /// Asks for a review. A record has one open review: one that asks the same of the same revision with the same note, or is asked again
    /// without a note, stays as it is. One that is named to give way is withdrawn, and so is one that asks to publish another revision than
    /// the new one does. Any other is refused. What readers see is not asked to be published, and nothing else to be withdrawn.
    ///
    /// Publishing a revision approves the open review that asks for it, and withdrawing the record the one that asks for that,
    /// in one transaction. What another revision that readers see leaves nothing to decide of ends.
    async fn ask_review(&self, ask: NewReview) -> Result<Review, StoreError>;

    /// Ends an open review without doing what it asks; false where it is not open.
    async fn end_review(&self, end: EndReview) -> Result<bool, StoreError>;

    /// Reviews of a record, the newest first.
    async fn reviews(&self, id: &RecordId, limit: u32) -> Result<Vec<Review>, StoreError>;

    /// Open reviews of all records, the one that waits longest first.
    async fn open_reviews(&self, limit: u32) -> Result<Vec<Review>, StoreError>;

    /// Adds a comment; its number. `None` where the record has as many as it may.
    async fn add_comment(&self, comment: NewComment) -> Result<Option<u32>, StoreError>;

    /// Marks a comment as done; false where there is none, or it is done already.
    async fn resolve_comment(
        &self,
        id: &RecordId,
        n: u32,
        by: &By,
        at: OffsetDateTime,
    ) -> Result<bool, StoreError>;

    /// Comments on a record, in the order in which they were made.
    async fn comments(&self, id: &RecordId) -> Result<Vec<Comment>, StoreError>;
}

pub const MAX_COMMENTS: u32 = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asks {
    Publish,
    /// That the record is withdrawn; readers see the revision.
    Withdraw {
        /// The record that says it better.
        replaced_by: Option<RecordId>,
    },
    /// That the record is merged into another one; readers see the revision.
    Merge {
        /// The record that stays.
        into: RecordId,
    },
}

impl Asks {
    /// The word that the database uses.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Withdraw { .. } => "withdraw",
            Self::Merge { .. } => "merge",
        }
    }

    /// Whether readers lose the record, as it is or to another one.
    pub fn is_withdrawal(&self) -> bool {
        matches!(self, Self::Withdraw { .. } | Self::Merge { .. })
    }

    pub fn replaced_by(&self) -> Option<&RecordId> {
        match self {
            Self::Publish => None,
            Self::Withdraw { replaced_by } => replaced_by.as_ref(),
            Self::Merge { into } => Some(into),
        }
    }
}

#[derive(Debug, Clone)]
pub struct NewReview {
    pub record: RecordId,
    pub revision: Revision,
    pub asks: Asks,
    /// Number of an open review that gives way to this one; whoever asks asked for it, too.
    pub gives_way: Option<u32>,
    pub by: By,
    /// What to look at; empty where nothing was said.
    pub note: Option<String>,
    pub at: OffsetDateTime,
}

#[derive(Debug, Clone)]
pub struct EndReview {
    pub record: RecordId,
    pub n: u32,
    pub revision: Revision,
    /// Sent back or withdrawn.
    pub state: ReviewState,
    pub by: By,
    pub reason: String,
    pub at: OffsetDateTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewState {
    Open,
    /// The revision was published.
    Approved,
    SentBack,
    /// Taken back by who asked, or another revision took its place.
    Withdrawn,
}

impl ReviewState {
    pub const ALL: [Self; 4] = [Self::Open, Self::Approved, Self::SentBack, Self::Withdrawn];

    /// The word that the database and the API use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::SentBack => "sent_back",
            Self::Withdrawn => "withdrawn",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    pub record: RecordId,
    /// Counted from 1 for each record.
    pub n: u32,
    pub revision: Revision,
    pub state: ReviewState,
    pub asks: Asks,
    pub asked_by: By,
    pub asked_at: OffsetDateTime,
    pub note: Option<String>,
    pub decided: Option<Decision>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub by: String,
    pub at: OffsetDateTime,
    pub reason: Option<String>,
}

#[derive(Debug, Clone)]
pub struct NewComment {
    pub record: RecordId,
    pub revision: Revision,
    pub part: Part,
    /// Pointer to the field; empty for the whole text.
    pub pointer: String,
    pub by: By,
    pub body: String,
    pub at: OffsetDateTime,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Counted from 1 for each record.
    pub n: u32,
    pub revision: Revision,
    pub part: Part,
    pub pointer: String,
    pub author: String,
    pub body: String,
    pub at: OffsetDateTime,
    /// Who marked it as done, and when.
    pub resolved: Option<(String, OffsetDateTime)>,
}
