//! All nodes together: how many there are of each verdict, what most of them suffer from, who is silent.

use kb_core::annex::Severity;
use kb_core::ids::RecordId;
use kb_core::verdict::Verdict;
use time::{Duration, OffsetDateTime};

use crate::feed::Generation;
use crate::store::{FleetQuery, HeardNode, NodeStore, StoreError, VerdictCount};

/// Hours after which a node counts as silent, unless said: the daemon looks every quarter of an hour.
pub const SILENT_HOURS: u32 = 24;
/// Hours that may be asked for: a year.
pub const SILENT_HOURS_MAX: u32 = 8_760;
const FAULTS: u32 = 10;
/// Nodes longest without a run that are named at most.
const OLDEST: u32 = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fleet {
    pub nodes: u64,
    /// GPUs of these nodes, by the report that stands; none of a simulated one.
    pub gpus: u64,
    /// Every verdict, best first, with the nodes whose verdict it is.
    pub verdicts: Vec<VerdictCount>,
    pub faults: Vec<Fault>,
    /// Nodes without a run that ended in the time asked for.
    pub silent: u64,
    /// The nodes longest without a run, whether silent or not.
    pub oldest: Vec<HeardNode>,
}

/// What reports of nodes show, by the record that explains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The record; `None`: no known one explains it.
    pub record: Option<RecordId>,
    pub rule: String,
    /// The record's title, else what one of the reports says.
    pub title: String,
    /// How bad it is, where the record says so.
    pub severity: Option<Severity>,
    /// Whether the record tells of nothing that is lost and asks for nothing.
    pub is_notice: bool,
    /// Nodes that show it, in a report that is not simulated.
    pub nodes: u64,
}

/// Counts all nodes; one whose latest run ended `silent_after` ago or earlier is silent, whenever its report came.
pub async fn fleet(
    store: &dyn NodeStore,
    generation: &Generation,
    now: OffsetDateTime,
    silent_after: Duration,
) -> Result<Fleet, StoreError> {
    let query = FleetQuery {
        silent_before: now.saturating_sub(silent_after),
        faults: FAULTS,
        oldest: OLDEST,
    };
    let counted = store.fleet(query).await?;
    let of = |verdict: Verdict| {
        let known = counted.verdicts.iter().find(|count| count.verdict == verdict);
        known.copied().unwrap_or(VerdictCount {
            verdict,
            nodes: 0,
            gpus: 0,
            simulated: 0,
        })
    };
    let fault = |fault: crate::store::FleetFault| {
        let published = fault.record.as_ref().and_then(|id| generation.record(id));
        Fault {
            severity: published.and_then(|published| published.record.annex.severity),
            is_notice: published.is_some_and(|published| published.record.is_notice()),
            title: published.map_or(fault.title, |published| published.record.title().to_owned()),
            record: fault.record,
            rule: fault.rule,
            nodes: fault.nodes,
        }
    };
    Ok(Fleet {
        nodes: counted.verdicts.iter().map(|count| count.nodes).sum(),
        gpus: counted.verdicts.iter().map(|count| count.gpus).sum(),
        verdicts: Verdict::ALL.into_iter().map(of).collect(),
        faults: counted.faults.into_iter().map(fault).collect(),
        silent: counted.silent,
        oldest: counted.oldest,
    })
}
