//! Nothing is decided by the words of a reason: with every sentence changed, a report is judged and looked at as before.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests, which clippy does not recognise as tests here"
)]

use std::fs;
use std::path::PathBuf;

use kb_core::health::{Ledger, Look};
use kb_core::report::{
    Check, Fact, Failure, Gap, GapKind, MINOR, Outcome, ReasonCode, Report, Verdict, add_reason_codes,
};
use kb_core::verdict::{Expect, cause, judge};
use serde_json::{Value, json};

fn samples() -> Vec<Report> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/reports");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let mut report: Report = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            add_reason_codes(&mut report);
            report.schema.minor = MINOR;
            report
        })
        .collect()
}

fn check<'a>(report: &'a mut Report, name: &str) -> &'a mut Check {
    let checks = report.pairs[0].directions[0].checks.iter_mut();
    checks.into_iter().find(|check| check.name == name).unwrap()
}

fn skipped(report: &mut Report, name: &str, reason: &str) {
    let check = check(report, name);
    check.outcome = Outcome::Skipped;
    check.reason = Some(reason.to_owned());
}

fn gap(kind: GapKind, reason: &str, code: ReasonCode) -> Fact {
    Fact::without(Gap::new(kind, reason).coded(code), "nvml")
}

type Change = fn(&mut Report);

/// What a code decides, with the sentence that the agent writes beside it.
const CHANGES: [(&str, Change); 7] = [
    ("as it is", |_| {}),
    ("not supported", |report| {
        skipped(
            report,
            "copy_pull",
            "not supported: the driver has no such handles",
        );
        check(report, "copy_pull").reason_code = Some(ReasonCode::NotSupported);
    }),
    (cause::JIT_MISSING, |report| {
        let reason = "no kernel can run, so only copy engines were used: cuModuleLoadData returned 221 (X)";
        skipped(report, "sm_store", reason);
        let check = check(report, "sm_store");
        check.reason_code = Some(ReasonCode::EarlierCall);
        check.earlier_code = Some(221);
    }),
    (cause::GPU_LOST, |report| {
        let fact = gap(
            GapKind::Failed,
            "nvmlX: the GPU is lost (NVML error 15)",
            ReasonCode::GpuLost,
        );
        report.gpus[0].facts.insert("recovery.action".to_owned(), fact);
        let check = check(report, "copy_push");
        check.outcome = Outcome::Fail;
        check.code = Some(999);
    }),
    (cause::LIBRARY_MISSING, |report| {
        let message =
            "dlopen failed: libcuda.so.1: cannot open shared object file: No such file or directory";
        report.failures.push(Failure {
            reason_code: Some(ReasonCode::LibraryNotFound),
            ..Failure::new("load libcuda.so.1", message)
        });
    }),
    (cause::NVML_MISSING, |report| {
        let reason = "NVML cannot be used: libnvidia-ml.so.1: cannot open shared object file";
        let fact = gap(GapKind::NotSupported, reason, ReasonCode::LibraryNotFound);
        report.host.insert("nvml.driver_version".to_owned(), fact);
    }),
    (cause::NVML_MISMATCH, |report| {
        let reason = "NVML cannot be used: driver/library version mismatch";
        let fact = gap(GapKind::NotSupported, reason, ReasonCode::VersionMismatch);
        report.host.insert("nvml.driver_version".to_owned(), fact);
    }),
];

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
fn decided(mut report: Report) -> Value {
    judge(&mut report, Expect::Auto);
    let mut ledger = Ledger::default();
    let look = Look::of(&report);
    ledger.look(&look);
    let health = ledger.health(look.unread);
    let named = |failures: &[Failure]| -> Vec<Value> {
        let named = failures.iter();
        named
            .map(|failure| json!([failure.step, failure.cause, failure.record, failure.fix]))
            .collect()
    };
    let pairs: Vec<Value> = report
        .pairs
        .iter()
        .map(|pair| {
            let verdict = &pair.verdict;
            json!([
                verdict.verdict,
                verdict.cause,
                verdict.evidence,
                verdict.proven_rungs,
                verdict.record,
                verdict.fix,
                verdict.information,
                verdict.beside
            ])
        })
        .collect();
    let open: Vec<&String> = health.open.iter().map(|entry| &entry.id).collect();
    let unread: Vec<&String> = health.unread.iter().map(|unread| &unread.what).collect();
    json!({
        "pairs": pairs,
        "failures": named(&report.failures),
        "notes": named(&report.notes),
        "conclusion": [json!(report.conclusion.verdict), json!(report.conclusion.exit_code)],
        "health": [json!(health.verdict.word()), json!(open), json!(unread)],
    })
}

#[test]
fn a_report_in_other_words_is_judged_alike() {
    for report in samples() {
        for (name, change) in CHANGES {
            let mut changed = report.clone();
            change(&mut changed);
            let decisions = decided(changed.clone());
            assert_eq!(decided(in_other_words(&changed)), decisions, "{name}");
            let is_named = decisions.to_string().contains(&format!("\"{name}\""));
            let is_cause = !name.contains(' ');
            assert_eq!(is_named, is_cause, "{name}: {decisions}");
        }
    }
}

#[test]
fn sentences_without_their_codes_decide_nothing() {
    for report in samples() {
        for (name, change) in CHANGES.iter().skip(2) {
            let mut changed = report.clone();
            change(&mut changed);
            let mut json = serde_json::to_value(&changed).unwrap();
            for fact in json["host"].as_object_mut().unwrap().values_mut() {
                if let Some(gap) = fact.get_mut("gap").and_then(Value::as_object_mut) {
                    gap.remove("reason_code");
                }
            }
            let mut without: Report = serde_json::from_value(json).unwrap();
            for failure in &mut without.failures {
                failure.reason_code = None;
            }
            for fact in without.gpus[0].facts.values_mut() {
                if let Some(gap) = &mut fact.gap {
                    gap.reason_code = None;
                }
            }
            let store = check(&mut without, "sm_store");
            store.reason_code = None;
            store.earlier_code = None;
            let decisions = decided(without).to_string();
            assert!(!decisions.contains(&format!("\"{name}\"")), "{name}: {decisions}");
        }
    }
}

#[test]
fn an_older_agents_words_still_count() {
    for report in samples() {
        for (name, change) in CHANGES {
            let mut coded = report.clone();
            change(&mut coded);
            let mut old = coded.clone();
            old.schema.minor = 5;
            for check in old
                .pairs
                .iter_mut()
                .flat_map(|pair| &mut pair.directions)
                .flat_map(|of| &mut of.checks)
            {
                check.reason_code = None;
                check.earlier_code = None;
            }
            let facts = old.gpus.iter_mut().flat_map(|gpu| gpu.facts.values_mut());
            for gap in old
                .host
                .values_mut()
                .chain(facts)
                .filter_map(|fact| fact.gap.as_mut())
            {
                gap.reason_code = None;
            }
            for failure in &mut old.failures {
                failure.reason_code = None;
            }
            assert_eq!(decided(old), decided(coded), "{name}");
        }
    }
    assert!(
        samples()
            .iter()
            .all(|report| report.conclusion.verdict == Verdict::Healthy)
    );
}
