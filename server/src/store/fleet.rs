//! All nodes together.

use kb_core::ids::{NodeId, RecordId};
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

#[derive(Debug, Clone, Copy)]
pub struct FleetQuery {
    /// A node whose latest run ended before this is silent.
    pub silent_before: OffsetDateTime,
    pub faults: u32,
    /// Nodes longest without a run that are told at most.
    pub oldest: u32,
}

/// All nodes, each by the report whose verdict stands ([`super::standing`]), read in one state of the database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fleet {
    /// Nodes by verdict; verdicts that no node has are left out.
    pub verdicts: Vec<VerdictCount>,
    pub faults: Vec<FleetFault>,
    /// Nodes whose latest run ended before what was asked.
    pub silent: u64,
    /// The nodes longest without a run, whether silent or not; the first is the oldest of all.
    pub oldest: Vec<HeardNode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerdictCount {
    pub verdict: Verdict,
    pub nodes: u64,
    /// GPUs of these nodes, but for the simulated.
    pub gpus: u64,
    /// Those of the nodes where a stand-in took the driver's place.
    pub simulated: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetFault {
    /// The record that explains it; without one the findings of one rule stand together.
    pub record: Option<RecordId>,
    /// The rule that found it; of several of one record the first by name.
    pub rule: String,
    pub title: String,
    /// Nodes that show it, in the report that stands or in their latest; simulated reports do not count.
    pub nodes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeardNode {
    pub id: NodeId,
    /// Host name, unless redacted.
    pub hostname: Option<String>,
    /// End of the run of its latest report, and never later than that came.
    pub at: OffsetDateTime,
}
