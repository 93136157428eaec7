//! Failures of the run and notes: one case for each row.

use super::super::rows::{NOTES, RUN, RunRow, of_run};
use super::*;
use crate::report::{Failure, Gap, GapKind, ReasonCode};

fn returned(step: &str, code: i32) -> Failure {
    Failure {
        code: Some(code),
        ..Failure::new(step, "x")
    }
}

fn explained(failure: Failure) -> Report {
    let mut report = healthy(0);
    report.failures.push(failure);
    judge(&mut report, Expect::Auto);
    report
}

#[test]
fn each_row_names_its_cause() {
    let missing = Failure {
        reason_code: Some(ReasonCode::LibraryNotFound),
        ..Failure::new("load libcuda.so.1", "x")
    };
    let faulty = |cause: &str| Failure {
        cause: Some(cause.to_owned()),
        ..Failure::new("cuInit", "x")
    };
    let cases = [
        (missing, cause::LIBRARY_MISSING),
        (returned("cuInit", 34), cause::STUB_LIBRARY),
        (returned("cuInit", 100), cause::NO_DEVICE),
        (returned("cuInit", 802), cause::SYSTEM_NOT_READY),
        (returned("cuInit", 803), cause::SYSTEM_DRIVER_MISMATCH),
        (returned("cuInit", 804), cause::COMPATIBILITY_NOT_SUPPORTED),
        (returned("cuInit", 35), cause::DRIVER_TOO_OLD),
        (returned("cuInit", 36), cause::DRIVER_TOO_OLD),
        (returned("cuDevicePrimaryCtxRetain", 2), cause::MEMORY_FULL),
        (returned("cuDevicePrimaryCtxRetain", 46), cause::GPU_BUSY),
        (returned("cuInit", 3), cause::INITIALIZATION_FAILS),
        (returned("cuInit", 999), cause::INITIALIZATION_FAILS),
        (returned("cuInit", 9999), cause::INITIALIZATION_FAILS),
        (faulty(cause::HANG), cause::HANG),
        (faulty(cause::PROCESS_DIES), cause::PROCESS_DIES),
        (faulty(cause::DRIVER_UNRESPONSIVE), cause::DRIVER_UNRESPONSIVE),
    ];
    for (failure, cause) in &cases {
        let report = explained(failure.clone());
        let named = &report.failures[0];
        assert_eq!(named.cause.as_deref(), Some(*cause), "{named:?}");
        assert!(named.record.is_some() && named.fix.is_some(), "{named:?}");
        let conclusion = &report.conclusion;
        let expected = match *cause {
            // A driver that does not answer twice for half a minute was seen to fail.
            cause::DRIVER_UNRESPONSIVE => (Verdict::Broken, 2),
            _ => (Verdict::Unknown, 3),
        };
        assert_eq!((conclusion.verdict, conclusion.exit_code), expected);
        assert!(conclusion.reason.starts_with(*cause), "{conclusion:?}");
    }
    for row in RUN {
        assert!(
            cases.iter().any(|(_, cause)| *cause == row.named.cause),
            "{}",
            row.named.cause
        );
    }
}

#[test]
fn a_failure_that_nobody_knows_keeps_its_words() {
    let report = explained(Failure::new("lock the node", "another agent runs"));
    assert_eq!(report.failures[0].cause, None);
    assert_eq!(report.conclusion.reason, "lock the node: another agent runs");
}

#[test]
fn nvml_that_cannot_be_used_is_a_note_and_no_verdict() {
    let cases = [
        (ReasonCode::LibraryNotFound, cause::NVML_MISSING),
        (ReasonCode::LibraryNotLoaded, cause::NVML_MISSING),
        (ReasonCode::VersionMismatch, cause::NVML_MISMATCH),
    ];
    for (code, cause) in cases {
        let report = with(|report| {
            let gap = Gap::new(GapKind::NotSupported, "x").coded(code);
            let fact = Fact::without(gap, "nvmlSystemGetDriverVersion");
            report.host.insert("nvml.driver_version".to_owned(), fact);
        });
        let mut judged = report;
        judge(&mut judged, Expect::Auto);
        assert_eq!(judged.notes[0].cause.as_deref(), Some(cause));
        assert_eq!(judged.conclusion.exit_code, 0);
    }
    let named = |note: &RunRow| cases.iter().any(|(_, cause)| *cause == note.named.cause);
    assert!(NOTES.iter().all(named));
    let mut fine = healthy(2);
    judge(&mut fine, Expect::Auto);
    assert_eq!(fine.notes, []);
}

/// What was seen of a GPU by itself, by the code and by what the check ended with.
#[test]
fn a_gpu_by_itself_has_the_causes_of_pairs() {
    let cases = [
        (Some(214), None, cause::ECC_ERROR, Verdict::Broken),
        (
            Some(214),
            Some(cause::ACCESS_FAILS),
            cause::ECC_ERROR,
            Verdict::Broken,
        ),
        (Some(220), None, cause::NVLINK_ERROR, Verdict::Broken),
        (
            None,
            Some(cause::DATA_MISMATCH),
            cause::DATA_MISMATCH,
            Verdict::Broken,
        ),
        (None, Some(cause::HANG), cause::HANG, Verdict::Broken),
        (
            None,
            Some(cause::PROCESS_DIES),
            cause::PROCESS_DIES,
            Verdict::Broken,
        ),
        (
            Some(719),
            Some(cause::ACCESS_FAILS),
            cause::ACCESS_FAILS,
            Verdict::Broken,
        ),
        (Some(221), None, cause::JIT_MISSING, Verdict::Unknown),
        (Some(222), None, cause::PTX_TOO_NEW, Verdict::Unknown),
        (Some(2), None, cause::MEMORY_FULL, Verdict::Unknown),
        (Some(46), None, cause::GPU_BUSY, Verdict::Unknown),
    ];
    for (code, seen, expected, verdict) in cases {
        let failure = Failure {
            code,
            cause: seen.map(str::to_owned),
            ..Failure::new(Failure::OWN_MEMORY, "x")
        };
        for gpus in [1, 2] {
            let mut report = healthy(gpus);
            report.failures.push(failure.clone());
            judge(&mut report, Expect::Auto);
            let named = &report.failures[0];
            assert_eq!(named.cause.as_deref(), Some(expected), "{named:?}");
            assert!(named.fix.is_some(), "{named:?}");
            assert_eq!(report.conclusion.verdict, verdict, "{expected}");
            assert!(report.conclusion.reason.starts_with(expected), "{expected}");
        }
    }
    let alone = of_run().count() - RUN.len();
    for row in of_run().take(alone) {
        let has_case = cases.iter().any(|case| case.2 == row.named.cause);
        assert!(has_case, "{}", row.named.cause);
    }
}

#[test]
fn a_gpu_that_asks_for_service_is_not_hidden_by_a_check_that_could_not_be_made() {
    let mut report = healthy(1);
    gpu_fact(&mut report, 0, "recovery.action", "reset");
    report.failures.push(Failure::new(Failure::OWN_MEMORY, "x"));
    judge(&mut report, Expect::Auto);
    let conclusion = &report.conclusion;
    assert_eq!(conclusion.verdict, Verdict::Broken);
    assert!(
        conclusion.reason.starts_with("recovery_action: "),
        "{conclusion:?}"
    );
}
