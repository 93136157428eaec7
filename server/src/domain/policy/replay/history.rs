//! The reports of a node that a replay reads: the newest of each day, and those at which the verdict changed.

use std::collections::BTreeSet;

use kb_core::ids::NodeId;
use kb_core::policy::Policy;
use kb_core::report::Report;
use time::{Date, OffsetDateTime};

use super::Judged;
use crate::domain::ingest::{IngestError, parse_stored};
use crate::store::{NodeChange, ReportListing, ReportQuery, Store, Weight};

/// Reports of a node that are read at most.
const MOST_READ: usize = 60;
/// Reports of a node that are listed at most: hourly ones of three months.
const MOST_LISTED: usize = 2_200;
const PAGE: u32 = 200;
/// Events of a node that are looked at.
const EVENTS: u32 = 100;

/// A report, and what both policies say of it.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) at: OffsetDateTime,
    pub(super) weight: Weight,
    /// By the present policy and by the given one.
    pub(super) judged: [Judged; 2],
    /// By the records alone: what a proof met is no matter of a policy.
    pub(super) by_records: Judged,
    /// Minutes of load ran: why the node was not admitted by them, or nothing where it was.
    pub(super) admission: Option<Option<String>>,
    pub(super) boot: Option<String>,
}

impl Told {
    pub(super) fn by(&self, which: usize) -> Judged {
        let [present, given] = self.judged;
        if which == 0 { present } else { given }
    }

    pub(super) fn differs(&self) -> bool {
        let [present, given] = self.judged;
        present != given
    }
}

/// What is known of a node in the time.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The oldest first.
    pub(super) told: Vec<Told>,
    pub(super) left_out: u64,
    /// When GPUs of it were exchanged.
    pub(super) exchanged: Vec<OffsetDateTime>,
}

pub(super) async fn of_node(
    store: &dyn Store,
    node: &NodeId,
    since: OffsetDateTime,
    policies: [Policy; 2],
) -> Result<History, IngestError> {
    let listed = listed(store, node, since).await?;
    let chosen = chosen(&listed);
    let mut history = History {
        left_out: u64::try_from(listed.len() - chosen.len()).unwrap_or(u64::MAX),
        ..History::default()
    };
    for listing in chosen.into_iter().rev() {
        let Some(stored) = store.report(Some(node), &listing.id).await? else {
            continue;
        };
        let policies = policies.clone();
        let (at, weight) = (listing.ended(), listing.weight);
        let work = tokio::task::spawn_blocking(move || {
            let report = parse_stored(&stored).ok()?.report;
            Some(told(&report, &policies, at, weight))
        });
        match work.await.map_err(|_| IngestError::Panicked)? {
            Some(told) => history.told.push(told),
            None => history.left_out += 1,
        }
    }
    let events = store.node_events(node, EVENTS).await?;
    let exchanged = events.iter().filter(|event| {
        event.at >= since && matches!(&event.change, NodeChange::GpusChanged { left, .. } if !left.is_empty())
    });
    history.exchanged = exchanged.map(|event| event.at).collect();
    Ok(history)
}

fn told(report: &Report, [present, given]: &[Policy; 2], at: OffsetDateTime, weight: Weight) -> Told {
    Told {
        at,
        weight,
        judged: [Judged::of(report, present, at), Judged::of(report, given, at)],
        by_records: Judged::of(report, &Policy::default(), at),
        admission: report
            .load
            .as_ref()
            .map(|_| kb_core::verdict::not_admitted(report)),
        boot: report.node.boot_id.clone(),
    }
}

/// The newest first.
async fn listed(
    store: &dyn Store,
    node: &NodeId,
    since: OffsetDateTime,
) -> Result<Vec<ReportListing>, IngestError> {
    let mut all: Vec<ReportListing> = Vec::new();
    loop {
        let before = all.last().map(|last| (last.received_at, last.id.clone()));
        let query = ReportQuery {
            node: Some(node.clone()),
            before,
            limit: PAGE,
        };
        let page = store.reports(query).await?;
        let is_last = page.len() < PAGE as usize;
        let ends = page.iter().any(|report| report.received_at < since);
        all.extend(
            page.into_iter()
                .filter(|report| report.received_at >= since && !report.simulated),
        );
        if is_last || ends || all.len() >= MOST_LISTED {
            return Ok(all);
        }
    }
}

/// The newest first. A change of verdict or weight counts before a day.
fn chosen(listed: &[ReportListing]) -> Vec<&ReportListing> {
    let mut days: BTreeSet<Date> = BTreeSet::new();
    let mut changes: Vec<usize> = Vec::new();
    let mut daily: Vec<usize> = Vec::new();
    for (index, report) in listed.iter().enumerate() {
        let older = listed.get(index + 1);
        let is_change = older.is_none_or(|older| {
            (older.verdict, older.weight, older.findings) != (report.verdict, report.weight, report.findings)
        });
        let is_newest_of_day = days.insert(report.received_at.date());
        if is_change {
            changes.push(index);
        } else if is_newest_of_day {
            daily.push(index);
        }
    }
    let mut all: Vec<usize> = changes.into_iter().chain(daily).take(MOST_READ).collect();
    all.sort_unstable();
    all.into_iter().filter_map(|index| listed.get(index)).collect()
}
