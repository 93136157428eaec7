//! The time that all rules have for one report.

use super::*;

/// The time is for a report, and not for each rule: what was not asked is told, and never taken for "does not apply".
#[test]
fn rules_that_were_not_asked_are_told() {
    let rules: Vec<Value> = (0..3)
        .map(|number| json!({ "id": format!("rule-{number}"), "scope": "pair", "when": "true" }))
        .collect();
    let generation = generation_of(&[record_with(&rules.into())]);
    let parsed = parse(report(2, &[pair(0, 1, "OK", 4)]).to_string().as_bytes()).unwrap();
    let book = Correlator::new().rules_of(&generation);
    let facts = facts::Facts::of(&parsed.report, &parsed.body, &book.reads);
    let all = book.apply(&facts, Duration::from_mins(1));
    assert_eq!(all.findings.len(), 3);
    let cut = book.apply(&facts, Duration::ZERO);
    assert_eq!(
        brief(&cut.findings),
        [(String::new(), "rules-not-asked", "report")]
    );
    assert!(
        cut.findings[0].title.contains("at rule rule-0 of test/rules"),
        "{:?}",
        cut.findings
    );
}

/// However many findings rules make, what the agent holds open stands before them.
#[test]
fn rules_push_out_nothing_that_the_agent_holds_open() {
    let rules = json!([{ "id": "rule-0", "scope": "pair", "when": "true" }]);
    let pairs: Vec<Value> = (0..1_001).map(|_| pair(0, 1, "OK", 4)).collect();
    let mut body = report(2, &pairs);
    body["absent"] = json!([
        { "asked_as": "3", "absence": "missing", "reason": "not listed", "cause": "device_missing" },
    ]);
    let findings = correlate(&[record_with(&rules)], &body);
    assert_eq!(findings.len(), 1_000);
    let told = brief(&findings[..3]);
    assert_eq!(told[0].1, "absent/device_missing");
    assert_eq!(told[1].1, "rules-not-asked", "{:?}", findings[1]);
}
