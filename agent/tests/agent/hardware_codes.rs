//! Codes that mean broken hardware: a fault whichever call returns them, and however often.

use fake_gpu::Scenario;
use fake_gpu::scenario::{CallEffect, CallFault, Counted};
use kb_core::report::Report;
use kb_core::verdict::{Verdict, cause};

use crate::node::{Node, Run};

fn with_fault(gpus: usize, call: &str, after: u64, times: Option<u64>, effect: CallEffect) -> Scenario {
    let mut scenario = Scenario::healthy(gpus);
    scenario.call_faults.push(CallFault {
        after,
        times,
        ..CallFault::always(call, effect)
    });
    scenario
}

fn assert_broken(scenario: &Scenario, expected: &str, what: &str) {
    let (report, run) = Node::with(scenario).probe(&[]);
    assert_eq!(
        (report.conclusion.verdict, run.code),
        (Verdict::Broken, 2),
        "{what}: {}",
        run.stderr
    );
    let causes: Vec<_> = report
        .pairs
        .iter()
        .map(|pair| pair.verdict.cause.as_deref())
        .collect();
    assert!(causes.contains(&Some(expected)), "{what}: {causes:?}");
}

fn spoil(code: i32) -> CallEffect {
    CallEffect::Spoil { gpu: 1, code }
}

/// The repetition makes fewer calls, and so does not meet it again.
#[test]
fn a_code_of_broken_hardware_counts_even_if_the_check_then_passes_alone() {
    for (effect, expected) in [
        (spoil(214), cause::ECC_ERROR),
        (spoil(220), cause::NVLINK_ERROR),
        (spoil(226), cause::NVLINK_ERROR),
    ] {
        let scenario = with_fault(2, "cuLaunchKernel", 20, None, effect);
        assert_broken(&scenario, expected, &format!("{effect:?}"));
    }
    let mut once = with_fault(2, "cuMemcpyDtoHAsync_v2", 12, Some(1), CallEffect::Return(214));
    once.call_faults[0].counted = Counted::Machine;
    assert_broken(&once, cause::ECC_ERROR, "once on the machine");
}

#[test]
fn another_code_that_does_not_come_back_is_a_warning_as_before() {
    let scenario = with_fault(2, "cuLaunchKernel", 20, None, spoil(719));
    let (report, run) = Node::with(&scenario).probe(&[]);
    let told = (
        report.conclusion.verdict,
        report.pairs[0].verdict.cause.as_deref(),
    );
    assert_eq!(
        told,
        (Verdict::Degraded, Some(cause::FAILS_ONLY_TOGETHER)),
        "{}",
        run.stderr
    );
}

#[test]
fn a_code_of_broken_hardware_counts_in_calls_that_no_check_makes() {
    for (call, effect, expected) in [
        ("cuMemcpyPeerAsync", CallEffect::Return(214), cause::ECC_ERROR),
        ("cuMemcpyPeerAsync", spoil(214), cause::ECC_ERROR),
        ("cuMemcpyPeerAsync", spoil(220), cause::NVLINK_ERROR),
        ("cuEventElapsedTime", CallEffect::Return(214), cause::ECC_ERROR),
        ("cuMemFree_v2", CallEffect::Return(214), cause::ECC_ERROR),
        ("cuMemUnmap", CallEffect::Return(220), cause::NVLINK_ERROR),
        ("cuStreamDestroy_v2", CallEffect::Return(226), cause::NVLINK_ERROR),
        ("cuModuleUnload", CallEffect::Return(214), cause::ECC_ERROR),
        (
            "cuDevicePrimaryCtxRelease_v2",
            CallEffect::Return(214),
            cause::ECC_ERROR,
        ),
    ] {
        let scenario = with_fault(2, call, 0, None, effect);
        assert_broken(&scenario, expected, &format!("{call} {effect:?}"));
    }
}

#[test]
fn the_report_says_which_call_of_which_gpu_returned_it() {
    let scenario = with_fault(3, "cuStreamDestroy_v2", 0, None, spoil(214));
    let (report, _): (Report, Run) = Node::with(&scenario).probe(&[]);
    let told = &report.gpus[1].facts["cuda.hardware_errors"].value;
    let told = told.as_ref().unwrap().as_array().unwrap();
    assert_eq!(told[0]["code"], 214);
    assert!(
        told.iter().any(|error| error["call"] == "cuStreamDestroy_v2"),
        "{told:?}"
    );
    let verdict = |a: usize| report.pairs[a].verdict.verdict;
    assert_eq!(
        [verdict(0), verdict(1), verdict(2)],
        [Verdict::Broken, Verdict::Healthy, Verdict::Broken],
        "the pair without GPU 1 has nothing to do with it"
    );
    assert!(
        report
            .conclusion
            .reason
            .contains("cuStreamDestroy_v2 returned 214"),
        "{}",
        report.conclusion.reason
    );
}

#[test]
fn the_only_gpu_is_told_so_too() {
    for call in ["cuMemFree_v2", "cuModuleUnload"] {
        let (report, run) = Node::with(&with_fault(1, call, 0, None, CallEffect::Return(214))).probe(&[]);
        let failure = report
            .failures
            .first()
            .unwrap_or_else(|| panic!("{call}: {}", run.stderr));
        assert_eq!(
            (failure.cause.as_deref(), run.code),
            (Some(cause::ECC_ERROR), 2),
            "{call}"
        );
    }
}

#[test]
fn a_bench_sees_it_in_its_copies() {
    let scenario = with_fault(2, "cuMemcpyPeerAsync", 3, None, spoil(214));
    let run = Node::with(&scenario).run("bench", &["--json", "--copy-kib", "16"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
}
