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
/// Pages of a node's reports that are listed at most: one report each 15 minutes for 104 days.
const MOST_PAGES: usize = 50;
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
    /// Minutes of load ran: why the node was not admitted by them, nothing where it was.
    pub(super) admission: Option<Result<(), String>>,
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
    /// When the oldest report came that was listed, where older ones of the time were not.
    pub(super) known_from: Option<OffsetDateTime>,
    /// When GPUs of it were exchanged.
    pub(super) exchanged: Vec<OffsetDateTime>,
}

pub(super) async fn of_node(
    store: &dyn Store,
    node: &NodeId,
    since: OffsetDateTime,
    policies: [Policy; 2],
) -> Result<History, IngestError> {
    let listed = listed(store, node, since, MOST_PAGES).await?;
    let chosen = chosen(&listed.reports);
    let not_read = u64::try_from(listed.reports.len() - chosen.len()).unwrap_or(u64::MAX);
    let oldest = listed.reports.last().filter(|_| listed.older > 0);
    let mut history = History {
        left_out: not_read.saturating_add(listed.older),
        known_from: oldest.map(|report| report.received_at),
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
            .map(|_| kb_core::verdict::not_admitted(report).map_or(Ok(()), Err)),
        boot: report.node.boot_id.clone(),
    }
}

/// Reports of a node in the time.
#[derive(Debug, Default)]
struct Listed {
    /// The newest first, without those of simulated runs.
    reports: Vec<ReportListing>,
    /// Reports in earnest of the time that are older than those listed.
    older: u64,
}

async fn listed(
    store: &dyn Store,
    node: &NodeId,
    since: OffsetDateTime,
    most_pages: usize,
) -> Result<Listed, IngestError> {
    let mut listed = Listed::default();
    let mut before = None;
    for _ in 0..most_pages {
        let query = ReportQuery {
            node: Some(node.clone()),
            before: before.take(),
            limit: PAGE,
        };
        let page = store.reports(query).await?;
        // The place in all reports: what is left of a page may be nothing.
        let last = page.last().map(|last| (last.received_at, last.id.clone()));
        let is_last = page.len() < PAGE as usize;
        let ends = page.iter().any(|report| report.received_at < since);
        listed.reports.extend(
            page.into_iter()
                .filter(|report| report.received_at >= since && !report.simulated),
        );
        if is_last || ends {
            return Ok(listed);
        }
        before = last;
    }
    if let Some(before) = before {
        listed.older = store.reports_in_earnest(node, since, before).await?;
    }
    Ok(listed)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use time::Duration;
    use time::macros::datetime;

    use super::*;
    use crate::domain::correlate::Correlator;
    use crate::domain::correlate::samples::{proven, report};
    use crate::domain::enrol::Writer;
    use crate::domain::ingest::{Arrival, accept};
    use crate::feed::samples::generation_of;
    use crate::store::{ConnectOptions, connect};

    const NOON: OffsetDateTime = datetime!(2026-11-21 12:00 UTC);

    /// A store with a report each minute from noon on, simulated or not.
    async fn with_reports(folder: &tempfile::TempDir, simulated: &[bool]) -> (Arc<dyn Store>, NodeId) {
        let url = format!("sqlite://{}", folder.path().join("peerless.db").display());
        let store = connect(&url, &ConnectOptions::default()).await.unwrap();
        let (generation, correlator) = (generation_of(&[]), Arc::new(Correlator::new()));
        let mut body = report(2, &[proven(0, 1)]);
        for (minute, is_simulated) in (0_i64..).zip(simulated) {
            let at = NOON + Duration::minutes(minute);
            body["report_id"] = json!(format!("r{minute}"));
            body["simulated"] = json!(is_simulated);
            let writer = Writer {
                node: None,
                enrol_only: false,
            };
            let sent = body.to_string().into_bytes();
            let arrival = Arrival {
                received_at: at,
                sent_at: None,
            };
            accept(store.as_ref(), &generation, &correlator, (sent, writer), arrival)
                .await
                .unwrap();
        }
        let node = body["node"]["id"].as_str().unwrap().parse().unwrap();
        (store, node)
    }

    #[tokio::test]
    async fn pages_of_simulated_runs_are_passed() {
        let folder = tempfile::tempdir().unwrap();
        let mut simulated = vec![false];
        simulated.resize(1 + PAGE as usize, true);
        let (store, node) = with_reports(&folder, &simulated).await;
        let listed = listed(store.as_ref(), &node, NOON, MOST_PAGES).await.unwrap();
        let ids: Vec<&str> = listed.reports.iter().map(|report| report.id.as_str()).collect();
        assert_eq!((ids.as_slice(), listed.older), (&["r0"][..], 0));
    }

    #[tokio::test]
    async fn reports_beyond_the_last_page_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let (store, node) = with_reports(&folder, &[false; PAGE as usize + 3]).await;
        let since = NOON + Duration::minutes(1);
        let one_page = listed(store.as_ref(), &node, since, 1).await.unwrap();
        assert_eq!((one_page.reports.len(), one_page.older), (PAGE as usize, 2));
        let all = listed(store.as_ref(), &node, since, MOST_PAGES).await.unwrap();
        assert_eq!((all.reports.len(), all.older), (PAGE as usize + 2, 0));
    }
}
