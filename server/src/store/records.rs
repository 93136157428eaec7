//! Records: changes of a head, publishing, states, revisions, lists and edges.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{RecordId, Revision, Seq};
use kb_core::transition::EdgeKind;
use time::OffsetDateTime;

use super::{By, StoreError, digest};

/// Records with their revisions, codes, aliases and edges.
#[async_trait]
pub trait RecordStore: Send + Sync + Debug {
    /// Makes a new head revision in state draft. Never touches what readers see.
    ///
    /// [`Saved::Unchanged`] when document and annex equal the head's byte for byte, whatever was expected: the same
    /// request twice does no harm. A new id that is a former id of another record is refused.
    async fn save_head(&self, change: NewRevision) -> Result<Saved, StoreError>;

    /// Publishes `revision` (any revision, so that an older one can be brought back): rebuilds the record's
    /// codes, aliases and edges, and takes the next seq, all in one transaction. Publishing what is published
    /// already changes nothing and answers with the seq it had.
    async fn publish(&self, publish: Publish) -> Result<Published, StoreError>;

    /// Takes a record out of matching and search; it stays readable by id and by its aliases, marked. Takes the next
    /// seq. Of a record that is withdrawn already nothing changes; of one that was never published, or is published as another
    /// revision than expected, it is refused, and so it is where the review that asked for it is not open any more.
    async fn take_back(&self, withdrawal: Withdrawal) -> Result<Published, StoreError>;

    /// The same without a reason.
    async fn withdraw(&self, id: &RecordId, by: &By, at: OffsetDateTime) -> Result<Published, StoreError> {
        self.take_back(Withdrawal {
            id: id.clone(),
            by: by.clone(),
            reason: None,
            replaced_by: None,
            expected: None,
            approves: None,
            at,
        })
        .await
    }

    /// Where a record stands. Does not follow aliases.
    async fn status(&self, id: &RecordId) -> Result<Option<RecordStatus>, StoreError>;

    /// The id that a former id (alias) now goes by.
    async fn resolve_alias(&self, alias: &str) -> Result<Option<RecordId>, StoreError>;

    async fn revision(&self, id: &RecordId, revision: Revision) -> Result<Option<RevisionTexts>, StoreError>;

    /// All revisions of a record, newest first, without texts.
    async fn revisions(&self, id: &RecordId) -> Result<Vec<RevisionMeta>, StoreError>;

    /// Records in id order after `after`; with `since`, those published or withdrawn after that seq, in seq order
    /// (tombstones included); with `before`, those published or withdrawn last before that seq, newest first.
    async fn list(&self, query: ListQuery) -> Result<Vec<RecordListing>, StoreError>;

    /// Published records that carry this code, compared without case and with runs of blanks as one.
    async fn records_by_code(&self, code: &str) -> Result<Vec<RecordId>, StoreError>;

    /// Edges of published records that start or end at `id`, or (unresolved) name it as text.
    async fn edges_around(&self, id: &RecordId) -> Result<Vec<StoredEdge>, StoreError>;
}

#[derive(Debug, Clone)]
pub struct NewRevision {
    pub id: RecordId,
    /// Document, byte for byte.
    pub document: String,
    /// Annex, byte for byte.
    pub annex: String,
    pub expected: Expected,
    pub by: By,
    pub note: Option<String>,
    pub at: OffsetDateTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Absent,
    Head(Revision),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    Saved(Revision),
    /// The texts equal the head's: nothing written.
    Unchanged(Revision),
    /// Somebody was faster; `None`: the record does not exist.
    Stale(Option<Revision>),
}

#[derive(Debug, Clone)]
pub struct Publish {
    pub id: RecordId,
    pub revision: Revision,
    pub by: By,
    /// The feed's seq that the caller has looked at: nothing is published where the feed is further. `None` for whatever comes.
    pub after: Option<Seq>,
    /// Why it is published although the gate refuses it; `None` where the gate had nothing against it.
    pub forced: Option<String>,
    pub reason: Option<String>,
    pub at: OffsetDateTime,
}

#[derive(Debug, Clone)]
pub struct Withdrawal {
    pub id: RecordId,
    pub by: By,
    pub reason: Option<String>,
    /// The record that says it better.
    pub replaced_by: Option<RecordId>,
    /// The published revision that was seen; `None` where any may be taken back.
    pub expected: Option<Revision>,
    /// Number of the review that asked for it and on which it relies; `None` where it needs none.
    pub approves: Option<u32>,
    pub at: OffsetDateTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    pub seq: Seq,
    /// The revision that readers see, or saw last.
    pub revision: Revision,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordState {
    Draft,
    InReview,
    Published,
    /// Taken back; readable by id only.
    Withdrawn,
}

impl RecordState {
    /// The word that the database and the API use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::InReview => "in_review",
            Self::Published => "published",
            Self::Withdrawn => "withdrawn",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Draft, Self::InReview, Self::Published, Self::Withdrawn]
            .into_iter()
            .find(|state| state.as_str() == word)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordStatus {
    pub id: RecordId,
    pub head: Revision,
    /// What readers see; of a withdrawn record, what they saw last.
    pub published: Option<Revision>,
    pub state: RecordState,
    /// Seq of its last change in the feed.
    pub seq: Option<Seq>,
    pub changed_at: OffsetDateTime,
    /// Why what readers see was published although the gate refused it; `None` where it was not.
    pub forced: Option<String>,
    /// Of a withdrawn record: why, and what replaces it.
    pub withdrawn_reason: Option<String>,
    pub replaced_by: Option<RecordId>,
}

impl RevisionMeta {
    /// SHA-256 over those of document and annex, as [`super::SeedRecord::sha256`] gives it.
    pub fn sha256(&self) -> String {
        digest::pair(&self.document_sha256, &self.annex_sha256)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionMeta {
    pub revision: Revision,
    pub actor: String,
    pub note: Option<String>,
    pub at: OffsetDateTime,
    /// SHA-256 of the document, hex.
    pub document_sha256: String,
    /// SHA-256 of the annex, hex.
    pub annex_sha256: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionTexts {
    pub meta: RevisionMeta,
    /// Document, byte for byte.
    pub document: String,
    /// Annex, byte for byte.
    pub annex: String,
}

#[derive(Debug, Clone, Default)]
pub struct ListQuery {
    /// Only ids after this one (pages in id order); has no meaning with `since`.
    pub after: Option<RecordId>,
    /// Only those changed after this seq, in seq order.
    pub since: Option<Seq>,
    /// Only those last changed before this seq, the newest first; stands before `since`.
    pub before: Option<Seq>,
    pub drafts: bool,
    pub state: Option<RecordState>,
    /// Only those whose id begins with this segment.
    pub domain: Option<String>,
    pub limit: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordListing {
    pub status: RecordStatus,
    pub signature: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StoredEdge {
    pub from: RecordId,
    pub kind: EdgeKind,
    pub to: String,
    /// True when `to` is a published record, or a former id of one.
    pub resolved: bool,
    /// As stated; never copied to the inverse.
    pub probability: Option<f64>,
    pub condition: Option<String>,
    pub distinction: Option<String>,
    /// How long it takes, in free text.
    pub typical_delay: Option<String>,
}
