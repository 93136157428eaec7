//! Reports in, findings out.

mod budget;
mod door;
mod reads;
mod states;

use kb_core::report::Bearing;
use kb_core::severity::Action;
use kb_core::verdict::Verdict;
use serde_json::{Value, json};

use super::samples::{pair, report};
use super::*;
use crate::domain::ingest::parse;
use crate::feed::samples::{PEER_ACCESS, document, generation_of};
use crate::store::{Gravity, NewFinding, Weight};

const HARDWARE: &str = "cuda/peer-access-unsupported-by-hardware";

fn seed() -> (String, String) {
    (PEER_ACCESS.0.to_owned(), PEER_ACCESS.1.to_owned())
}

/// A record that exists for its rules.
fn record_with(rules: &Value) -> (String, String) {
    let annex = json!({ "schema_version": 1, "probe": rules });
    (
        document("test/rules", "a rule applies").to_string(),
        annex.to_string(),
    )
}

fn correlate(records: &[(String, String)], body: &Value) -> Vec<NewFinding> {
    let parsed = parse(body.to_string().as_bytes()).unwrap();
    Correlator::new().correlate(
        &generation_of(records),
        (&parsed.report, &parsed.body),
        &kb_core::policy::Policy::default(),
    )
}

fn brief(findings: &[NewFinding]) -> Vec<(String, &str, &str)> {
    let record = |finding: &NewFinding| {
        finding
            .record
            .as_ref()
            .map_or_else(String::new, |(id, _)| id.to_string())
    };
    findings
        .iter()
        .map(|finding| (record(finding), finding.rule.as_str(), finding.subject.as_str()))
        .collect()
}

#[test]
fn a_refusal_without_links_is_explained_with_evidence() {
    for status in ["GNS", "NS", "CNS", "TNS"] {
        let findings = correlate(&[seed()], &report(2, &[pair(0, 1, status, 0)]));
        assert_eq!(
            brief(&findings),
            [(HARDWARE.to_owned(), "refused-without-link", "pair 0-1")]
        );
        let evidence: Value = serde_json::from_str(&findings[0].evidence).unwrap();
        assert_eq!(evidence[0], json!({ "pointer": "/pairs/0", "value": "pair 0-1" }));
        assert!(findings[0].evidence.contains(status), "{}", findings[0].evidence);
    }
}

/// What was found beside other nodes when the report came is weighed anew when records and policy have changed.
#[test]
fn what_is_apart_follows_the_records_and_explains_no_refusal() {
    let body = report(2, &[pair(0, 1, "OK", 4)]);
    let report = parse(body.to_string().as_bytes()).unwrap().report;
    let mut found = vec![NewFinding {
        record: None,
        rule: "outlier/pair".to_owned(),
        subject: "pair 0-1".to_owned(),
        title: "slow".to_owned(),
        evidence: "[]".to_owned(),
        gravity: Gravity::default(),
        by_policy: None,
    }];
    let policy = kb_core::policy::Policy::default();
    let slow = "nvlink/pair-slower-than-its-peers";
    let annex = json!({ "schema_version": 1, "severity": "warning", "action": "reset_gpu" });
    let with = generation_of(&[(document(slow, "slow").to_string(), annex.to_string())]);
    apart::as_published(&with, (&report, &policy), &mut found);
    assert_eq!(brief(&found)[0].0, slow);
    assert_eq!(found[0].gravity.action, Some(Action::ResetGpu));
    apart::as_published(&generation_of(&[]), (&report, &policy), &mut found);
    assert_eq!(brief(&found)[0].0, "");
    assert_eq!(
        (found[0].gravity.bearing, found[0].gravity.action),
        (Bearing::Warning, None)
    );
    let told = |verdict| of_verdict((Weight::Alarm, verdict), "why", &found).is_some();
    assert!(told(Verdict::Refused));
    assert!(!told(Verdict::Degraded));
}

/// A signature is a sample of another machine's: its calls, times and addresses must not stand here as this one's.
#[test]
fn a_finding_tells_what_this_report_says() {
    let hang = (
        document("test/hang", "cuCtxEnablePeerAccess did not return in 20 s").to_string(),
        json!({ "schema_version": 1, "probe": [
            { "id": "hang", "scope": "pair", "when": "pair.verdict.cause == 'hang'" },
            { "id": "forward", "scope": "direction", "when": "direction.initiator == 0" },
            { "id": "driver", "scope": "report", "when": "size(report.failures) == 1" },
            { "id": "any", "scope": "gpu", "when": "gpu.cuda_ordinal == 0" },
        ]})
        .to_string(),
    );
    let mut pair = pair(0, 1, "OK", 4);
    pair["verdict"] = json!({
        "verdict": "broken", "cause": "hang", "reason": " cuStreamQuery did not return in 10.5 s", "evidence": [],
    });
    let mut body = report(2, &[pair]);
    body["failures"] = json!([{ "step": "cuInit", "code": 802, "code_name": null, "message": "not ready" }]);
    body["logs"] = json!([{ "source": "kmsg", "text": "first\n  Nov 21 07:22:01 gpu-7 python[7]: CUDA error: peer access is not supported between these two devices, here \n" }]);
    let findings = correlate(&[hang, seed()], &body);
    let told: Vec<(&str, &str)> = findings
        .iter()
        .map(|finding| (finding.rule.as_str(), finding.title.as_str()))
        .collect();
    let own = "cuStreamQuery did not return in 10.5 s";
    let all = [
        ("driver", "cuInit:  (802): not ready"),
        ("hang", own),
        ("any", "cuCtxEnablePeerAccess did not return in 20 s"),
        ("forward", own),
    ];
    assert_eq!(&told[..4], all);
    let line = "CUDA error: peer access is not supported between these two devices, here";
    assert_eq!(told[4].1, line, "{told:?}");
}

#[test]
fn a_refusal_with_links_or_for_another_reason_is_unexplained() {
    for refused in [pair(0, 1, "GNS", 4), pair(0, 1, "DR", 0)] {
        let findings = correlate(&[seed()], &report(2, &[refused]));
        assert_eq!(
            brief(&findings),
            [(String::new(), "refused_cause_unknown", "pair 0-1")]
        );
        assert_eq!(findings[0].title, "refused, cause unknown");
    }
    assert_eq!(correlate(&[seed()], &report(2, &[pair(0, 1, "OK", 4)])), []);
}

#[test]
fn taking_the_rule_out_takes_the_finding_away_and_another_rule_needs_no_build() {
    let body = report(2, &[pair(0, 1, "GNS", 0)]);
    let bare = (
        PEER_ACCESS.0.to_owned(),
        json!({ "schema_version": 1 }).to_string(),
    );
    assert_eq!(
        brief(&correlate(&[bare], &body)),
        [(String::new(), "refused_cause_unknown", "pair 0-1")]
    );

    let second = record_with(&json!([
        { "id": "two-gpus", "scope": "report", "when": "size(report.gpus) == 2", "evidence": ["size(report.gpus)", "report.nothing"] },
        { "id": "ordinal", "scope": "gpu", "when": "gpu.cuda_ordinal == 1" },
        { "id": "upward", "scope": "direction", "when": "direction.initiator < direction.owner && pair.nvlinks.value == 0" },
    ]));
    let findings = correlate(&[seed(), second], &body);
    let rules = "test/rules".to_owned();
    assert_eq!(
        brief(&findings),
        [
            (rules.clone(), "two-gpus", "report"),
            (HARDWARE.to_owned(), "refused-without-link", "pair 0-1"),
            (rules.clone(), "ordinal", "gpu 1"),
            (rules, "upward", "direction 0-1"),
        ]
    );
    let evidence: Value = serde_json::from_str(&findings[0].evidence).unwrap();
    assert_eq!(
        evidence[1],
        json!({ "expression": "size(report.gpus)", "value": 2 })
    );
    assert!(evidence[2]["error"].as_str().unwrap().contains("nothing"));
}

#[test]
fn a_rule_that_fails_does_not_apply_and_is_counted() {
    let rules = record_with(&json!([
        { "id": "absent", "scope": "report", "when": "report.does.not.exist == 1" },
        { "id": "no-bool", "scope": "report", "when": "size(report.gpus)" },
        { "id": "zero", "scope": "report", "when": "1 / (size(report.gpus) - 2) == 1" },
        { "id": "fine", "scope": "report", "when": "true" },
    ]));
    let parsed = parse(report(2, &[]).to_string().as_bytes()).unwrap();
    let correlator = Correlator::new();
    let findings = correlator.correlate(
        &generation_of(&[rules]),
        (&parsed.report, &parsed.body),
        &kb_core::policy::Policy::default(),
    );
    assert_eq!(brief(&findings), [("test/rules".to_owned(), "fine", "report")]);
    assert_eq!(correlator.failed_evaluations(), 3);
}

#[test]
fn null_is_absent_and_long_lists_are_not_looped_over() {
    let rules = record_with(&json!([
        { "id": "links-known", "scope": "pair", "when": "has(pair.nvlinks.value)" },
        { "id": "any-check", "scope": "direction", "when": "has(direction.checks) && direction.checks.exists(c, c == c)" },
    ]));
    let mut unsaid = pair(0, 1, "OK", 4);
    unsaid["nvlinks"] =
        json!({ "value": null, "source": "test", "gap": { "kind": "not_visible", "reason": "vm" } });
    let check = json!({
        "rung": 3, "name": "copy_push", "engine": "ce", "outcome": "pass", "checked_by": "owner_kernel", "bytes": 1, "seconds": 0.1,
    });
    unsaid["directions"][0]["checks"] = json!(vec![check.clone(); limits::MAX_LIST]);
    unsaid["directions"][1]["checks"] = json!(vec![check; limits::MAX_LIST + 1]);
    let findings = correlate(&[rules], &report(2, &[unsaid]));
    assert_eq!(
        brief(&findings),
        [("test/rules".to_owned(), "any-check", "direction 0-1")]
    );
}

#[test]
fn log_lines_and_failures_are_read_by_the_matcher() {
    let mut body = report(2, &[]);
    let line = "RuntimeError: CUDA error: peer access is not supported between these two devices";
    body["logs"] = json!([{ "source": "kmsg", "text": format!("one\n{line}\nthree\n{line}\n") }]);
    let findings = correlate(&[seed()], &body);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].record.as_ref().unwrap().0.as_str(), HARDWARE);
    let evidence: Value = serde_json::from_str(&findings[0].evidence).unwrap();
    assert_eq!(evidence[0]["pointer"], "/logs/0/text");
    assert_eq!(
        (&evidence[0]["value"]["line"], &evidence[0]["value"]["count"]),
        (&json!(2), &json!(2))
    );

    let mut body = report(0, &[]);
    body["failures"] = json!([{
        "step": "cuInit", "code": 217, "code_name": "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "message": "refused"
    }]);
    let findings = correlate(&[seed()], &body);
    assert_eq!(
        brief(&findings).first().map(|(id, ..)| id.as_str()),
        Some(HARDWARE),
        "{findings:?}"
    );
}

#[test]
fn a_flood_of_log_lines_is_bounded_and_hides_no_refusal() {
    let mut body = report(2, &[pair(0, 1, "DR", 0)]);
    let line = "CUDA error: peer access is not supported between these two devices";
    body["logs"] = json!(vec![json!({ "source": "kmsg", "text": line }); 2_000]);
    let findings = correlate(&[seed()], &body);
    assert_eq!(findings.len(), MAX_FINDINGS);
    let last = brief(&findings).pop().unwrap();
    assert_eq!(last, (String::new(), "refused_cause_unknown", "pair 0-1"));

    // A log of several pieces is one text: lines are counted through, and what hits first names the rule.
    let long = format!("{}{line}\n", "all is well\n".repeat(20_000)).repeat(2);
    body["logs"] = json!([{ "source": "kmsg", "text": long }]);
    let findings = correlate(&[seed()], &body);
    let evidence: Value = serde_json::from_str(&findings[0].evidence).unwrap();
    assert_eq!(findings[0].rule, "0");
    assert_eq!(evidence[0]["value"]["line"], 20_001);
    assert_eq!(evidence[0]["value"]["count"], 2);
}

#[test]
fn the_dearest_rule_over_the_largest_report_ends_soon() {
    let gpus = 64;
    let rule = "report.gpus.exists(a, report.gpus.exists(b, a.cuda_ordinal == -1 && b.cuda_ordinal == -1))";
    let evidence = "report.gpus.map(a, {'gpu': a, 'again': a})";
    let dear = record_with(&json!([
        { "id": "dear", "scope": "report", "when": format!("!({rule})"), "evidence": [evidence] },
    ]));
    let started = std::time::Instant::now();
    let findings = correlate(&[dear], &report(gpus, &[]));
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].evidence.len() < 64 * 1024,
        "{}",
        findings[0].evidence.len()
    );
    // Some 40,000 steps, unoptimised on a busy machine; without the limits it would be hours.
    assert!(
        started.elapsed() < std::time::Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
}
