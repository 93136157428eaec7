//! Whether a load and what was proven beside it admit a node.

use super::Verdict;
use super::again::by_records;
use super::load::findings;
use crate::observation::cause;
use crate::report::{Conclusion, Report};

/// The shortest load that admits a node.
const LEAST_SECONDS: f64 = 30.0;

/// Why a report does not admit its node; `None` where it does. That its sender found nothing in the load is not believed, and what a site's
/// policy passes over counts as the records say: an admission ends faults of the hardware for good.
pub fn not_admitted(report: &Report) -> Option<String> {
    let Some(load) = &report.load else {
        return Some("it has no load, which `peerless-agent admit` makes".to_owned());
    };
    // What only a newer agent finds counts, too.
    if let Some(finding) = findings(report).first().or_else(|| load.findings.first()) {
        return Some(format!("{}: {}", finding.cause, finding.reason));
    }
    if load.gpus.is_empty() {
        return Some("no GPU was loaded".to_owned());
    }
    if let Some(why) = lines_gone(report) {
        return Some(why);
    }
    // Against a stand-in for the driver a load is as short as a test needs it.
    if !report.simulated && load.seconds < LEAST_SECONDS {
        let (seconds, least) = (load.seconds, LEAST_SECONDS);
        return Some(format!(
            "its load lasted {seconds:.0} s, and {least:.0} are the least"
        ));
    }
    let alone = report.gpus.len() == 1 && report.pairs.is_empty();
    let told = |conclusion: &Conclusion| match conclusion.verdict {
        Verdict::Healthy => None,
        Verdict::NoFaultSeen if alone => None,
        verdict => Some(format!("{}: {}", verdict.word(), conclusion.reason)),
    };
    told(&report.conclusion).or_else(|| {
        let records = by_records(report).conclusion;
        // What is not proven by today's rules may have been enough for the agent that wrote it.
        told(&records)
            .filter(|_| records.verdict != Verdict::Unknown)
            .map(|told| format!("{told}, by the records, whatever the site's policy says"))
    })
}

/// Nobody knows what lines of this boot said that were gone before they were read. For a look that is no fault of the node; a repaired one
/// returns by what is known.
fn lines_gone(report: &Report) -> Option<String> {
    let boot = report.node.boot_id.as_deref();
    let mut open = report.health.iter().flat_map(|health| &health.open);
    let missed = open.find(|entry| entry.cause == cause::LOG_MISSED && entry.boot_id.as_deref() == boot)?;
    Some(format!(
        "{}: whether they tell of a fault is not known; admit it after a new boot, or read them and clear {}",
        missed.text, missed.id
    ))
}
