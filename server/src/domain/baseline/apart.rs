//! What of a run is apart from its like for the second time: that is a finding, once is chance.
//!
//! Nothing of it is a verdict: the node works. Copies with the host are left out, since other guests and programs share the host's
//! memory, and what the host takes to queue copies.

use std::fmt::Write as _;

use kb_core::baseline::{
    Cohort, Compared, Figure, Outlier, Reviewed, Standing, Subject, figures, outliers, review,
};
use kb_core::ids::RecordId;
use kb_core::report::{Bearing, Report};
use kb_core::verdict::Verdict;
use serde_json::json;
use time::OffsetDateTime;

use super::like::Like;
use super::own::Own;
use super::peers::Peers;
use crate::store::{BaselineStore, Gravity, NewFinding, StoreError};

/// The record of pairs, and of GPUs with most of their pairs.
const SLOW_PAIR: &str = "nvlink/pair-slower-than-its-peers";
/// The record of a node that is refused what its like has.
const REFUSED: &str = "p2p/refused-unlike-its-peers";
/// Other nodes that must have peer access before its lack is told.
const LEAST_NODES: u32 = 5;
/// Beginnings of tests in which a host takes part.
const OF_HOST: [&str; 5] = ["h2d", "d2h", "host_", "copy_queueing", "copy_enqueue"];

/// A finding and the record that explains it, where that is published.
pub struct Apart {
    pub record: Option<RecordId>,
    pub finding: NewFinding,
}

/// What of a run that came and ended then is apart from other nodes, and was so in the run before.
pub async fn apart(
    store: &dyn BaselineStore,
    like: &Like,
    report: &Report,
    (received_at, ended): (OffsetDateTime, OffsetDateTime),
) -> Result<Vec<Apart>, StoreError> {
    let mut measured = figures(report);
    let is_refused = !report.pairs.is_empty() && report.pairs.iter().all(is_refused);
    measured.retain(|figure| !is_of_host(figure));
    let Ok(cohort) = Cohort::of(report) else {
        return Ok(Vec::new());
    };
    if measured.is_empty() && !is_refused {
        return Ok(Vec::new());
    }
    let nodes = like.of(store, &cohort, received_at).await?;
    let peers = Peers::among(&nodes, &report.node.id, &measured);
    let mut found = Vec::new();
    if is_refused && peers.reach >= LEAST_NODES {
        found.push(refused(peers.reach));
    }
    let compared = |figure: &Figure| {
        (
            Compared::with_peers(figure, peers.group(figure)),
            Compared::None,
            Compared::None,
        )
    };
    let mut reviewed = review(report, measured, compared);
    if reviewed.iter().all(|one| one.standing() < Standing::Watch) {
        return Ok(found);
    }
    // Read only where something is apart.
    let own = Own::before(store, (received_at, ended), report).await?;
    reviewed.retain(|one| one.standing() < Standing::Watch || is_again(one, &peers, &own));
    let named = outliers(&reviewed);
    found.extend(named.iter().map(|outlier| of_outlier(outlier, report)));
    Ok(found)
}

fn is_refused(pair: &kb_core::report::Pair) -> bool {
    pair.verdict.verdict == Verdict::Refused
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

fn of_outlier(outlier: &Outlier, report: &Report) -> Apart {
    let (rule, subject) = match outlier.subject {
        Subject::Node => ("outlier/node", "report".to_owned()),
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
            json!({ "pointer": pointer, "value": test.difference })
        })
        .collect();
    let of_pairs = outlier.subject != Subject::Node && report.gpus.len() > 1;
    Apart {
        record: of_pairs.then(|| SLOW_PAIR.parse().ok()).flatten(),
        finding: finding(rule, subject, title, &json!(evidence)),
    }
}

fn refused(nodes: u32) -> Apart {
    let title = format!(
        "peer access is refused here, and {nodes} other nodes with this GPU model and driver branch have it"
    );
    let evidence = json!([{ "pointer": "/pairs/0/verdict", "value": Verdict::Refused.word() }]);
    Apart {
        record: REFUSED.parse().ok(),
        finding: finding("peers/refused", "report".to_owned(), title, &evidence),
    }
}

/// A warning, unless its record says otherwise.
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
