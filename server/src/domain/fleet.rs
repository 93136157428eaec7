//! All nodes together, or those that a filter takes: how many there are of each verdict, action, model, driver and label,
//! what most of them suffer from, who is silent.

use kb_core::annex::{Action, Severity};
use kb_core::ids::RecordId;
use kb_core::verdict::Verdict;
use time::{Duration, OffsetDateTime};

use crate::feed::Generation;
use crate::store::{
    FleetQuery, HeardNode, LabelCount, NodeFilter, NodeStore, StoreError, VerdictCount, word,
};

/// Hours after which a node counts as silent, unless said: the daemon looks every quarter of an hour.
pub const SILENT_HOURS: u32 = 24;
/// Hours that may be asked for: a year.
pub const SILENT_HOURS_MAX: u32 = 8_760;
const FAULTS: u32 = 10;
/// Labels, models and drivers that are counted at most, those of the most nodes first.
const LABELS: u32 = 100;
const VALUES: usize = 20;
/// Nodes longest without a run that are named at most.
const OLDEST: u32 = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fleet {
    pub nodes: u64,
    /// GPUs of these nodes, by the report that stands; none of a simulated one.
    pub gpus: u64,
    /// Every verdict, best first, with the nodes whose verdict it is.
    pub verdicts: Vec<VerdictCount>,
    /// Nodes by what to do first, the most first; none where no record says it.
    pub actions: Vec<(Option<Action>, u64)>,
    /// Nodes by model of their GPUs, the most first; none where it is not known.
    pub models: Vec<(Option<String>, u64)>,
    pub drivers: Vec<(Option<String>, u64)>,
    pub labels: Vec<LabelCount>,
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
    /// The same in Chinese, where the record has it.
    pub title_zh: Option<String>,
    /// How bad it is, where the record says so.
    pub severity: Option<Severity>,
    /// Whether the record tells of nothing that is lost and asks for nothing.
    pub is_notice: bool,
    /// Nodes that show it, in a report that is not simulated.
    pub nodes: u64,
}

/// A node whose latest run ended before this is silent.
pub fn silent_before(now: OffsetDateTime, hours: u32) -> OffsetDateTime {
    now.saturating_sub(Duration::hours(i64::from(hours)))
}

/// Counts the nodes that meet a filter; one whose latest run ended before `silent_before` is silent, whenever its report came.
pub async fn fleet(
    store: &dyn NodeStore,
    generation: &Generation,
    filter: NodeFilter,
    silent_before: OffsetDateTime,
) -> Result<Fleet, StoreError> {
    let query = FleetQuery {
        filter,
        silent_before,
        faults: FAULTS,
        oldest: OLDEST,
        labels: LABELS,
    };
    let mut counted = store.fleet(&query).await?;
    counted.models.truncate(VALUES);
    counted.drivers.truncate(VALUES);
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
            title_zh: published.and_then(|published| published.record.annex.title_zh.clone()),
            title: published.map_or(fault.title, |published| published.record.title().to_owned()),
            record: fault.record,
            rule: fault.rule,
            nodes: fault.nodes,
        }
    };
    Ok(Fleet {
        nodes: counted.nodes,
        gpus: counted.gpus,
        verdicts: Verdict::ALL.into_iter().map(of).collect(),
        actions: counted.actions,
        models: counted.models,
        drivers: counted.drivers,
        labels: counted.labels,
        faults: counted.faults.into_iter().map(fault).collect(),
        silent: counted.silent,
        oldest: counted.oldest,
    })
}

/// Nodes as gauges: real ones, since a simulated node calls nobody.
#[derive(Debug, Clone, PartialEq)]
pub struct Gauges {
    pub verdicts: Vec<(Verdict, f64)>,
    /// Every word of what to do first, and `unknown`.
    pub actions: Vec<(&'static str, f64)>,
    pub silent: f64,
}

impl Gauges {
    /// What nobody could count.
    pub fn unknown() -> Self {
        Self::of(&|_| f64::NAN, &|_| f64::NAN, f64::NAN)
    }

    fn of(verdict: &dyn Fn(Verdict) -> f64, action: &dyn Fn(&str) -> f64, silent: f64) -> Self {
        let actions = Action::WORDS
            .iter()
            .copied()
            .chain([super::fleet_filter::UNKNOWN]);
        Self {
            verdicts: Verdict::ALL
                .into_iter()
                .map(|word| (word, verdict(word)))
                .collect(),
            actions: actions.map(|word| (word, action(word))).collect(),
            silent,
        }
    }
}

/// Counts the real nodes.
pub async fn gauges(store: &dyn NodeStore, silent_before: OffsetDateTime) -> Result<Gauges, StoreError> {
    let query = FleetQuery {
        filter: NodeFilter {
            simulated: Some(false),
            ..NodeFilter::default()
        },
        silent_before,
        faults: 0,
        oldest: 0,
        labels: 0,
    };
    let counted = store.fleet(&query).await?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a gauge is a float; 2^53 nodes are out of reach"
    )]
    let number = |nodes: u64| nodes as f64;
    let verdict = |word: Verdict| {
        let known = counted.verdicts.iter().find(|count| count.verdict == word);
        number(known.map_or(0, |count| count.nodes))
    };
    let action = |wanted: &str| {
        let is_wanted = |action: Option<Action>| match action {
            Some(action) => word(action) == wanted,
            None => wanted == super::fleet_filter::UNKNOWN,
        };
        let known = counted.actions.iter().find(|(action, _)| is_wanted(*action));
        number(known.map_or(0, |(_, nodes)| *nodes))
    };
    Ok(Gauges::of(&verdict, &action, number(counted.silent)))
}
