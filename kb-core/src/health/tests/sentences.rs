//! What a look says in one sentence, and what it weighs.

use serde_json::json;

use super::super::{Ledger, age};
use super::{GPU_0, look, looked, proven, reason, set, xid};
use crate::policy::Policy;
use crate::report::Failure;
use crate::verdict::{FailOn, Verdict};

#[test]
fn a_look_without_a_fault_says_when_the_node_was_proven() {
    let mut ledger = Ledger::default();
    let mut report = looked("a");
    let health = look(&mut ledger, &report, &[]);
    assert_eq!(reason(&mut report, health), "never proven here");
    assert_eq!(report.conclusion.verdict, Verdict::NoFaultSeen);
    ledger.proof(&proven("a"), &Policy::default());
    let mut report = looked("a");
    let health = look(&mut ledger, &report, &[]);
    assert_eq!(reason(&mut report, health.clone()), "last proof 3 d ago");
    for (at, expected) in [
        ("2026-11-24T10:04:00Z", "last proof 0 min ago"),
        (
            "2027-09-20T10:00:00Z",
            "last proof of 2027-09-20T10:00:00Z, which is yet to come: a clock was set back, or is wrong",
        ),
    ] {
        let mut health = health.clone();
        health.last_proof.as_mut().unwrap().at = at.to_owned();
        assert_eq!(reason(&mut looked("a"), health), expected);
    }
    for fail_on in [FailOn::FAULT, FailOn::WARNING, FailOn::UNKNOWN] {
        assert_eq!(fail_on.exit_code(&report), 0, "{fail_on:?}");
    }
}

#[test]
fn a_fault_a_warning_and_what_was_not_read_have_their_own_codes() {
    let codes = |report: &crate::report::Report| {
        [FailOn::FAULT, FailOn::WARNING, FailOn::UNKNOWN].map(|fail_on| fail_on.exit_code(report))
    };
    let mut report = looked("a");
    let line = xid(GPU_0, "79, GPU has fallen off the bus.");
    let health = look(&mut Ledger::default(), &report, &[&line, &line]);
    let said = reason(&mut report, health);
    let expected = format!("xid-79@{GPU_0}, 2 times since 2026-11-24T10:00:00Z: {line}; never proven here");
    assert_eq!(said, expected);
    assert_eq!(codes(&report), [2, 2, 2]);

    let mut report = looked("a");
    set(&mut report, 1, "nvlink.links_active", json!(17));
    let health = look(&mut Ledger::default(), &report, &[]);
    assert!(reason(&mut report, health).contains("17 of 18 NVLinks are up"));
    assert_eq!(codes(&report), [0, 1, 1]);

    let mut report = looked("a");
    let mut health = look(&mut Ledger::default(), &report, &[]);
    health = Ledger::default().health(
        [super::super::Unread {
            what: "kernel_log".to_owned(),
            why: "permission denied".to_owned(),
        }]
        .into_iter()
        .chain(health.unread)
        .collect(),
    );
    assert!(reason(&mut report, health).contains("could not be read: kernel_log (permission denied)"));
    assert_eq!(codes(&report), [0, 0, 3]);
}

#[test]
fn a_look_that_failed_or_saw_a_refusal_says_so_beside_what_is_known() {
    let mut report = looked("a");
    let health = look(&mut Ledger::default(), &report, &[]);
    report.gpus.clear();
    report.pairs.clear();
    report
        .failures
        .push(Failure::new("cuInit", "system not yet initialized"));
    crate::verdict::judge(&mut report, crate::verdict::Expect::Auto);
    let said = reason(&mut report, health);
    assert_eq!(report.conclusion.verdict, Verdict::Unknown);
    assert!(said.starts_with("cuInit: system not yet initialized"), "{said}");

    let mut report = looked("a");
    let health = look(&mut Ledger::default(), &report, &[]);
    for direction in report.pairs.iter_mut().flat_map(|pair| &mut pair.directions) {
        direction.can_access_peer.value = Some(false);
    }
    crate::verdict::judge(&mut report, crate::verdict::Expect::All);
    reason(&mut report, health);
    assert_eq!(report.conclusion.verdict, Verdict::Refused);
}

#[test]
fn a_run_that_tried_keeps_its_own_verdict() {
    let mut ledger = Ledger::default();
    let health = look(&mut ledger, &looked("a"), &[&xid(GPU_0, "79, x")]);
    let mut run = proven("a");
    let said = run.conclusion.reason.clone();
    assert_eq!(reason(&mut run, health), said);
    assert_eq!(run.conclusion.verdict, Verdict::Healthy);
    assert_eq!(run.health.unwrap().verdict, Verdict::Broken);
}

#[test]
fn a_proof_that_found_a_fault_is_not_hidden_by_looks() {
    let mut ledger = Ledger::default();
    look(&mut ledger, &looked("a"), &[]);
    let mut run = proven("a");
    run.conclusion.verdict = Verdict::Broken;
    run.conclusion.reason = "1 of 1 pair broken".to_owned();
    ledger.proof(&run, &Policy::default());
    let mut report = looked("a");
    let health = look(&mut ledger, &report, &[]);
    let said = reason(&mut report, health);
    assert_eq!(said, "last proof 3 d ago: broken: 1 of 1 pair broken");
    assert_eq!(report.conclusion.verdict, Verdict::Broken);
}

#[test]
fn ages_are_whole_units() {
    for (seconds, expected) in [
        (-5, "0 min"),
        (59, "0 min"),
        (3_599, "59 min"),
        (3_600, "1 h"),
        (259_205, "3 d"),
    ] {
        assert_eq!(age(time::Duration::seconds(seconds)), expected);
    }
}

/// A run that worked does not end what the ledger holds open on its GPUs, and its caller is told.
#[test]
fn a_fault_that_is_open_on_a_gpu_of_a_run_fails_the_run() {
    let code = |lines: &[&str]| {
        let mut ledger = Ledger::default();
        look(&mut ledger, &looked("a"), lines);
        let mut run = proven("a");
        ledger.proof(&run, &Policy::default());
        let health = ledger.health(Vec::new());
        reason(&mut run, health);
        assert_eq!(run.conclusion.verdict, Verdict::Healthy, "the run by itself");
        FailOn::default().exit_code(&run)
    };
    assert_eq!(code(&[]), 0);
    assert_eq!(code(&[&xid(GPU_0, "79, x")]), 2);
    assert_eq!(code(&[&xid("0000:00:09.0", "79, x")]), 0, "another GPU's");
    assert_eq!(code(&[&xid(GPU_0, "31, x")]), 0, "an application's");
    assert_eq!(
        code(&["NVRM: fallen off the bus and is not responding to commands."]),
        2
    );
}
