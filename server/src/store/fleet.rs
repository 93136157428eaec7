//! All nodes together.

use kb_core::ids::{NodeId, RecordId};
use kb_core::severity::Action;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::NodeFilter;

#[derive(Debug, Clone)]
pub struct FleetQuery {
    /// Only the nodes that meet it are counted. What is counted by a value of the filter (each verdict, say) is counted
    /// without the filter's own value, so that every count is the length of the list that it stands for.
    pub filter: NodeFilter,
    /// A node whose latest run ended before this is silent.
    pub silent_before: OffsetDateTime,
    pub faults: u32,
    /// Nodes longest without a run that are told at most.
    pub oldest: u32,
    /// Labels that are told at most, those of the most nodes first.
    pub labels: u32,
}

/// All nodes, each by the report whose verdict stands ([`super::standing`]), read in one state of the database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fleet {
    /// Nodes that meet the whole filter.
    pub nodes: u64,
    /// Their GPUs, but for those of simulated nodes.
    pub gpus: u64,
    /// Nodes by verdict; verdicts that no node has are left out.
    pub verdicts: Vec<VerdictCount>,
    /// Nodes by what to do first, the most first; none where no record says it.
    pub actions: Vec<(Option<Action>, u64)>,
    /// Nodes by model of their GPUs, the most first; none where it is not known.
    pub models: Vec<(Option<String>, u64)>,
    /// The same by version of the driver.
    pub drivers: Vec<(Option<String>, u64)>,
    pub labels: Vec<LabelCount>,
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
pub struct LabelCount {
    pub name: String,
    pub value: String,
    pub nodes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetFault {
    /// The record that explains it; without one the findings of one rule stand together.
    pub record: Option<RecordId>,
    /// The rule that found it; of several of one record the first by name.
    pub rule: String,
    /// What a node's report says of it.
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
