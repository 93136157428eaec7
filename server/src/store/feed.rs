//! The feed of changes to what readers see.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{RecordId, Seq};
use time::OffsetDateTime;

use super::{RevisionTexts, StoreError};

/// What readers see, in the order in which it changed.
#[async_trait]
pub trait FeedStore: Send + Sync + Debug {
    /// The newest seq. Cheap enough to ask five times a second.
    async fn head_seq(&self) -> Result<Seq, StoreError>;

    /// Records that were published or withdrawn after `after`, each once (its newest change), in seq order, with the
    /// seq that the page reaches. Read in one consistent snapshot. `after = 0` gives everything.
    async fn feed(&self, after: Seq, limit: u32) -> Result<FeedPage, StoreError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedChange {
    pub seq: Seq,
    pub id: RecordId,
    /// When it took this seq: the time of publishing or withdrawing, which a newer draft does not move.
    pub changed_at: OffsetDateTime,
    /// What readers see now; `None`: withdrawn.
    pub published: Option<RevisionTexts>,
    /// Why it was published although the gate refused it.
    pub forced: Option<String>,
    /// Ids of records that became this one.
    pub former: Vec<RecordId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// Everything up to here is covered by the page.
    pub reaches: Seq,
    pub more: bool,
    pub changes: Vec<FeedChange>,
}
