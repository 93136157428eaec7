//! Reports from real machines are read as they were sent, fit the published schema, and are judged as they were.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy does not recognise as tests here"
)]

use std::fs;
use std::path::PathBuf;

use kb_core::report::Report;
use kb_core::schema;
use kb_core::verdict::{judge_pair, judge_run};
use serde_json::Value;

/// Every report, by file name.
fn reports() -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/reports");
    let mut reports: Vec<(String, Value)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, serde_json::from_slice(&fs::read(&path).unwrap()).unwrap())
        })
        .collect();
    reports.sort_by(|(left, _), (right, _)| left.cmp(right));
    assert!(!reports.is_empty());
    reports
}

#[test]
fn nothing_is_lost_between_text_and_types() {
    for (name, sent) in reports() {
        let report: Report = serde_json::from_value(sent.clone()).unwrap();
        assert_eq!(serde_json::to_value(&report).unwrap(), sent, "{name}");
    }
}

#[test]
fn they_fit_the_published_schema() {
    let (_, schema) = schema::all()
        .into_iter()
        .find(|(name, _)| name.starts_with("report"))
        .unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, sent) in reports() {
        let faults: Vec<String> = validator
            .iter_errors(&sent)
            .map(|fault| fault.to_string())
            .collect();
        assert_eq!(faults, [] as [String; 0], "{name}");
    }
}

#[test]
fn the_table_still_judges_them_as_the_agent_did() {
    for (name, sent) in reports() {
        let report: Report = serde_json::from_value(sent).unwrap();
        for (index, pair) in report.pairs.iter().enumerate() {
            assert_eq!(judge_pair(pair, index), pair.verdict, "{name}, pair {index}");
        }
        let conclusion = judge_run(&report.gpus, &report.pairs, &report.failures);
        assert_eq!(conclusion, report.conclusion, "{name}");
    }
}
