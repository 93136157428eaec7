//! What another policy would have said of stored reports: which nodes it judges otherwise, what it would have drained, and what came
//! of that.
//!
//! ```text
//! history   the reports of a node that are read      outcome   what was done after a drain, and what it showed
//! ```

mod history;
mod outcome;

use std::time::{Duration as Wait, Instant};

use kb_core::ids::NodeId;
use kb_core::policy::Policy;
use kb_core::report::{Bearing, Report};
use kb_core::severity::Action;
use kb_core::verdict::{ExitCode, Verdict};
use serde::Serialize;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::Stages;
use crate::domain::ingest::{IngestError, verdict_by};
use crate::store::{NodeListing, NodeQuery, Store};

use history::{History, Told};
pub use outcome::Outcome;

/// Days that may be asked for.
pub const DAYS_MAX: u32 = 366;
/// Nodes of one page at most.
pub const NODES_MAX: u32 = 100;

/// What is held against what.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// What nodes are judged by now.
    pub present: &'a Stages,
    pub given: &'a Policy,
    pub days: u32,
    /// The node that was told last.
    pub after: Option<NodeId>,
    pub nodes: u32,
    /// No further node is begun after so long.
    pub within: Wait,
    pub now: OffsetDateTime,
}

/// A page of nodes.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Replay {
    pub counts: Counts,
    /// Nodes that the given policy judges otherwise, or would have drained.
    pub nodes: Vec<NodeReplay>,
    /// Where the next page begins behind; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<NodeId>,
}

/// Of all nodes of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub nodes: u64,
    /// Nodes without a report in the time: nothing is known of what would have been said of them.
    pub without_history: u64,
    /// Nodes that the given policy judges otherwise, in verdict, action or drain.
    pub otherwise: u64,
    pub reports_read: u64,
    /// Reports of the time that were not read: one of the same day or verdict was, or the node has too many.
    pub reports_left_out: u64,
    pub drains_present: Drains,
    pub drains_given: Drains,
}

/// Nodes that a policy would have drained, and what was done about them later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Drains {
    pub nodes: u64,
    pub confirmed: u64,
    pub contradicted: u64,
    /// Nothing was done that would tell.
    pub untold: u64,
}

/// What is said of one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeReplay {
    pub node: NodeId,
    pub reports: u64,
    /// From when its reports are known, RFC 3339, where it has so many that older ones of the time are only counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_from: Option<String>,
    pub present: Said,
    pub given: Said,
}

/// By one policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// Of the newest report.
    pub verdict: Verdict,
    /// What to do first about the worst that is open in it; none where no record says it, or nothing is.
    pub action: Option<Action>,
    /// When it would have drained the node first, RFC 3339.
    pub drained_at: Option<String>,
    /// What was done later.
    pub outcome: Option<Outcome>,
}

/// Replays the nodes of a page.
pub async fn replay(store: &dyn Store, asked: Asked<'_>) -> Result<Replay, IngestError> {
    let limit = asked.nodes.clamp(1, NODES_MAX);
    let listed = store
        .nodes(&NodeQuery::first(limit).after(asked.after.as_ref()))
        .await?;
    let is_full = listed.len() == limit as usize;
    let since = asked
        .now
        .saturating_sub(Duration::days(i64::from(asked.days.min(DAYS_MAX))));
    let began = Instant::now();
    let mut replay = Replay::default();
    let mut last = None;
    let mut is_cut = false;
    for node in &listed {
        if began.elapsed() > asked.within && last.is_some() {
            is_cut = true;
            break;
        }
        of_node(store, &asked, node, since, &mut replay).await?;
        last = Some(node.id.clone());
    }
    replay.next = last.filter(|_| is_full || is_cut);
    Ok(replay)
}

async fn of_node(
    store: &dyn Store,
    asked: &Asked<'_>,
    node: &NodeListing,
    since: OffsetDateTime,
    replay: &mut Replay,
) -> Result<(), IngestError> {
    replay.counts.nodes += 1;
    let (_, present) = asked.present.of(&node.id);
    let policies = [present.for_node(&node.labels), asked.given.for_node(&node.labels)];
    let history = history::of_node(store, &node.id, since, policies).await?;
    let History {
        told,
        left_out,
        known_from,
        exchanged,
    } = history;
    let read = u64::try_from(told.len()).unwrap_or(u64::MAX);
    replay.counts.reports_read += read;
    replay.counts.reports_left_out += left_out;
    let Some(newest) = told.last() else {
        replay.counts.without_history += 1;
        return Ok(());
    };
    let said = |which: usize| {
        let drained = told.iter().position(|one| one.by(which).is_drain());
        let outcome = drained.map(|at| outcome::of(&told, at, &exchanged));
        let (verdict, action) = (newest.by(which).verdict, newest.by(which).action);
        let at = drained
            .and_then(|at| told.get(at))
            .and_then(|one| one.at.format(&Rfc3339).ok());
        Said {
            verdict,
            action,
            drained_at: at,
            outcome,
        }
    };
    let (present, given) = (said(0), said(1));
    count(&mut replay.counts.drains_present, &present);
    count(&mut replay.counts.drains_given, &given);
    let differs = told.iter().any(Told::differs);
    replay.counts.otherwise += u64::from(differs);
    if differs || given.drained_at.is_some() {
        replay.nodes.push(NodeReplay {
            node: node.id.clone(),
            reports: read,
            known_from: known_from.and_then(|at| at.format(&Rfc3339).ok()),
            present,
            given,
        });
    }
    Ok(())
}

fn count(drains: &mut Drains, said: &Said) {
    let Some(outcome) = &said.outcome else { return };
    drains.nodes += 1;
    match outcome {
        Outcome::Confirmed { .. } => drains.confirmed += 1,
        Outcome::Contradicted { .. } => drains.contradicted += 1,
        Outcome::Untold => drains.untold += 1,
    }
}

impl Counts {
    /// Adds those of another page.
    pub fn add(&mut self, other: &Self) {
        self.nodes += other.nodes;
        self.without_history += other.without_history;
        self.otherwise += other.otherwise;
        self.reports_read += other.reports_read;
        self.reports_left_out += other.reports_left_out;
        self.drains_present.add(&other.drains_present);
        self.drains_given.add(&other.drains_given);
    }

    /// `would judge 3 of 412 nodes otherwise; 7 more have no report of the time, so that nothing is known of them`.
    pub fn sentence(&self) -> String {
        let known = self.nodes - self.without_history;
        let unknown = match self.without_history {
            0 => String::new(),
            more => format!("; {more} more have no report of the time, so that nothing is known of them"),
        };
        if known == 0 {
            return format!("nothing can be told: no node has a report of the time{unknown}");
        }
        format!(
            "would judge {} of {known} nodes otherwise{unknown}",
            self.otherwise
        )
    }
}

impl Drains {
    fn add(&mut self, other: &Self) {
        self.nodes += other.nodes;
        self.confirmed += other.confirmed;
        self.contradicted += other.contradicted;
        self.untold += other.untold;
    }

    /// `12 nodes drained: 5 confirmed, 1 contradicted, of 6 nothing tells`.
    pub fn sentence(&self) -> String {
        let noun = if self.nodes == 1 { "node" } else { "nodes" };
        format!(
            "{} {noun} drained: {} confirmed by what was done later, {} contradicted, of {} nothing tells",
            self.nodes, self.confirmed, self.contradicted, self.untold
        )
    }
}

/// What one policy says of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Judged {
    verdict: Verdict,
    action: Option<Action>,
}

impl Judged {
    fn of(report: &Report, policy: &Policy, now: OffsetDateTime) -> Self {
        let mut report = report.clone();
        kb_core::health::report_by(policy, &mut report, now);
        let open = report.health.iter().flat_map(|health| &health.open);
        let weighing = open.filter(|entry| entry.bearing > Bearing::Event);
        let worst = weighing.max_by_key(|entry| (entry.bearing, entry.severity, entry.action));
        Self {
            verdict: verdict_by(&report, policy),
            action: worst.and_then(|entry| entry.action),
        }
    }

    /// Whether an armed gate would drain, were its breaker closed.
    fn is_drain(self) -> bool {
        ExitCode::of(self.verdict) == ExitCode::Fault
    }
}
