//! What a report may be taken to say: its own verdict, unless its checks do not bear that out.

use kb_core::report::Report;
use kb_core::verdict::{Verdict, unproven};

/// The verdict of a report, with its reason. What says healthy and does not show it is unknown.
pub(super) fn told(report: &Report) -> (Verdict, String) {
    let conclusion = &report.conclusion;
    let why = match conclusion.verdict {
        Verdict::Healthy => unproven(report),
        Verdict::NoFaultSeen => unseen(report),
        _ => None,
    };
    match why {
        Some(why) => {
            let reason = format!(
                "the report says {}, and does not show it: {why}",
                conclusion.verdict.phrase()
            );
            (Verdict::Unknown, reason)
        }
        None => (conclusion.verdict, conclusion.reason.clone()),
    }
}

/// Why a look can have seen nothing.
fn unseen(report: &Report) -> Option<String> {
    if report.gpus.is_empty() {
        return Some("it lists no GPU".to_owned());
    }
    let failure = report.failures.first()?;
    Some(format!("{}: {}", failure.step, failure.message))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::{pair, proven, report};

    fn of(report: &Value) -> (Verdict, String) {
        told(&serde_json::from_value(report.clone()).unwrap())
    }

    #[test]
    fn health_is_what_checks_of_all_pairs_show() {
        let whole = report(2, &[proven(0, 1)]);
        assert_eq!(of(&whole).0, Verdict::Healthy);
        let mut with_failure = whole.clone();
        with_failure["failures"] =
            json!([{ "step": "cuInit", "code": 802, "code_name": null, "message": "not ready" }]);
        let mut lost = whole.clone();
        lost["absent"] =
            json!([{ "absence": "lost", "pci_address": "0000:00:07.0", "reason": "gone", "source": "test" }]);
        let mut one_rung = whole.clone();
        for direction in 0..2 {
            let checks = &mut one_rung["pairs"][0]["directions"][direction]["checks"];
            *checks = json!([checks[1]]);
        }
        let mut broken = whole;
        broken["pairs"][0]["verdict"]["verdict"] = json!("broken");
        let mut of_today = report(2, &[proven(0, 1)]);
        of_today["schema"]["minor"] = json!(1);
        for direction in 0..2 {
            let checks = of_today["pairs"][0]["directions"][direction]["checks"].as_array_mut();
            checks.unwrap().truncate(2);
        }
        let mut of_old = of_today.clone();
        of_old["schema"]["minor"] = json!(0);
        assert_eq!(of(&of_old).0, Verdict::Healthy, "it had two rungs");
        for (name, claim, why) in [
            ("nothing", report(0, &[]), "no GPU"),
            ("one GPU", report(1, &[]), "one GPU"),
            ("no pair", report(2, &[]), "GPU 0 and GPU 1 were not tried"),
            (
                "a pair too few",
                report(3, &[proven(0, 1)]),
                "GPU 0 and GPU 2 were not tried",
            ),
            ("no check", report(2, &[pair(0, 1, "OK", 0)]), "rung 3"),
            ("one rung", one_rung, "rung 3"),
            ("two rungs", of_today, "rung 5"),
            ("a failure", with_failure, "not ready"),
            ("a lost GPU", lost, "0000:00:07.0"),
            ("a broken pair", broken, "broken"),
        ] {
            let (verdict, reason) = of(&claim);
            assert_eq!(verdict, Verdict::Unknown, "{name}");
            assert!(reason.contains(why), "{name}: {reason}");
        }
    }

    #[test]
    fn a_refusal_that_is_expected_is_no_lack_of_health() {
        let mut refused = pair(0, 1, "GNS", 0);
        refused["verdict"]["information"] = json!(true);
        let mut expected = report(2, &[refused]);
        expected["conclusion"]["verdict"] = json!("healthy");
        assert_eq!(of(&expected).0, Verdict::Healthy);
    }

    #[test]
    fn a_look_at_nothing_sees_no_absence_of_faults() {
        let mut nothing = report(0, &[]);
        nothing["conclusion"]["verdict"] = json!("no_fault_seen");
        assert_eq!(of(&nothing).0, Verdict::Unknown);
        let mut look = report(1, &[]);
        look["conclusion"]["verdict"] = json!("no_fault_seen");
        assert_eq!(of(&look).0, Verdict::NoFaultSeen);
    }
}
