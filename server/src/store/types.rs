//! What goes into the store and what comes out, in domain words.

use kb_core::ids::{NodeId, RecordId, ReportId, Revision, Seq};
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

/// A change of a record's head.
#[derive(Debug, Clone)]
pub struct NewRevision {
    /// The record.
    pub id: RecordId,
    /// Document, byte for byte.
    pub document: String,
    /// Annex, byte for byte.
    pub annex: String,
    /// What the editor saw.
    pub expected: Expected,
    /// Who: a token's name, or `seed`.
    pub actor: String,
    /// Why, in the editor's words.
    pub note: Option<String>,
    /// When.
    pub at: OffsetDateTime,
}

/// What the editor believes the head to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// No such record yet.
    Absent,
    /// This revision.
    Head(Revision),
}

/// Outcome of [`super::Store::save_head`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// A new head.
    Saved(Revision),
    /// The texts equal the head's: nothing written.
    Unchanged(Revision),
    /// Somebody was faster; `None`: the record does not exist.
    Stale(Option<Revision>),
}

/// A request to publish.
#[derive(Debug, Clone)]
pub struct Publish {
    /// The record.
    pub id: RecordId,
    /// The revision that readers shall see.
    pub revision: Revision,
    /// Who.
    pub actor: String,
    /// When.
    pub at: OffsetDateTime,
}

/// Outcome of publishing or withdrawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Where the change stands in the feed.
    pub seq: Seq,
    /// The revision that readers see, or saw last.
    pub revision: Revision,
}

/// State of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordState {
    /// Never published.
    Draft,
    /// Waiting for a reviewer.
    InReview,
    /// Readers see the published revision.
    Published,
    /// Taken back; readable by id only.
    Withdrawn,
}

/// Where a record stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordStatus {
    /// The record.
    pub id: RecordId,
    /// Newest revision.
    pub head: Revision,
    /// What readers see.
    pub published: Option<Revision>,
    /// State.
    pub state: RecordState,
    /// Seq of its last change in the feed.
    pub seq: Option<Seq>,
    /// Time of the last change.
    pub changed_at: OffsetDateTime,
}

/// One revision without texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionMeta {
    /// Its number.
    pub revision: Revision,
    /// Who made it.
    pub actor: String,
    /// Why.
    pub note: Option<String>,
    /// When.
    pub at: OffsetDateTime,
    /// SHA-256 of the document, hex.
    pub document_sha256: String,
    /// SHA-256 of the annex, hex.
    pub annex_sha256: String,
}

/// One revision with texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionTexts {
    /// What is known of it.
    pub meta: RevisionMeta,
    /// Document, byte for byte.
    pub document: String,
    /// Annex, byte for byte.
    pub annex: String,
}

/// Which records to list.
#[derive(Debug, Clone, Default)]
pub struct ListQuery {
    /// Only ids after this one (pages in id order).
    pub after: Option<RecordId>,
    /// Only those changed after this seq, in seq order.
    pub since: Option<Seq>,
    /// At most this many.
    pub limit: u32,
}

/// A record in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordListing {
    /// Where it stands.
    pub status: RecordStatus,
    /// Signature of the published revision.
    pub signature: Option<String>,
}

/// A stored edge of a published record.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEdge {
    /// Whose document states it.
    pub from: RecordId,
    /// `leads_to`, `preceded_by`, `frequently_confused_with`.
    pub kind: kb_core::transition::EdgeKind,
    /// Target as written.
    pub to: String,
    /// True when `to` is a published record.
    pub resolved: bool,
    /// As stated; never copied to the inverse.
    pub probability: Option<f64>,
    /// As stated.
    pub condition: Option<String>,
    /// How to tell the two apart.
    pub distinction: Option<String>,
}

/// The published face of a record at some seq.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedChange {
    /// Seq of the change.
    pub seq: Seq,
    /// The record.
    pub id: RecordId,
    /// What readers see now; `None`: withdrawn.
    pub published: Option<RevisionTexts>,
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

/// A record of kb-seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedRecord {
    /// Its id.
    pub id: RecordId,
    /// Document.
    pub document: String,
    /// Annex.
    pub annex: String,
}

/// What seeding did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeedOutcome {
    /// Ids imported for the first time.
    pub added: Vec<RecordId>,
    /// Ids that got a new revision.
    pub updated: Vec<RecordId>,
    /// How many were as before.
    pub unchanged: usize,
    /// Kept because of an edit.
    pub conflicts: Vec<SeedConflict>,
}

/// A seed that was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedConflict {
    /// The record.
    pub id: RecordId,
    /// Its head, which somebody edited.
    pub head: Revision,
    /// SHA-256 over document and annex of the seed that waits, hex.
    pub seed_sha256: String,
    /// When it was noticed first.
    pub since: OffsetDateTime,
}

/// A report to keep.
#[derive(Debug, Clone, PartialEq)]
pub struct NewReport {
    /// Who sent it.
    pub node: NodeId,
    /// Its id.
    pub id: ReportId,
    /// Host name, unless redacted.
    pub hostname: Option<String>,
    /// Body as sent, compressed with zstd.
    pub body_zstd: Vec<u8>,
    /// SHA-256 of the decompressed body, hex.
    pub body_sha256: String,
    /// Length of the decompressed body in bytes.
    pub body_bytes: u64,
    /// When the run ended, by the node's clock.
    pub finished_at: OffsetDateTime,
    /// When it came.
    pub received_at: OffsetDateTime,
    /// Major and minor of the wire format.
    pub schema: (u32, u32),
    /// A stand-in took the driver's place.
    pub simulated: bool,
    /// Verdict of the run.
    pub verdict: Verdict,
    /// Reason of the verdict, one sentence.
    pub reason: String,
    /// Number of GPUs.
    pub gpus: u32,
    /// Packed matrices, one per (metric, engine, operation, peer access, size).
    pub measurements: Vec<PackedMeasurement>,
}

/// An n x n matrix: `n * n` little-endian f64 medians in row order (source, destination), NaN for a gap.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedMeasurement {
    /// `d2d_bandwidth.ce.push.p2p` and the like.
    pub metric: String,
    /// `GB/s`, `us`, `ns`.
    pub unit: String,
    /// Bytes of one transfer.
    pub bytes: u64,
    /// Number of GPUs.
    pub n: u32,
    /// `8 * n * n` bytes.
    pub matrix: Vec<u8>,
}

/// Outcome of [`super::Store::save_report`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportSaved {
    /// Kept.
    Stored,
    /// Was there already, same body.
    Duplicate,
    /// Another body came under this id before.
    Conflict,
}

/// Which reports to list.
#[derive(Debug, Clone, Default)]
pub struct ReportQuery {
    /// Only of this node.
    pub node: Option<NodeId>,
    /// Only those received before this report in the list (node, id).
    pub before: Option<(OffsetDateTime, ReportId)>,
    /// At most this many.
    pub limit: u32,
}

/// A report in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportListing {
    /// Who sent it.
    pub node: NodeId,
    /// Its id.
    pub id: ReportId,
    /// Host name, unless redacted.
    pub hostname: Option<String>,
    /// When the run ended, by the node's clock.
    pub finished_at: OffsetDateTime,
    /// When it came.
    pub received_at: OffsetDateTime,
    /// A stand-in took the driver's place.
    pub simulated: bool,
    /// Verdict of the run.
    pub verdict: Verdict,
    /// Reason, one sentence.
    pub reason: String,
    /// Number of GPUs.
    pub gpus: u32,
    /// Number of findings.
    pub findings: u32,
}

/// A report with its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReport {
    /// What the list shows.
    pub listing: ReportListing,
    /// Body as sent, zstd.
    pub body_zstd: Vec<u8>,
    /// Length of the decompressed body in bytes.
    pub body_bytes: u64,
}

/// A node with its latest report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeListing {
    /// The node.
    pub id: NodeId,
    /// Host name, unless redacted.
    pub hostname: Option<String>,
    /// First report's arrival.
    pub first_seen: OffsetDateTime,
    /// Number of reports.
    pub reports: u32,
    /// The latest one by arrival.
    pub latest: ReportListing,
}

/// A finding to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFinding {
    /// The record that explains it; `None`: nothing known explains it.
    pub record: Option<(RecordId, Revision)>,
    /// Id of the rule or pattern in that record's annex, or of the built-in observation.
    pub rule: String,
    /// What it is about: `report`, `pair 0-1`, `gpu 3`, `direction 0-1`.
    pub subject: String,
    /// One sentence.
    pub title: String,
    /// What led to it: JSON array of {pointer or expression, value}.
    pub evidence: String,
}

/// A finding as kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFinding {
    /// Position within the report.
    pub ordinal: u32,
    /// The finding.
    pub finding: NewFinding,
    /// Seq of the knowledge it was made with.
    pub seq: Seq,
}

/// What a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Make drafts.
    Edit,
    /// Publish and withdraw.
    Publish,
    /// Upload reports.
    Report,
    /// Read nodes, reports and fleet.
    Fleet,
    /// Everything, tokens included.
    Admin,
}

/// A token to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// Public part, by which it is found.
    pub id: String,
    /// SHA-256 of the secret part, hex. The secret has 256 random bits, so a slow hash would add nothing.
    pub secret_sha256: String,
    /// Name shown as actor.
    pub name: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// When it ends.
    pub expires_at: Option<OffsetDateTime>,
}

/// A token as kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredToken {
    /// The token.
    pub token: NewToken,
    /// When it was revoked.
    pub revoked_at: Option<OffsetDateTime>,
}
