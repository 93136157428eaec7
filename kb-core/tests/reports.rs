//! Reports from real machines are read as they were sent, fit the published schema, and are judged as they were.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy does not recognise as tests here"
)]

use std::fs;
use std::path::PathBuf;

use kb_core::report::{LogExcerpt, Report, When};
use kb_core::schema;
use kb_core::verdict::{Expect, Verdict, cause, contradiction, judge};
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
fn nothing_in_them_speaks_against_their_verdict() {
    for (name, sent) in reports() {
        let report: Report = serde_json::from_value(sent).unwrap();
        assert_eq!(contradiction(&report), None, "{name}");
    }
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

/// Agents of format 1.0 climbed to rung 4, which proves less than "healthy" says by now; what they found otherwise
/// stands.
#[test]
fn the_table_judges_them_by_what_they_proved() {
    for (name, sent) in reports() {
        let report: Report = serde_json::from_value(sent).unwrap();
        let mut judged = report.clone();
        judge(&mut judged, Expect::Auto);
        for (now, then) in judged.pairs.iter().zip(&report.pairs) {
            let (now, then) = (&now.verdict, &then.verdict);
            if report.schema.minor == 0 && then.verdict == Verdict::Healthy {
                assert_eq!(now.cause.as_deref(), Some(cause::NOT_PROVEN), "{name}");
                assert!(now.reason.contains("rung 5"), "{name}: {}", now.reason);
            } else {
                assert_eq!((now.verdict, &now.cause), (then.verdict, &then.cause), "{name}");
            }
            assert_eq!(now.proven_rungs, then.proven_rungs, "{name}");
        }
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
