//! What the node's ledger holds open in a report, apart from what the run itself tells.

use kb_core::observation::cause;
use kb_core::policy::Policy;
use kb_core::report::{Bearing, Entry, Nature, Report};
use kb_core::verdict::Verdict;

use super::claim;
use super::log_read::is_told_by_log;
use super::weight::weigh;
use crate::store::Weight;

/// The device of an entry that is about the whole node.
const NODE: &str = "node";

/// The events that the ledger held open, as far as they mean so much.
pub(super) fn events(report: &Report, least: Bearing) -> impl Iterator<Item = &Entry> {
    entries(report, Nature::Event).filter(move |entry| entry.bearing >= least)
}

/// The states that the ledger held open, each of a device. Others than this version knows cannot be read again.
pub(super) fn states(report: &Report) -> impl Iterator<Item = &Entry> {
    let states = entries(report, Nature::State);
    states.filter(|entry| entry.device != NODE && cause::watched(&entry.cause).is_some())
}

fn entries(report: &Report, nature: Nature) -> impl Iterator<Item = &Entry> {
    let open = report.health.iter().flat_map(|health| &health.open);
    open.filter(move |entry| entry.nature == nature)
}

/// Whether nothing but what the ledger holds open speaks against the node: the run itself was good, or could not tell. That ends as it ends
/// for the ledger, whichever report told it. `causes`: names of what the report told. What its logs told by the records is none of it.
pub(super) fn is_of_ledger(report: &Report, causes: &[String], policy: &Policy) -> bool {
    if is_told_by_log(causes) {
        return false;
    }
    let Some(health) = &report.health else {
        return false;
    };
    // What the site's policy passes over was open by the records.
    let counts = |entry: &Entry| entry.bearing >= Bearing::Warning || entry.by_policy.is_some();
    if !health.open.iter().any(counts) {
        return false;
    }
    let mut alone = report.clone();
    if let Some(health) = &mut alone.health {
        health.open.clear();
        health.verdict = Verdict::NoFaultSeen;
    }
    alone.conclusion.exit_code = alone.conclusion.verdict.exit_code();
    let claim = claim::told(&alone, policy);
    match weigh(&alone, &claim) {
        Weight::Look => true,
        Weight::Alarm => false,
        Weight::Proof => claim.verdict < Verdict::Degraded,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::correlate::samples::{proven, report};

    #[test]
    fn what_a_log_told_is_not_of_the_ledger() {
        let mut run = report(2, &[proven(0, 1)]);
        run["health"] = json!({ "verdict": "degraded", "open": [{
            "id": "xid-63@0000:01:00.0", "cause": "xid", "nature": "event", "bearing": "warning",
            "device": "0000:01:00.0", "number": 63, "count": 1, "first_at": "2026-11-20T10:00:00Z",
            "last_at": "2026-11-20T10:00:00Z", "text": "Xid 63" }] });
        let run: Report = serde_json::from_value(run).unwrap();
        let is_of_it = |causes: &[&str]| {
            let causes: Vec<String> = causes.iter().map(|name| (*name).to_owned()).collect();
            is_of_ledger(&run, &causes, &Policy::default())
        };
        assert!(is_of_it(&["event:xid-63@0000:01:00.0"]));
        for told in ["log:kernel:driver/gsp-messages-corrupt", "log:kernel:"] {
            assert!(!is_of_it(&["event:xid-63@0000:01:00.0", told]), "{told}");
        }
    }
}
