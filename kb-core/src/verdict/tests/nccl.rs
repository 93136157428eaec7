//! NCCL's rung beside the others.

use super::*;

#[test]
fn the_ladder_says_more_than_nccl() {
    for (name, expected) in [
        ("ipc_legacy", cause::IPC_FAILS),
        ("resident_exchange", cause::VISIBLE_ONLY_AT_KERNEL_END),
        ("copy_pull", cause::PROCESS_DIES),
    ] {
        let report = with(|report| {
            nccl(report, Outcome::Fail);
            match name {
                "ipc_legacy" => wrong(report, name, true, None),
                "resident_exchange" => ends(report, name, Outcome::Hang, None),
                _ => ends(report, name, Outcome::Fail, None),
            }
        });
        assert_cause(report, expected);
    }
}

#[test]
fn an_enabling_that_fails_is_not_hidden_by_nccl() {
    for (code, expected) in [
        (711, cause::TOO_MANY_PEERS),
        (217, cause::ENABLE_CONTRADICTS_QUERY),
        (205, cause::MAP_FAILED),
        (999, cause::ENABLE_FAILS),
    ] {
        for outcome in [Outcome::Fail, Outcome::Hang] {
            let report = with(|report| {
                nccl(report, outcome);
                ends(report, "enable_peer_access", Outcome::Fail, Some(code));
            });
            assert_cause(report, expected);
        }
    }
}

#[test]
fn its_rung_proves_when_it_passes() {
    let report = with(|report| nccl(report, Outcome::Pass));
    let verdict = judged(report, 0);
    assert_eq!(verdict.verdict, Verdict::Healthy);
    assert_eq!(verdict.proven_rungs, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_gpu_that_others_use_is_no_fault_of_peer_access() {
    let report = with(|report| {
        nccl(report, Outcome::Hang);
        gpu_fact(report, 1, "shared", true);
    });
    assert_ne!(
        judged(report, 0).cause.as_deref(),
        Some(cause::NCCL_PEER_ACCESS_FAILS)
    );
}
