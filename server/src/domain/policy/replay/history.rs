//! The reports of a node that a replay reads: the newest of each day, and those at which the verdict changed.

use std::collections::BTreeSet;
use std::sync::Arc;

use kb_core::ids::NodeId;
use kb_core::policy::Policy;
use kb_core::verdict::Verdict;
use time::{Date, OffsetDateTime};

use super::Judged;
use crate::domain::correlate::Correlator;
use crate::domain::ingest::{IngestError, Parsed, parse_stored};
use crate::feed::Generation;
use crate::store::{Causes, NodeChange, ReportListing, ReportQuery, Store, Weight};

/// Reports of a node in the time that are read at most, and as many whose faults are open.
const MOST_READ: usize = 60;
/// Reports of a node that are read at most of whose faults other rules took something.
const MOST_RULED_OUT: u32 = 60;
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
    /// What each of them tells against the node, by names.
    pub(super) causes: [Causes; 2],
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
    /// Reports of whenever whose faults are open.
    pub(super) open: Vec<Told>,
    /// The newest report or one whose fault is open could not be read, or more are open than are read, or a fault that other rules took away
    /// may come back.
    pub(super) is_unread: bool,
    pub(super) left_out: u64,
    /// When the oldest report came that was listed, where older ones of the time were not.
    pub(super) known_from: Option<OffsetDateTime>,
    /// When GPUs of it were exchanged.
    pub(super) exchanged: Vec<OffsetDateTime>,
}

pub(super) async fn of_node(
    (store, knowledge): (&dyn Store, (&Arc<Generation>, &Arc<Correlator>)),
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
    let newest = listed.reports.first().map(|report| &report.id);
    for listing in chosen.into_iter().rev() {
        if let Some(told) = told(store, knowledge, listing, &policies).await? {
            history.told.push(told);
        } else {
            history.left_out += 1;
            history.is_unread |= newest == Some(&listing.id);
        }
    }
    // Without a report of the time nothing is said of the node.
    if history.told.is_empty() {
        return Ok(history);
    }
    let known = store.proofs(node, false, 1).await?;
    history.is_unread |= known.has_more_open || known.open.len() > MOST_READ;
    for fault in known.open.iter().take(MOST_READ) {
        let Some(mut one) = told(store, knowledge, &fault.report, &policies).await? else {
            history.is_unread = true;
            continue;
        };
        for (judged, causes) in one.judged.iter_mut().zip(&one.causes) {
            // What is over of a fault is over by the policy that tells no more than was over.
            if fault.causes.only_warns.is_some() && causes.are_among(&fault.causes) {
                judged.verdict = judged.verdict.min(Verdict::Degraded);
            }
            // GPUs that are gone are gone by whatever policy.
            if fault.causes.gone_from.is_some() {
                judged.verdict = judged.verdict.max(Verdict::Unknown);
            }
        }
        history.open.push(one);
    }
    history.is_unread |= may_come_back(store, knowledge, node, &policies).await?;
    let events = store.node_events(node, EVENTS).await?;
    let exchanged = events.iter().filter(|event| {
        event.at >= since && matches!(&event.change, NodeChange::GpusChanged { left, .. } if !left.is_empty())
    });
    history.exchanged = exchanged.map(|event| event.at).collect();
    Ok(history)
}

/// Whether the given policy makes a fault of what other rules took away and the present one still takes away: whether a later report would
/// have ended it is not known.
async fn may_come_back(
    store: &dyn Store,
    knowledge: (&Arc<Generation>, &Arc<Correlator>),
    node: &NodeId,
    policies: &[Policy; 2],
) -> Result<bool, IngestError> {
    let ruled_out = store.ruled_out(node, MOST_RULED_OUT + 1).await?;
    if u32::try_from(ruled_out.len()).unwrap_or(u32::MAX) > MOST_RULED_OUT {
        return Ok(true);
    }
    for listing in &ruled_out {
        let Some(told) = told(store, knowledge, listing, policies).await? else {
            return Ok(true);
        };
        let [present, given] = told.judged.map(|judged| judged.verdict);
        if given > present.max(Verdict::NoFaultSeen) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What both policies say of a report; `None` where it cannot be read.
async fn told(
    store: &dyn Store,
    (generation, correlator): (&Arc<Generation>, &Arc<Correlator>),
    listing: &ReportListing,
    policies: &[Policy; 2],
) -> Result<Option<Told>, IngestError> {
    let Some(stored) = store.report(Some(&listing.node), &listing.id).await? else {
        return Ok(None);
    };
    let (generation, correlator) = (Arc::clone(generation), Arc::clone(correlator));
    let (at, weight, policies) = (listing.ended(), listing.weight, policies.clone());
    let came_at = listing.received_at;
    let work = tokio::task::spawn_blocking(move || {
        let Parsed { report, body } = parse_stored(&stored).ok()?;
        let by =
            |policy: &Policy| Judged::of((&generation, &correlator), (&report, &body), (policy, came_at));
        let [present, given] = policies.each_ref().map(by);
        Some(Told {
            at,
            weight,
            judged: [present.0, given.0],
            causes: [present.1, given.1],
            by_records: Judged::of_run(&report, came_at),
            admission: report
                .load
                .as_ref()
                .map(|_| kb_core::verdict::not_admitted(&report).map_or(Ok(()), Err)),
            boot: report.node.boot_id.clone(),
        })
    });
    work.await.map_err(|_| IngestError::Panicked)
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
    use crate::domain::correlate::samples::{proven, report};
    use crate::domain::correlate::{Correlator, judge_again, recorrelate};
    use crate::domain::enrol::Writer;
    use crate::domain::ingest::{Arrival, accept};
    use crate::domain::policy::{Stages, file};
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
            body["report_id"] = json!(format!("r{minute}"));
            body["simulated"] = json!(is_simulated);
            send((store.as_ref(), &generation, &correlator), &body, minute).await;
        }
        let node = body["node"]["id"].as_str().unwrap().parse().unwrap();
        (store, node)
    }

    async fn send(
        door: (&dyn Store, &Arc<Generation>, &Arc<Correlator>),
        body: &serde_json::Value,
        minute: i64,
    ) {
        let (store, generation, correlator) = door;
        let writer = Writer {
            node: None,
            enrol_only: false,
        };
        let arrival = Arrival {
            received_at: NOON + Duration::minutes(minute),
            sent_at: None,
        };
        let sent = body.to_string().into_bytes();
        accept(store, generation, correlator, (sent, writer), arrival)
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn a_fault_that_a_policy_took_away_may_come_back_by_another() {
        const XID_48: [&str; 2] = [
            include_str!("../../../../../kb-seed/xid/48-double-bit-ecc.json"),
            include_str!("../../../../../kb-seed/xid/48-double-bit-ecc.ext.json"),
        ];
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("peerless.db").display());
        let store = connect(&url, &ConnectOptions::default()).await.unwrap();
        let [document, annex] = XID_48.map(str::to_owned);
        let generation = generation_of(&[(document, annex)]);
        let text = "[[rule]]\ncode = \"xid 48\"\nis = \"ignore\"\nreason = \"a known board\"\n";
        let ignored = file::read(text, &[]).unwrap();
        let mut body = report(2, &[proven(0, 1)]);
        body["logs"] = json!([{ "source": "kmsg", "when": "before",
            "text": "[  9.0] NVRM: Xid (PCI:0000:01:00): 48, pid=12, name=x, DBE (double bit error) detected" }]);
        let by_records = Arc::new(Correlator::new());
        send((store.as_ref(), &generation, &by_records), &body, 0).await;
        let correlator = Arc::new(Correlator::by(Arc::new(Stages {
            current: ignored.clone(),
            candidate: None,
        })));
        judge_again(store.as_ref(), &correlator, &generation)
            .await
            .unwrap();
        recorrelate(store.as_ref(), &generation, &correlator, 8)
            .await
            .unwrap();
        // What stands and is the newest says nothing of it.
        body["report_id"] = json!("after");
        body["logs"] = json!([]);
        send((store.as_ref(), &generation, &correlator), &body, 1).await;
        let node = body["node"]["id"].as_str().unwrap().parse().unwrap();
        let knowledge = (&generation, &correlator);
        for (given, expected) in [(Policy::default(), true), (ignored.clone(), false)] {
            let policies = [ignored.clone(), given];
            let may = may_come_back(store.as_ref(), knowledge, &node, &policies).await;
            assert_eq!(may.unwrap(), expected);
        }
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
