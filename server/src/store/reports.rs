//! Reports of agents, with what they measured and what was found out about them.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{NodeId, RecordId, ReportId, Revision, Seq};
use kb_core::report::{Bearing, Ruled};
use kb_core::severity::{Action, Severity};
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::{Causes, Judged, JudgedBy, Labels, Proofs, StoreError, ToldBaseline, ToldFacets};

#[async_trait]
pub trait ReportStore: Send + Sync + Debug {
    /// Keeps a report once. Same node, id and body again -> [`ReportSaved::Duplicate`]; other body ->
    /// [`ReportSaved::Conflict`], nothing changed.
    async fn save_report(&self, report: NewReport) -> Result<ReportSaved, StoreError>;

    /// A report with its body. With `node` absent: `Ambiguous` when several nodes used the id.
    async fn report(&self, node: Option<&NodeId>, id: &ReportId) -> Result<Option<StoredReport>, StoreError>;

    /// Reports, newest first; of one node if given.
    async fn reports(&self, query: ReportQuery) -> Result<Vec<ReportListing>, StoreError>;

    /// Replaces the findings of a report (correlation ran again), unless those kept were made with a newer feed.
    async fn replace_found(&self, node: &NodeId, report: &ReportId, found: Found) -> Result<(), StoreError>;

    /// The same by the rule set that is noted already.
    async fn replace_findings(
        &self,
        node: &NodeId,
        report: &ReportId,
        seq: Seq,
        findings: Vec<NewFinding>,
    ) -> Result<(), StoreError> {
        let found = Found {
            seq,
            rule_set: None,
            findings,
        };
        self.replace_found(node, report, found).await
    }

    /// Has the reports that tell of a node judged again that were judged by another rule set than this, or all of them: its latest one,
    /// the one that stands, each whose fault is open and each of whose fault other rules took something. Gives how many.
    async fn judge_again(&self, rule_set: Option<&str>) -> Result<u64, StoreError>;

    /// What tells of a node, as in [`Self::judge_again`], and was judged by another rule set than this, oldest first.
    async fn reports_judged_otherwise(
        &self,
        node: &NodeId,
        rule_set: &str,
    ) -> Result<Vec<StoredReport>, StoreError>;

    /// By what a report was judged; `None` where there is no such report.
    async fn judged_by(&self, node: &NodeId, report: &ReportId) -> Result<Option<JudgedBy>, StoreError>;

    /// Keeps what a stored report tells by other rules: verdict, weight, reason, causes and findings, in one step. Its body, its times of
    /// arrival and its measurements stay. [`ReportSaved::Duplicate`]: it was judged with a newer feed already; `Overtaken`: another report of
    /// the node came, or was judged anew, since it was judged. Of a simulated report of a node that has real ones the findings alone change.
    async fn judge_report_anew(&self, report: NewReport) -> Result<ReportSaved, StoreError>;

    /// Reports in earnest of a node of whose faults other rules took something, and of which nothing is open; at most `limit`.
    async fn ruled_out(&self, node: &NodeId, limit: u32) -> Result<Vec<ReportListing>, StoreError>;

    /// Labels of a node, whether or not a report of it came.
    async fn labels_of(&self, node: &NodeId) -> Result<Labels, StoreError>;

    /// Notes model and driver with the summary of a node, where the report is its latest.
    async fn note_hardware(
        &self,
        node: &NodeId,
        report: &ReportId,
        hardware: &Hardware,
    ) -> Result<(), StoreError>;

    /// Proofs of health of a node of one kind, simulated or not, the run that ended last first; at most `limit`. Beside them what is
    /// open of the node, at most [`OPEN_FAULTS`].
    async fn proofs(&self, node: &NodeId, simulated: bool, limit: u32) -> Result<Proofs, StoreError>;

    /// Reports of a node of one kind whose runs ended after `at`, the run that ended first first; at most `limit`.
    async fn reports_after(
        &self,
        node: &NodeId,
        simulated: bool,
        at: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<ReportListing>, StoreError>;

    /// The report of a node of one kind whose run ended last before `at`, or then.
    async fn report_before(
        &self,
        node: &NodeId,
        simulated: bool,
        at: OffsetDateTime,
    ) -> Result<Option<ReportListing>, StoreError>;

    async fn findings(&self, node: &NodeId, report: &ReportId) -> Result<Vec<StoredFinding>, StoreError>;

    /// How many reports of a node came at `since` or later and before this place, those of simulated runs apart.
    async fn reports_in_earnest(
        &self,
        node: &NodeId,
        since: OffsetDateTime,
        before: (OffsetDateTime, ReportId),
    ) -> Result<u64, StoreError>;

    /// Reports that tell of nodes, as [`Self::judge_again`] lists them, whose findings were made with a feed older than `seq`, oldest first.
    async fn reports_to_correlate(&self, seq: Seq, limit: u32) -> Result<Vec<StoredReport>, StoreError>;
}

/// What a report's verdict is worth beside those of other reports of the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Nothing was tried, or nothing came of it: a passive look, another tool's converted result, an unknown verdict.
    Look,
    /// Nothing was proven, and something is wrong: the run failed, or a look tells of a fault.
    Alarm,
    /// GPUs were made to work with each other, and what came of it is told: healthy or a fault.
    Proof,
}

impl Weight {
    pub const ALL: [Self; 3] = [Self::Look, Self::Alarm, Self::Proof];

    pub fn word(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Alarm => "alarm",
            Self::Proof => "proof",
        }
    }
}

/// How a report came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The agent looked and tried nothing. What it sees it tells again, until it is over.
    Look,
    /// The agent made GPUs work. What it met no look can see again.
    Run,
    /// Another tool's output.
    Converted,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewReport {
    pub node: NodeId,
    pub id: ReportId,
    /// Host name, unless redacted.
    pub hostname: Option<String>,
    pub body_zstd: Vec<u8>,
    /// SHA-256 of the decompressed body, hex.
    pub body_sha256: String,
    /// Length of the decompressed body in bytes.
    pub body_bytes: u64,
    /// When the run ended, by the node's clock.
    pub finished_at: OffsetDateTime,
    pub received_at: OffsetDateTime,
    /// When the run ended by the server's clock, where the node's own is known to be wrong; see [`ended`].
    pub ended_at: Option<OffsetDateTime>,
    /// Major and minor of the wire format.
    pub schema: (u32, u32),
    /// A stand-in took the driver's place.
    pub simulated: bool,
    pub verdict: Verdict,
    pub weight: Weight,
    pub origin: Origin,
    pub reason: String,
    pub gpus: u32,
    /// Packed matrices, one per (metric, engine, operation, peer access, size).
    pub measurements: Vec<PackedMeasurement>,
    /// What it says of the machine; `None` where it was made from another tool's output, which is of who knows when.
    pub machine: Option<Machine>,
    /// What it tells of, where it tells of a fault.
    pub causes: Causes,
    /// How it was held against the node's other proofs; `None` where there was no need.
    pub judged: Option<Judged>,
    pub hardware: Hardware,
    /// What may set the node apart, kept in the same transaction.
    pub facets: Option<ToldFacets>,
    /// What others may be held against, where the run was good, over all GPUs or some; kept in the same transaction.
    pub baseline: Option<ToldBaseline>,
    /// What was found out about it, kept in the same transaction; `None` where that comes later.
    pub found: Option<Found>,
}

/// What a report says of the GPUs and the driver of its machine; `None` where it does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hardware {
    /// Model of the GPUs, as the driver names it; several are joined by ` + `.
    pub model: Option<String>,
    pub driver: Option<String>,
}

/// Findings, and the feed that they were made with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    pub seq: Seq,
    /// Version of the records and the policy that decided; `None`: that which is noted already.
    pub rule_set: Option<String>,
    pub findings: Vec<NewFinding>,
}

/// An n x n matrix: `n * n` little-endian f64 medians in row order (source, destination), NaN for a gap.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedMeasurement {
    /// `d2d_bandwidth.ce.push.p2p` and the like.
    pub metric: String,
    /// `GB/s`, `us`, `ns`.
    pub unit: String,
    pub bytes: u64,
    pub n: u32,
    /// `8 * n * n` bytes.
    pub matrix: Vec<u8>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    pub gpus: Vec<String>,
    /// Whether these are all that the node has: a run on some GPUs alone tells of no other.
    pub shows_all: bool,
    pub clock: MachineClock,
}

/// What a report tells of its machine's clock, beside the server's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MachineClock {
    /// Right, as far as can be known.
    #[default]
    Right,
    /// Ahead by so many seconds.
    Ahead(i64),
    /// Behind by so many seconds.
    Behind(i64),
    /// The run ended so many seconds before its report came, by the machine's clock: it waited, or the clock is behind.
    Late(i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportSaved {
    Stored,
    Duplicate,
    /// Another body came under this id before.
    Conflict,
    /// Nothing was kept: another report of the node came, or was judged anew, since this one was judged.
    Overtaken,
}

#[derive(Debug, Clone, Default)]
pub struct ReportQuery {
    pub node: Option<NodeId>,
    /// Only those received before this report in the list (node, id).
    pub before: Option<(OffsetDateTime, ReportId)>,
    pub limit: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportListing {
    pub node: NodeId,
    pub id: ReportId,
    /// Host name, unless redacted.
    pub hostname: Option<String>,
    /// When the run ended, by the node's clock.
    pub finished_at: OffsetDateTime,
    pub received_at: OffsetDateTime,
    /// When the run ended by the server's clock, where the node's own is known to be wrong; see [`ended`].
    pub ended_at: Option<OffsetDateTime>,
    /// A stand-in took the driver's place.
    pub simulated: bool,
    pub verdict: Verdict,
    pub weight: Weight,
    pub reason: String,
    pub gpus: u32,
    pub findings: u32,
}

impl ReportListing {
    /// Whether it told of a fault, or warned of something, beside which nothing else was unknown.
    pub fn tells_of_fault(&self) -> bool {
        tells_of_fault(self.weight, self.verdict)
    }

    pub fn ended(&self) -> OffsetDateTime {
        ended(self.ended_at, self.finished_at, self.received_at)
    }
}

impl NewReport {
    /// Whether it tells of a fault, or warns of something, that stands until it is shown to be over.
    pub fn tells_of_fault(&self) -> bool {
        self.causes.only_warns.is_some() || tells_of_fault(self.weight, self.verdict)
    }

    /// The verdict of what it opens.
    pub fn opens(&self) -> Verdict {
        match self.causes.only_warns {
            Some(_) => Verdict::Degraded,
            None => self.verdict,
        }
    }

    pub fn ended(&self) -> OffsetDateTime {
        ended(self.ended_at, self.finished_at, self.received_at)
    }
}

fn tells_of_fault(weight: Weight, verdict: Verdict) -> bool {
    weight == Weight::Alarm || (weight == Weight::Proof && verdict >= Verdict::Degraded)
}

/// When a run ended by the server's clock, if known, and never after its report came. A node's reports have this order.
pub(super) fn ended(
    known: Option<OffsetDateTime>,
    finished_at: OffsetDateTime,
    received_at: OffsetDateTime,
) -> OffsetDateTime {
    known.unwrap_or(finished_at).min(received_at)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReport {
    pub listing: ReportListing,
    pub body_zstd: Vec<u8>,
    /// Length of the decompressed body in bytes.
    pub body_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFinding {
    /// The record that explains it; `None`: nothing known explains it.
    pub record: Option<(RecordId, Revision)>,
    /// Id of the rule or pattern in that record's annex, or of the built-in observation.
    pub rule: String,
    /// What it is about: `report`, `pair 0-1`, `gpu 3`, `direction 0-1`.
    pub subject: String,
    /// What is wrong, in the report's own words where it has some, else in those of the record.
    pub title: String,
    /// What led to it: JSON array of {pointer or expression, value}.
    pub evidence: String,
    pub gravity: Gravity,
    /// What the site's policy made of it; none where the records decided.
    pub by_policy: Option<Ruled>,
}

/// What a finding means for its node, as its record says when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gravity {
    pub bearing: Bearing,
    /// How bad it is, where the record says so.
    pub severity: Option<Severity>,
    /// What to do first, where the record says so.
    pub action: Option<Action>,
}

impl Default for Gravity {
    /// Of what no record explains.
    fn default() -> Self {
        Self {
            bearing: Bearing::Unknown,
            severity: None,
            action: None,
        }
    }
}

impl Gravity {
    /// Orders findings, the worst greatest. What no record explains stands between a warning and an error.
    pub fn weight(&self) -> (Bearing, u8, Option<Action>) {
        let severity = match self.severity {
            Some(Severity::Info) => 0,
            Some(Severity::Warning) => 1,
            None => 2,
            Some(Severity::Error) => 3,
            Some(Severity::Fatal) => 4,
        };
        (self.bearing, severity, self.action)
    }

    /// Whether it says something against the node, or may do so.
    pub fn counts(&self) -> bool {
        self.bearing > Bearing::Event
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFinding {
    pub ordinal: u32,
    pub finding: NewFinding,
    /// Seq of the knowledge it was made with.
    pub seq: Seq,
}
