//! What a report's verdict is worth: did somebody try, or only look?

use kb_core::report::{Bearing, Nature, Outcome, Pair, Report, fact_name};
use kb_core::verdict::{Verdict, unproven};

use super::claim::Claim;
use super::machine;
use crate::store::{Origin, Weight};

/// Host fact of reports that were made from another tool's output.
pub(super) const CONVERTED: &str = fact_name::CONVERT_TOOLS;

/// The part of a run in which contexts are made. A look makes none.
const CONTEXTS: &str = "contexts";

/// Weighs a report. A proof is a run of the agent's own that made GPUs work with each other and came to a verdict;
/// an alarm is anything else that tells of a fault. Another tool's figures are none, for nobody knows how they were made; what
/// it failed at is an alarm. A run over some GPUs proves a fault of the node, and no health: the others were not tried.
///
/// `claim` is what the report may be taken to say.
pub(super) fn weigh(report: &Report, claim: &Claim) -> Weight {
    let verdict = claim.verdict;
    let is_told = !matches!(verdict, Verdict::Unknown | Verdict::NoFaultSeen);
    let is_unproven = || !claim.is_proven && unproven(report).is_some();
    if report.host.contains_key(CONVERTED) {
        // What another tool failed at counts as what the agent's own run fails at: wrong data is wrong, whoever moved it, and
        // access that the driver refuses is refused, whoever asked.
        if report.failures.is_empty() && !matches!(verdict, Verdict::Broken | Verdict::Refused) {
            Weight::Look
        } else {
            Weight::Alarm
        }
    } else if report.conclusion.verdict == Verdict::Healthy
        && matches!(verdict, Verdict::Healthy | Verdict::Unknown)
        && contradicts_health(report)
        || verdict == Verdict::Unknown && (claim.is_contradicted || has_unknown_event(report))
    {
        Weight::Alarm
    } else if verdict == Verdict::Healthy && !machine::is_of_all(report) {
        Weight::Look
    } else if is_told && report.was_tried() && !(verdict <= Verdict::Degraded && is_unproven()) {
        Weight::Proof
    } else if !report.failures.is_empty() || (is_told && verdict != Verdict::Healthy) {
        Weight::Alarm
    } else {
        Weight::Look
    }
}

/// Whether the agent's ledger holds an event open that leaves it unknown how the node is, such as a ledger that was damaged: it ends by a
/// run or a clear, and not by itself.
fn has_unknown_event(report: &Report) -> bool {
    let mut open = report.health.iter().flat_map(|health| &health.open);
    open.any(|entry| entry.nature == Nature::Event && entry.bearing >= Bearing::Unknown)
}

/// How the report came to be. A look also opens the driver and lists all pairs; contexts, checks that were made, and (before 1.4)
/// pairs that are called broken are a run's alone.
pub(super) fn origin(report: &Report) -> Origin {
    if report.host.contains_key(CONVERTED) {
        return Origin::Converted;
    }
    let has_contexts = report.parts.iter().any(|part| part.name == CONTEXTS);
    // Agents of before 1.4 name no parts. A look calls a pair broken, too, where a fact of its GPU is bad.
    let is_broken = |pair: &Pair| pair.verdict.verdict == Verdict::Broken;
    let is_told_by_pair = report.parts.is_empty() && report.pairs.iter().any(is_broken);
    if has_contexts || report.was_tried() || is_told_by_pair {
        Origin::Run
    } else {
        Origin::Look
    }
}

/// True where a pair is called faulty, or a check failed or hung. A report that says healthy all the same is no all-clear.
fn contradicts_health(report: &Report) -> bool {
    let is_as_expected =
        |pair: &&Pair| !(pair.verdict.information && pair.verdict.verdict == Verdict::Refused);
    report.pairs.iter().filter(is_as_expected).any(|pair| {
        let is_faulty = matches!(pair.verdict.verdict, Verdict::Broken | Verdict::Refused);
        let mut checks = pair.directions.iter().flat_map(|direction| &direction.checks);
        is_faulty || checks.any(|check| matches!(check.outcome, Outcome::Fail | Outcome::Hang))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples;
    use crate::domain::ingest::claim::told;

    /// A report of one pair with this verdict; the checks of one direction have that outcome.
    fn report(verdict: &str, outcome: Option<&str>) -> Value {
        let pair = match outcome {
            Some(_) => samples::proven(0, 1),
            None => samples::pair(0, 1, "OK", 0),
        };
        let mut report = samples::report(2, &[pair]);
        report["conclusion"]["verdict"] = json!(verdict);
        if let Some(outcome) = outcome {
            for check in report["pairs"][0]["directions"][0]["checks"]
                .as_array_mut()
                .unwrap()
            {
                check["outcome"] = json!(outcome);
            }
        }
        report
    }

    fn weight(report: Value) -> Weight {
        let report: Report = serde_json::from_value(report).unwrap();
        weigh(&report, &told(&report, &kb_core::policy::Policy::default()))
    }

    #[test]
    fn only_what_was_tried_proves() {
        for (verdict, outcome, expected) in [
            ("healthy", Some("pass"), Weight::Proof),
            ("broken", Some("hang"), Weight::Proof),
            ("refused", Some("fail"), Weight::Proof),
            ("unknown", Some("inconclusive"), Weight::Look),
            ("healthy", None, Weight::Look),
            ("unknown", None, Weight::Look),
            ("healthy", Some("skipped"), Weight::Look),
            ("refused", None, Weight::Alarm),
        ] {
            assert_eq!(
                weight(report(verdict, outcome)),
                expected,
                "{verdict} {outcome:?}"
            );
        }
    }

    #[test]
    fn a_report_that_contradicts_its_own_health_proves_a_fault() {
        for outcome in ["fail", "hang"] {
            assert_eq!(
                weight(report("healthy", Some(outcome))),
                Weight::Proof,
                "{outcome}"
            );
        }
        let mut broken_pair = report("healthy", Some("pass"));
        broken_pair["pairs"][0]["verdict"]["verdict"] = json!("broken");
        assert_eq!(weight(broken_pair.clone()), Weight::Proof);
        // Nothing was tried.
        for direction in broken_pair["pairs"][0]["directions"].as_array_mut().unwrap() {
            direction["checks"] = json!([]);
        }
        assert_eq!(weight(broken_pair), Weight::Alarm);
    }

    #[test]
    fn one_rung_alone_proves_faults_and_no_health() {
        for (verdict, expected) in [
            ("healthy", Weight::Look),
            ("degraded", Weight::Alarm),
            ("broken", Weight::Proof),
        ] {
            let mut one_rung = report(verdict, Some("pass"));
            for direction in one_rung["pairs"][0]["directions"].as_array_mut().unwrap() {
                direction["checks"].as_array_mut().unwrap().truncate(1);
            }
            assert_eq!(weight(one_rung), expected, "{verdict}");
        }
    }

    #[test]
    fn a_refusal_that_is_expected_contradicts_no_health() {
        let mut expected = report("healthy", Some("fail"));
        expected["pairs"][0]["verdict"] =
            json!({ "verdict": "refused", "information": true, "reason": "as expected", "evidence": [] });
        assert_eq!(weight(expected), Weight::Proof);
    }

    #[test]
    fn a_run_over_some_gpus_proves_faults_and_no_health() {
        for (verdict, outcome, expected) in [
            ("healthy", "pass", Weight::Look),
            ("broken", "hang", Weight::Proof),
        ] {
            let mut some = report(verdict, Some(outcome));
            some["host"] =
                json!({ "environment.cuda_visible_devices": { "value": "0,2", "source": "environment" } });
            assert_eq!(weight(some), expected, "{verdict}");
        }
    }

    #[test]
    fn what_another_tool_measured_is_no_proof() {
        for verdict in ["healthy", "degraded"] {
            let mut converted = report(verdict, Some("pass"));
            converted["host"] = json!({ CONVERTED: { "value": "nvbandwidth", "source": "the text" } });
            assert_eq!(weight(converted.clone()), Weight::Look, "{verdict}");
            converted["failures"] = json!([{ "step": "all_reduce_perf", "code": null, "code_name": null, "message": "50 wrong" }]);
            assert_eq!(weight(converted), Weight::Alarm, "data that is wrong, {verdict}");
        }
        for verdict in ["broken", "refused"] {
            let mut converted = report(verdict, Some("fail"));
            converted["host"] = json!({ CONVERTED: { "value": "simpleP2P", "source": "the text" } });
            assert_eq!(weight(converted), Weight::Alarm, "{verdict}");
        }
    }

    #[test]
    fn a_run_that_failed_is_an_alarm() {
        let mut failed = report("unknown", None);
        failed["failures"] =
            json!([{ "step": "cuInit", "code": 802, "code_name": null, "message": "not ready" }]);
        assert_eq!(weight(failed), Weight::Alarm);
    }
}
