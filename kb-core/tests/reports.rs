//! Reports from real machines are read as they were sent, fit the published schema, and are judged as they were.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy does not recognise as tests here"
)]

use std::fs;
use std::path::PathBuf;

use kb_core::report::{LogExcerpt, Report, When};
use kb_core::schema;
use kb_core::verdict::{Expect, judge};
use serde_json::{Value, json};

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
        let mut judged = report.clone();
        judge(&mut judged, Expect::Auto);
        for (now, then) in judged.pairs.iter().zip(&report.pairs) {
            assert_eq!(now.verdict, then.verdict, "{name}");
        }
        assert_eq!(judged.conclusion.verdict, report.conclusion.verdict, "{name}");
        assert_eq!(judged.conclusion.reason, report.conclusion.reason, "{name}");
    }
}

/// Lines of an older agent prove nothing about the run, and a word of a newer one is kept apart.
#[test]
fn lines_that_do_not_say_when_they_were_written_count_as_before() {
    let read = |excerpt: Value| serde_json::from_value::<LogExcerpt>(excerpt).unwrap().when;
    assert_eq!(read(json!({ "source": "kmsg", "text": "" })), When::Before);
    for (word, when) in [
        ("during", When::During),
        ("before", When::Before),
        ("after", When::Unrecognised),
    ] {
        assert_eq!(read(json!({ "source": "kmsg", "text": "", "when": word })), when);
    }
}
