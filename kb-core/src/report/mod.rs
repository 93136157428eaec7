//! The agent's report, wire format version 1.
//!
//! A report is JSON, sent once (`report_id` is the idempotency key) and stored as sent. Within major version 1
//! fields may be added; readers ignore what they do not know, and an enum value they do not know reads as
//! `unrecognised`, so an older server keeps and shows a newer agent's report. A newer *major* is refused.
//!
//! Indices (`GpuIndex`) are positions in [`Report::gpus`]. Bandwidths are GB/s with GB = 1e9 bytes.

mod absent;
mod fact;
pub mod fact_name;
mod fact_shape;
mod gpu;
mod health;
mod load;
mod measurement;
mod nccl;
mod older;
mod pair;
mod reason_code;
mod ruled;
mod verdict;

pub use absent::{Absence, AbsentGpu};
pub use fact::{Fact, Gap, GapKind};
pub use fact_shape::Shape;
pub use gpu::{Gpu, GpuIndex};
pub(crate) use health::NODE;
pub use health::{
    Bearing, Clear, Counter, Decidable, Entry, Family, Health, Nature, Order, Proof, Seen, Unread,
};
pub use load::{EarlierLoad, EarlierOfGpu, Load, LoadFinding, LoadOfGpu, Spread};
pub use measurement::{Cell, Conditions, Measurement, Operation, Taken};
pub use nccl::{Nccl, NcclArm, NcclVerdict};
pub use older::add_reason_codes;
pub use pair::{Check, Direction, Engine, Mismatch, NvmlP2p, Outcome, P2pStatus, Pair, PairVerdict};
pub use reason_code::ReasonCode;
pub use ruled::{Meaning, Ruled};
pub use verdict::{ExitCode, Verdict};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{NodeId, RecordId, ReportId};

/// The major version that this build writes and reads.
pub const MAJOR: u32 = 1;
/// The minor version that this build writes.
pub const MINOR: u32 = 7;

/// Version of the wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchemaVersion {
    /// Raised when a reader of the former version would misread the report.
    pub major: u32,
    /// Raised when fields or values are added.
    pub minor: u32,
}

/// One run of the agent on one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Version of the wire format.
    pub schema: SchemaVersion,
    /// Random UUID of the run.
    pub report_id: ReportId,
    /// Where it ran.
    pub node: Node,
    /// Version of the agent, as `peerless-agent --version` prints it.
    pub agent_version: String,
    /// Start of the run, RFC 3339, UTC.
    pub started_at: String,
    /// End of the run, RFC 3339, UTC.
    pub finished_at: String,
    /// True when a stand-in took the place of the driver: kept out of statistics.
    #[serde(default)]
    pub simulated: bool,
    /// Facts of the host by dotted name (`driver.version`, `boot.id`), each with source or reason.
    #[serde(default)]
    pub host: BTreeMap<String, Fact>,
    /// The GPUs in CUDA order; empty when none could be listed, and then `failures` says why.
    #[serde(default)]
    pub gpus: Vec<Gpu>,
    /// GPUs that the machine has or that were asked for, and that are not among `gpus`, each with the reason. Since 1.5.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub absent: Vec<AbsentGpu>,
    /// Every unordered pair of `gpus`, `a < b`.
    #[serde(default)]
    pub pairs: Vec<Pair>,
    /// Bandwidths and latencies.
    #[serde(default)]
    pub measurements: Vec<Measurement>,
    /// What NCCL did with the GPUs, where it was asked. Since 1.3.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nccl: Option<Nccl>,
    /// Minutes of load on all GPUs, where they were asked for. A report without it admits no node. Since 1.7.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load: Option<Load>,
    /// What the run's time went into, one part after the other. Since 1.4.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub parts: Vec<Part>,
    /// Lines of the kernel log and others that fell into the run, already redacted as asked.
    #[serde(default)]
    pub logs: Vec<LogExcerpt>,
    /// What went wrong with the run as a whole, such as a driver library that is missing.
    #[serde(default)]
    pub failures: Vec<Failure>,
    /// What is worth knowing and touches no verdict, such as NVML that is missing. Since 1.1.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<Failure>,
    /// What is known of the node's health from look to look, where the agent keeps that. Since 1.5.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub health: Option<Health>,
    /// The run in one line.
    pub conclusion: Conclusion,
}

impl Report {
    /// The machine that is made up of which the report tells; `None` of all others, also of a run with a stand-in for the driver.
    pub fn simulated_machine(&self) -> Option<&str> {
        self.host
            .get(fact_name::SIMULATED_MACHINE)?
            .value
            .as_ref()?
            .as_str()
    }

    /// True when a check ran, whatever came of it. A passive look makes no checks; a run tries even what the driver refuses.
    pub fn was_tried(&self) -> bool {
        let directions = self.pairs.iter().flat_map(|pair| &pair.directions);
        let mut checks = directions.flat_map(|direction| &direction.checks);
        checks.any(|check| !matches!(check.outcome, Outcome::Skipped | Outcome::NotVisible))
    }
}

/// A part of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// Stable name: `opening`, `ladder`, `bench`, `nccl`, …
    pub name: String,
    /// Seconds by the monotonic clock.
    pub seconds: f64,
}

/// Names a node and the boot it ran in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Stable name of the node.
    pub id: NodeId,
    /// Host name, unless redacted.
    pub hostname: Option<String>,
    /// The kernel's boot id; with the node it names a clock.
    pub boot_id: Option<String>,
}

/// A stretch of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogExcerpt {
    /// Where it was read: `kmsg`, `journal`, a file name.
    pub source: String,
    /// Whether the lines were written before the run or while it went on. Since 1.1; absent it reads as `before`, which
    /// proves nothing about the run.
    #[serde(default)]
    pub when: When,
    /// The lines, separated by `\n`.
    pub text: String,
}

/// When a line of a log was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// In this boot, before the run.
    #[default]
    Before,
    /// While the run went on.
    During,
    /// A value of a newer minor version.
    #[serde(other)]
    Unrecognised,
}

/// Something that stopped the run or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// What was being done: `load libcuda.so.1`, `cuInit`.
    pub step: String,
    /// Result code of the call, where there was one.
    pub code: Option<i32>,
    /// Name of the code, where known: `CUDA_ERROR_SYSTEM_NOT_READY`.
    pub code_name: Option<String>,
    /// The message, in words.
    pub message: String,
    /// Why, for programs. Since 1.6.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason_code: Option<ReasonCode>,
    /// One named cause, see [`crate::verdict::cause`]. Since 1.1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<String>,
    /// The record that explains the cause. Since 1.1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub record: Option<RecordId>,
    /// What to do, in one or two sentences. Since 1.1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fix: Option<String>,
}

/// The run in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conclusion {
    /// The worst verdict of all pairs, see [`crate::verdict`].
    pub verdict: Verdict,
    /// Exit code that goes with it before `--fail-on` is applied; 2 where a fault is open that the run does not end, else 1 where a warning is.
    pub exit_code: u8,
    /// Why, in one sentence.
    pub reason: String,
    /// What the operator expected, as given to `--expect`: `p2p=auto`. Since 1.1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expect: Option<String>,
}

impl Conclusion {
    /// Stands in a report until it is judged.
    pub fn undecided() -> Self {
        Self {
            verdict: Verdict::Unknown,
            exit_code: Verdict::Unknown.exit_code(),
            reason: "not judged".to_owned(),
            expect: None,
        }
    }
}

impl Failure {
    /// The step at which the driver's library is opened.
    pub const LOAD_CUDA: &'static str = "load libcuda.so.1";
    /// The step that checks one GPU by itself.
    pub const OWN_MEMORY: &'static str = "check a GPU's own memory";
    /// Any call on a GPU that returned a code of broken hardware, where no pair is judged by it.
    pub const USE_GPU: &'static str = "use a GPU";

    /// Without a code, and not explained yet.
    pub fn new(step: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            step: step.into(),
            code: None,
            code_name: None,
            message: message.into(),
            reason_code: None,
            cause: None,
            record: None,
            fix: None,
        }
    }
}
