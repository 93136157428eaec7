//! What "healthy" takes.

use super::*;
use crate::report::ReasonCode;

#[test]
fn healthy_names_the_rungs_that_proved_it() {
    let verdict = judged(healthy(2), 0);
    assert_eq!(verdict.verdict, Verdict::Healthy);
    assert_eq!(verdict.proven_rungs, [1, 2, 3, 4, 5, 6]);
    assert_eq!((verdict.cause, verdict.fix, verdict.record), (None, None, None));
    assert!(
        verdict
            .evidence
            .contains(&"/pairs/0/directions/0/checks/1".to_owned())
    );
}

#[test]
fn nothing_but_a_pass_of_every_check_is_healthy() {
    for outcome in [Outcome::Skipped, Outcome::NotVisible, Outcome::Unrecognised] {
        for direction in 0..2 {
            for (position, (rung, name)) in LADDER.into_iter().enumerate() {
                let report = with(|report| {
                    let check = &mut report.pairs[0].directions[direction].checks[position];
                    check.outcome = outcome;
                    check.reason = Some("because".to_owned());
                });
                let verdict = judged(report, 0);
                assert_eq!(
                    verdict.verdict,
                    Verdict::Unknown,
                    "{outcome:?} {direction} {name}"
                );
                assert!(verdict.reason.contains(&format!("rung {rung}")), "{verdict:?}");
            }
        }
    }
}

#[test]
fn a_required_rung_without_checks_is_not_proven() {
    for rung in super::super::rows::REQUIRED_RUNGS {
        let report = with(|report| {
            let checks = &mut report.pairs[0].directions[1].checks;
            checks.retain(|check| check.rung != rung);
        });
        let verdict = assert_cause(report, cause::NOT_PROVEN);
        assert!(verdict.reason.contains(&format!("rung {rung}")), "{verdict:?}");
        assert!(!verdict.proven_rungs.contains(&rung));
    }
}

/// One kind of handle proves rung 6 where the other does not exist; nothing at all proves nothing.
#[test]
fn a_check_that_does_not_exist_here_takes_nothing_from_its_rung() {
    let unsupported = |names: &[&str]| {
        with(|report| {
            for name in names {
                ends(report, name, Outcome::Skipped, None);
                of(report, name).reason_code = Some(ReasonCode::NotSupported);
            }
        })
    };
    for name in ["ipc_vmm", "ipc_legacy"] {
        let verdict = judged(unsupported(&[name]), 0);
        assert_eq!(verdict.verdict, Verdict::Healthy, "{verdict:?}");
        assert!(verdict.proven_rungs.contains(&6));
    }
    let neither = judged(unsupported(&["ipc_vmm", "ipc_legacy"]), 0);
    assert!(!neither.proven_rungs.contains(&6));
}

#[test]
fn what_was_left_out_counts_more_than_what_passes_only_alone() {
    let report = with(|report| {
        ends(report, "copy_push", Outcome::PassAlone, None);
        ends(report, "sm_load", Outcome::Skipped, None);
    });
    let verdict = assert_cause(report, cause::NOT_PROVEN);
    assert!(verdict.reason.contains("fails_only_together"), "{verdict:?}");
}
