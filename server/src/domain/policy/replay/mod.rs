//! What another policy would have said of stored reports: which nodes it judges otherwise, what it would have drained, and what came
//! of that.
//!
//! ```text
//! history   the reports of a node that are read      outcome   what was done after a drain, and what it showed
//! ```

mod history;
mod outcome;

use std::sync::Arc;
use std::time::{Duration as Wait, Instant};

use kb_core::ids::NodeId;
use kb_core::policy::Policy;
use kb_core::report::Report;
use kb_core::severity::Action;
use kb_core::text::Json;
use kb_core::verdict::{ExitCode, Verdict};
use serde::Serialize;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::{Stages, version};
use crate::domain::correlate::Correlator;
use crate::domain::ingest::{IngestError, judge_alone, verdict_by};
use crate::feed::Generation;
use crate::store::{Causes, Gravity, NodeListing, NodeQuery, Store};

use history::{History, Told};
pub use outcome::Outcome;

/// Days that may be asked for.
pub const DAYS_MAX: u32 = 366;
/// Nodes of one page at most.
pub const NODES_MAX: u32 = 100;

/// What is held against what.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// The records, and what holds reports against them.
    pub knowledge: (&'a Arc<Generation>, &'a Arc<Correlator>),
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
    /// Nodes of which a report that tells of them cannot be judged here, or which the server itself calls worse than the replay does by the
    /// present policy, or of which the given policy may bring back a fault that rules took away: nothing is said of these.
    pub not_judged: u64,
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
    /// The worst of the newest report and of those whose faults are open.
    pub verdict: Verdict,
    /// What to do first about the worst that is found in that; none where no record says it, or nothing is.
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
    let (generation, correlator) = asked.knowledge;
    // What the server said by the very rules that it is held against.
    let rule_set = version::of(&correlator.records_version(generation), present);
    let is_by_present = node.summary.rule_set.as_ref() == Some(&rule_set);
    let said_by_server = is_by_present.then_some(node.summary.verdict);
    let policies = [present.for_node(&node.labels), asked.given.for_node(&node.labels)];
    let history = history::of_node((store, asked.knowledge), &node.id, since, policies).await?;
    let History {
        told,
        open,
        is_unread,
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
    let stands = |which: usize| {
        let by_open = open.iter().map(|one| one.by(which));
        // Of equals the newest report tells it.
        by_open
            .chain([newest.by(which)])
            .max_by_key(|judged| judged.verdict)
    };
    let by_present = stands(0).map(|judged| judged.verdict);
    if is_unread || said_by_server > by_present {
        replay.counts.not_judged += 1;
        return Ok(());
    }
    let said = |which: usize| {
        let drained = told.iter().position(|one| one.by(which).is_drain());
        let outcome = drained.map(|at| outcome::of(&told, at, &exchanged));
        let standing = stands(which).unwrap_or_else(|| newest.by(which));
        let (verdict, action) = (standing.verdict, standing.action);
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
    let differs = told.iter().chain(&open).any(Told::differs);
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
        self.not_judged += other.not_judged;
        self.otherwise += other.otherwise;
        self.reports_read += other.reports_read;
        self.reports_left_out += other.reports_left_out;
        self.drains_present.add(&other.drains_present);
        self.drains_given.add(&other.drains_given);
    }

    /// `would judge 3 of 412 nodes otherwise; 7 more have no report of the time, so that nothing is known of them`.
    pub fn sentence(&self) -> String {
        let unsaid = self.without_history.saturating_add(self.not_judged);
        let known = self.nodes.saturating_sub(unsaid);
        let more = if known == 0 { "" } else { " more" };
        let mut unknown = String::new();
        if self.without_history > 0 {
            let nodes = self.without_history;
            unknown = format!("; {nodes}{more} have no report of the time, so that nothing is known of them");
        }
        if self.not_judged > 0 {
            let nodes = self.not_judged;
            unknown = format!("{unknown}; {nodes}{more} were not judged: this says nothing of them");
        }
        match (known, self.nodes) {
            (0, 0) => "nothing can be told: there is no node".to_owned(),
            (0, _) => format!("nothing can be told{unknown}"),
            _ => format!(
                "would judge {} of {known} nodes otherwise{unknown}",
                self.otherwise
            ),
        }
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
    /// What the server makes of a report that comes to it with this policy, and what that tells of by names.
    fn of(
        (generation, correlator): (&Generation, &Correlator),
        (report, body): (&Report, &Json),
        (policy, now): (&Policy, OffsetDateTime),
    ) -> (Self, Causes) {
        let mut report = report.clone();
        let alone = judge_alone(generation, correlator, (&mut report, body), (policy, now));
        let causes = alone.causes(&report, policy);
        let weighing = alone.findings.iter().map(|finding| finding.gravity);
        let worst = weighing.filter(Gravity::counts).max_by_key(Gravity::weight);
        let judged = Self {
            verdict: alone.verdict,
            action: worst.and_then(|gravity| gravity.action),
        };
        (judged, causes)
    }

    /// By the records alone, without what the logs tell: what a run itself came to.
    fn of_run(report: &Report, now: OffsetDateTime) -> Self {
        let mut report = report.clone();
        let policy = Policy::default();
        kb_core::health::report_by(&policy, &mut report, now);
        Self {
            verdict: verdict_by(&report, &policy),
            action: None,
        }
    }

    /// Whether an armed gate would drain, were its breaker closed.
    fn is_drain(self) -> bool {
        ExitCode::of(self.verdict) == ExitCode::Fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_said_of_all_nodes_or_of_the_others() {
        let counts = |nodes, without_history, not_judged| Counts {
            nodes,
            without_history,
            not_judged,
            ..Counts::default()
        };
        for (counts, expected) in [
            (counts(0, 0, 0), "nothing can be told: there is no node"),
            (
                counts(2, 2, 0),
                "nothing can be told; 2 have no report of the time, so that nothing is known of them",
            ),
            (
                counts(3, 2, 1),
                "nothing can be told; 2 have no report of the time, so that nothing is known of them; \
                 1 were not judged: this says nothing of them",
            ),
            (
                counts(3, 0, 1),
                "would judge 0 of 2 nodes otherwise; 1 more were not judged: this says nothing of them",
            ),
        ] {
            assert_eq!(counts.sentence(), expected);
        }
    }
}
