//! The feed of changes to what readers see.

use kb_core::ids::{RecordId, Seq};
use time::OffsetDateTime;

use super::RevisionTexts;

/// The published face of a record at some seq.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedChange {
    /// Seq of the change.
    pub seq: Seq,
    /// The record.
    pub id: RecordId,
    /// When it took this seq: the time of publishing or withdrawing, which a newer draft does not move.
    pub changed_at: OffsetDateTime,
    /// What readers see now; `None`: withdrawn.
    pub published: Option<RevisionTexts>,
    /// Why it was published although the gate refused it.
    pub forced: Option<String>,
}

/// A stretch of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// Everything up to here is covered by the page.
    pub reaches: Seq,
    /// True when more follows.
    pub more: bool,
    /// The changes.
    pub changes: Vec<FeedChange>,
}
