//! Records that become another: merged into one that says the same, or given another id.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{RecordId, Revision};
use time::OffsetDateTime;

use super::{By, NewRevision, Published, StoreError};

/// Moves of records. The former id, and all former ids that led to it, lead to the other record from then on, in one step
/// however often it was moved; edges that name them end there. Votes go along.
#[async_trait]
pub trait MoveStore: Send + Sync + Debug {
    /// Withdraws a published record in favour of another published one, which takes the newest seq, since it goes by more names now.
    /// `None` where one of them is not published, or the one that goes has a draft or is another revision than expected. Refused where
    /// the review that asked for it is not open any more.
    async fn merge(&self, merge: Merge) -> Result<Option<Published>, StoreError>;

    /// Publishes a record under another id, as its first revision there, and withdraws it under the former one. The new id must
    /// be free, or lead to the record: then it is the next revision there. `None` where head and published revision are no longer those that the caller saw.
    async fn rename(&self, rename: Rename) -> Result<Option<Published>, StoreError>;

    /// Saves the heads of two records, of which one is new, or none of them. Touches nothing that readers see.
    async fn split(&self, split: Split) -> Result<SplitSaved, StoreError>;
}

#[derive(Debug, Clone)]
pub struct Merge {
    pub id: RecordId,
    pub into: RecordId,
    pub by: By,
    /// Why, for the audit and for readers of the former record.
    pub reason: Option<String>,
    /// The published revision that was seen; `None` where any may go.
    pub expected: Option<Revision>,
    /// Number of the review that asked for it and on which it relies; `None` where it needs none.
    pub approves: Option<u32>,
    pub at: OffsetDateTime,
}

/// A record without what went to another one, and that one.
#[derive(Debug, Clone)]
pub struct Split {
    pub old: NewRevision,
    pub new: NewRevision,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitSaved {
    Saved {
        old: Revision,
        new: Revision,
    },
    /// The head of the old record is another one; `None`: there is no such record.
    Stale(Option<Revision>),
    /// There is a record of the new id.
    Taken,
}

#[derive(Debug, Clone)]
pub struct Rename {
    pub id: RecordId,
    /// Both head and published.
    pub revision: Revision,
    pub to: RecordId,
    /// Document with the new id.
    pub document: String,
    pub annex: String,
    pub by: By,
    pub at: OffsetDateTime,
}
