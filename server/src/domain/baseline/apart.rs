//! What of a run is apart from its like for the second time: that is a finding, once is chance.
//!
//! Nothing of it is a verdict: the node works. Copies with the host are left out, since other guests and programs share the host's
//! memory, and what the host takes to queue copies.

use std::fmt::Write as _;
use std::sync::Arc;

use kb_core::baseline::{
    Cohort, Compared, Figure, Outlier, Reviewed, Standing, Subject, figures, outliers, review,
};
use kb_core::ids::RecordId;
use kb_core::report::{Bearing, PairVerdict, Report, fact_name};
use kb_core::verdict::{Expect, Verdict, cause};
use serde_json::json;
use time::OffsetDateTime;

use super::like::Like;
use super::own::Own;
use super::peers::Peers;
use crate::store::{BaselineStore, Gravity, NewFinding, NodeBaseline, StoreError};

/// Beginning of the rules of outliers.
pub const OUTLIER: &str = "outlier/";
const OF_NODE: &str = "outlier/node";
const UNLIKE_PEERS: &str = "peers/refused";
/// The record of pairs, and of GPUs with most of their pairs.
const SLOW_PAIR: &str = "nvlink/pair-slower-than-its-peers";
/// The record of a node that is refused what its like has.
const REFUSED: &str = "p2p/refused-unlike-its-peers";
/// Other nodes that must have peer access before its lack is told.
const LEAST_NODES: u32 = 5;
/// Beginnings of tests in which a host takes part.
const OF_HOST: [&str; 5] = ["h2d", "d2h", "host_", "copy_queueing", "copy_enqueue"];

/// What of a run that came and ended then is apart from other nodes, and was so in the run before. The findings name no record yet:
/// [`explained_by`] says which.
pub async fn apart(
    store: &dyn BaselineStore,
    like: &Like,
    report: &Arc<Report>,
    (received_at, ended): (OffsetDateTime, OffsetDateTime),
) -> Result<Vec<NewFinding>, StoreError> {
    // Another tool's figures are of who knows when, and it knows nothing of what the operator expects.
    if report.host.contains_key(fact_name::CONVERT_TOOLS) {
        return Ok(Vec::new());
    }
    let is_refused = is_refused(report);
    if report.measurements.is_empty() && !is_refused {
        return Ok(Vec::new());
    }
    let Ok(cohort) = Cohort::of(report) else {
        return Ok(Vec::new());
    };
    let nodes = like.of(store, &cohort, received_at).await?;
    let of_report = Arc::clone(report);
    let (peers, reviewed) = computed(move || beside_peers(&of_report, &nodes)).await?;
    let mut found = Vec::new();
    if is_refused && peers.reach >= LEAST_NODES {
        found.push(refused(peers.reach));
    }
    if reviewed.iter().all(|one| one.standing() < Standing::Watch) {
        return Ok(found);
    }
    // Read only where something is apart.
    let own = Own::before(store, (received_at, ended), report).await?;
    let named = computed(move || again(reviewed, &peers, &own)).await?;
    found.extend(named.iter().map(of_outlier));
    Ok(found)
}

/// The record that explains a finding of [`apart`], whether or not it is published.
pub fn explained_by(rule: &str, report: &Report) -> Option<RecordId> {
    let record = match rule {
        UNLIKE_PEERS => REFUSED,
        OF_NODE => return None,
        _ if rule.starts_with(OUTLIER) && report.gpus.len() > 1 => SLOW_PAIR,
        _ => return None,
    };
    record.parse().ok()
}

/// The figures that may tell something of the node.
pub(super) fn of_devices(report: &Report) -> Vec<Figure> {
    let mut measured = figures(report);
    measured.retain(|figure| !is_of_host(figure));
    measured
}

async fn computed<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    let work = tokio::task::spawn_blocking(work).await;
    work.map_err(|_| StoreError::Unavailable("a report could not be held against other nodes".to_owned()))
}

fn beside_peers(report: &Report, nodes: &[NodeBaseline]) -> (Peers, Vec<Reviewed>) {
    let measured = of_devices(report);
    let peers = Peers::among(nodes, &report.node.id, &measured);
    let compared = |figure: &Figure| {
        (
            Compared::with_peers(figure, peers.group(figure)),
            Compared::None,
            Compared::None,
        )
    };
    let mut reviewed = review(report, measured, compared);
    for one in &mut reviewed {
        // A pair may differ from the node's others in each node of its kind.
        one.in_node = Compared::None;
    }
    (peers, reviewed)
}

/// What was apart in the run before, too.
fn again(mut reviewed: Vec<Reviewed>, peers: &Peers, own: &Own) -> Vec<Outlier> {
    reviewed.retain(|one| one.standing() < Standing::Watch || is_again(one, peers, own));
    outliers(&reviewed)
}

/// Whether peer access is refused to all pairs, and neither the operator nor a mode of the GPUs wants it so.
pub(super) fn is_refused(report: &Report) -> bool {
    let expect = report.conclusion.expect.as_deref().and_then(Expect::of_words);
    let expect = expect.unwrap_or_default();
    let is_unwanted = |pair: &PairVerdict| {
        let is_of_mode = matches!(
            pair.cause.as_deref(),
            Some(cause::MIG_ENABLED | cause::CONFIDENTIAL_COMPUTING)
        );
        // By `p2p=auto` a refusal as product policy is information, and a node that alone has it is unlike the others.
        let is_expected = pair.information && expect != Expect::Auto;
        pair.verdict == Verdict::Refused && !is_expected && !is_of_mode
    };
    !report.pairs.is_empty() && report.pairs.iter().all(|pair| is_unwanted(&pair.verdict))
}

fn is_of_host(figure: &Figure) -> bool {
    OF_HOST.iter().any(|start| figure.series.test.starts_with(start))
}

/// Whether the run before had the same figure apart from what the others have now, too.
fn is_again(one: &Reviewed, peers: &Peers, own: &Own) -> bool {
    let Some(value) = own.value(&one.figure) else {
        return false;
    };
    let before = Figure {
        value,
        ..one.figure.clone()
    };
    match peers.group(&before) {
        Some(group) => Compared::with_peers(&before, Some(group)).standing() >= Standing::Watch,
        None => false,
    }
}

fn of_outlier(outlier: &Outlier) -> NewFinding {
    let (rule, subject) = match outlier.subject {
        Subject::Node => (OF_NODE, "report".to_owned()),
        Subject::Gpu { gpu } => ("outlier/gpu", format!("gpu {gpu}")),
        Subject::Pair { a, b } => ("outlier/pair", format!("pair {a}-{b}")),
    };
    let mut title = String::new();
    if let Some(test) = outlier.tests.first() {
        let percent = 100.0 * test.difference;
        // Writing to a String cannot fail.
        let _ = write!(
            title,
            "{}: {percent:+.1} % beside its like, for the second time",
            test.test
        );
    }
    let evidence: Vec<_> = outlier
        .tests
        .iter()
        .map(|test| {
            let pointer = format!("/measurements/{}", test.measurement);
            json!({ "pointer": pointer, "value": test.difference, "test": test.test, "bytes": test.bytes })
        })
        .collect();
    finding(rule, subject, title, &json!(evidence))
}

fn refused(nodes: u32) -> NewFinding {
    let title = format!(
        "peer access is refused here, and {nodes} other nodes with this GPU model and driver branch have it"
    );
    let evidence = json!([{ "pointer": "/pairs/0/verdict", "value": Verdict::Refused.word() }]);
    finding(UNLIKE_PEERS, "report".to_owned(), title, &evidence)
}

fn finding(rule: &str, subject: String, title: String, evidence: &serde_json::Value) -> NewFinding {
    NewFinding {
        record: None,
        rule: rule.to_owned(),
        subject,
        title,
        evidence: evidence.to_string(),
        gravity: Gravity {
            bearing: Bearing::Warning,
            ..Gravity::default()
        },
        by_policy: None,
    }
}
