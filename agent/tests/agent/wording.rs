//! What a run comes to does not hang on the words of its reasons.

use fake_gpu::Scenario;
use kb_core::report::{Outcome, ReasonCode, Report};
use kb_core::verdict::{Expect, Verdict, cause, judge};
use serde_json::{Value, json};

use crate::node::Node;

/// Every sentence of the report is another one.
fn in_other_words(report: &Report) -> Report {
    fn change(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    if matches!(name.as_str(), "reason" | "message") && value.is_string() {
                        *value = "x".into();
                    }
                    change(value);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(change),
            _ => {}
        }
    }
    let mut json = serde_json::to_value(report).unwrap();
    change(&mut json);
    serde_json::from_value(json).unwrap()
}

/// What programs decide by.
fn decided(report: &Report) -> Value {
    let of_pairs = report.pairs.iter().map(|pair| &pair.verdict);
    let of_pairs: Vec<Value> = of_pairs
        .map(|of| {
            json!([
                of.verdict,
                of.cause,
                of.evidence,
                of.proven_rungs,
                of.record,
                of.beside
            ])
        })
        .collect();
    let named = report.failures.iter().chain(&report.notes);
    let named: Vec<Value> = named
        .map(|failure| json!([failure.cause, failure.record]))
        .collect();
    json!([
        of_pairs,
        named,
        report.conclusion.verdict,
        report.conclusion.exit_code
    ])
}

fn probed(scenario: &Scenario) -> Report {
    let (report, _) = Node::with(scenario).probe(&["--buffer-kib", "128", "--step-timeout", "60"]);
    report
}

#[test]
fn a_run_in_other_words_comes_to_the_same() {
    let cases = [
        (Scenario::healthy(2), None),
        (Scenario::refused_gns(), Some(cause::REFUSED_BY_POLICY)),
        (Scenario::library_missing(), Some(cause::LIBRARY_MISSING)),
        (Scenario::nvml_missing(), Some(cause::NVML_MISSING)),
        (Scenario::jit_missing(), Some(cause::JIT_MISSING)),
        (Scenario::gpu_lost(), Some(cause::GPU_LOST)),
        (Scenario::old_driver(), None),
    ];
    for (scenario, cause) in cases {
        let report = probed(&scenario);
        let name = &scenario.name;
        let found = decided(&report);
        if let Some(cause) = cause {
            assert!(
                found.to_string().contains(&format!("\"{cause}\"")),
                "{name}: {found}"
            );
        }
        let mut other = in_other_words(&report);
        judge(&mut other, Expect::Auto);
        assert_eq!(decided(&other), found, "{name}");
    }
}

/// An old driver hands out no memory by descriptor, and may say nothing of atomics.
#[test]
fn what_a_driver_does_not_have_is_told_by_a_code() {
    let report = probed(&Scenario::old_driver());
    let directions = report.pairs.iter().flat_map(|pair| &pair.directions);
    let checks = directions.flat_map(|direction| &direction.checks);
    let left_out: Vec<_> = checks.filter(|check| check.outcome == Outcome::Skipped).collect();
    assert!(!left_out.is_empty());
    for check in left_out {
        assert_eq!(check.reason_code, Some(ReasonCode::NotSupported), "{check:?}");
        assert!(
            check.reason.as_ref().unwrap().starts_with("not supported: "),
            "{check:?}"
        );
    }
    assert_eq!(report.conclusion.verdict, Verdict::Healthy);
}

/// Every sentence of a report that people read.
fn sentences(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| sentences(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| sentences(field, found)),
        _ => {}
    }
}

/// A number alone says nothing to whoever has not read the manual.
#[test]
fn no_rung_is_named_without_what_it_is() {
    for scenario in [
        Scenario::healthy(2),
        Scenario::private_mirror(),
        Scenario::refused_gns(),
    ] {
        let node = Node::with(&scenario);
        let mut told = vec![node.run("probe", &[]).stdout];
        let (report, run) = node.probe(&[]);
        told.push(run.stderr);
        sentences(&serde_json::to_value(&report).unwrap(), &mut told);
        for text in told {
            assert!(!text.contains("rungs"), "{text}");
            for (at, _) in text.match_indices("rung ") {
                assert!(text[..at].ends_with(" ("), "{text}");
            }
        }
    }
}
