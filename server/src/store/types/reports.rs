//! Reports of agents, the nodes that sent them and what they measured.

use kb_core::ids::{NodeId, ReportId};
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::{Labels, Machine};

/// What a report's verdict is worth beside those of other reports of the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Nothing was tried, or nothing came of it: a passive look, a converted result of another tool, a run whose
    /// verdict is unknown.
    Look,
    /// Nothing was proven, and something is wrong: the run failed, or a look tells of a fault.
    Alarm,
    /// GPUs were made to work with each other, and what came of it is told: healthy or a fault.
    Proof,
}

impl Weight {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Look, Self::Alarm, Self::Proof];

    /// `look`, `alarm`, `proof`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Alarm => "alarm",
            Self::Proof => "proof",
        }
    }
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
    /// What that verdict is worth.
    pub weight: Weight,
    /// Reason of the verdict, one sentence.
    pub reason: String,
    /// Number of GPUs.
    pub gpus: u32,
    /// Packed matrices, one per (metric, engine, operation, peer access, size).
    pub measurements: Vec<PackedMeasurement>,
    /// What it says of the machine; `None` where it was made from another tool's output, which is of who knows when.
    pub machine: Option<Machine>,
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

/// Outcome of [`crate::store::Store::save_report`].
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
    /// What that verdict is worth.
    pub weight: Weight,
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

/// A node with the report whose verdict stands, and its latest one.
///
/// "Latest" is the run that ended last by the node's clock; one that is said to end after its report came counts from
/// then. In whatever order reports arrive, the same ones stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeListing {
    /// The node.
    pub id: NodeId,
    /// Host name, unless redacted.
    pub hostname: Option<String>,
    /// Labels that it got from its join token.
    pub labels: Labels,
    /// First report's arrival.
    pub first_seen: OffsetDateTime,
    /// Number of reports.
    pub reports: u32,
    /// The one whose verdict stands, see [`standing`].
    pub latest: ReportListing,
    /// The latest of all, whatever it is worth.
    pub last_seen: ReportListing,
}

/// The report whose verdict stands, of a node's latest [`Weight::Proof`] and its latest of all.
///
/// A proven fault is over when a later run proves something else, and not before: neither a passive look, nor a run that
/// could tell nothing, nor another tool's result ends it. Proven health ends also with an alarm, while that is the
/// latest. A node without any proof is as it was last seen.
pub fn standing(proof: Option<ReportListing>, last_seen: &ReportListing) -> ReportListing {
    let alarmed = last_seen.weight == Weight::Alarm;
    proof
        .filter(|proof| proof.verdict != Verdict::Healthy || !alarmed)
        .unwrap_or_else(|| last_seen.clone())
}
