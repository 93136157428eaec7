//! A GPU without a peer: a kernel of ours fills its memory, and what that comes to is told as of a pair.

use fake_gpu::Scenario;
use fake_gpu::scenario::{Access, CallEffect, CallFault, Counted, Fate, MemoryFault, Process, Route};
use kb_core::report::Report;
use kb_core::verdict::{Verdict, cause};

use crate::node::{Node, Run};

fn with_effect(gpus: usize, call: &str, effect: CallEffect) -> Scenario {
    let mut scenario = Scenario::healthy(gpus);
    scenario.call_faults.push(CallFault::always(call, effect));
    scenario
}

/// The run of a node with one GPU, and the cause of its failure.
fn look(scenario: &Scenario) -> (Report, Option<String>, Run) {
    let (report, run) = Node::with(scenario).probe(&["--step-timeout", "3"]);
    let cause = report.failures.first().and_then(|failure| failure.cause.clone());
    (report, cause, run)
}

#[test]
fn one_gpu_has_no_pair_to_prove_and_is_filled_by_a_kernel() {
    let node = Node::with(&Scenario::healthy(1));
    let (report, run) = node.probe(&[]);
    assert_eq!((report.gpus.len(), report.pairs.len(), run.code), (1, 0, 0));
    let conclusion = &report.conclusion;
    assert_eq!(conclusion.verdict, Verdict::NoFaultSeen);
    assert_eq!(
        conclusion.reason,
        "one GPU, so there is no pair to prove; no fault seen of it"
    );
    let checked = &report.gpus[0].facts["own_memory.checked_bytes"];
    assert_eq!(checked.value, Some(4096.into()));
    let calls = node.installed.calls().unwrap();
    for call in ["cuLaunchKernel", "cuMemcpyDtoHAsync_v2"] {
        assert!(calls[call] > 0, "{call}");
    }
}

#[test]
fn a_kernel_that_fails_on_the_only_gpu_is_a_fault() {
    for (effect, expected) in [
        (CallEffect::Return(214), cause::ECC_ERROR),
        (CallEffect::Return(700), cause::ACCESS_FAILS),
        (CallEffect::Return(719), cause::ACCESS_FAILS),
        (CallEffect::Abort, cause::PROCESS_DIES),
        (CallEffect::Hang, cause::HANG),
    ] {
        let (report, cause, run) = look(&with_effect(1, "cuLaunchKernel", effect));
        assert_eq!(cause.as_deref(), Some(expected), "{effect:?}: {}", run.stderr);
        assert_eq!(
            (report.conclusion.verdict, run.code),
            (Verdict::Broken, 2),
            "{effect:?}"
        );
        assert!(run.stderr.contains(expected), "{effect:?}: {}", run.stderr);
    }
}

/// Wherever it comes up: with one GPU as with two.
#[test]
fn an_uncorrectable_error_is_one_whatever_call_returns_it() {
    for call in [
        "cuStreamCreate",
        "cuMemAlloc_v2",
        "cuMemHostAlloc",
        "cuModuleLoadData",
        "cuModuleGetFunction",
        "cuMemcpyDtoHAsync_v2",
        "cuStreamQuery",
    ] {
        let (_, cause, run) = look(&with_effect(1, call, CallEffect::Return(214)));
        assert_eq!(
            (cause.as_deref(), run.code),
            (Some(cause::ECC_ERROR), 2),
            "{call}: {}",
            run.stderr
        );
        let (report, run) = Node::with(&with_effect(2, call, CallEffect::Return(214))).probe(&[]);
        let of_pair = report.pairs[0].verdict.cause.as_deref();
        assert_eq!(
            (of_pair, run.code),
            (Some(cause::ECC_ERROR), 2),
            "{call} of two: {}",
            run.stderr
        );
    }
}

#[test]
fn no_fault_is_seen_only_where_a_kernel_ran() {
    for (call, code, expected) in [
        ("cuModuleLoadData", 719, None),
        ("cuModuleGetFunction", 719, None),
        ("cuMemHostAlloc", 719, None),
        ("cuModuleLoadData", 221, Some(cause::JIT_MISSING)),
        ("cuModuleLoadData", 222, Some(cause::PTX_TOO_NEW)),
        ("cuMemAlloc_v2", 2, Some(cause::MEMORY_FULL)),
    ] {
        let (report, cause, run) = look(&with_effect(1, call, CallEffect::Return(code)));
        assert_eq!(
            (cause.as_deref(), run.code),
            (expected, 3),
            "{call}: {}",
            run.stderr
        );
        assert!(!report.gpus[0].facts.contains_key("own_memory.checked_bytes"));
    }
}

fn with_wrong_copies(gpus: usize) -> Scenario {
    let mut scenario = Scenario::healthy(gpus);
    let fate = Fate::Corrupted {
        xor: 1,
        every: 16,
        at: 0,
    };
    for gpu in 0..gpus {
        scenario.memory_faults.push(MemoryFault {
            initiator: Some(gpu),
            owner: Some(gpu),
            routes: vec![Route::Sm],
            accesses: vec![Access::Store],
            ..MemoryFault::always(fate)
        });
    }
    scenario
}

#[test]
fn wrong_data_in_the_memory_of_the_only_gpu_is_a_fault() {
    let (report, cause, run) = look(&with_wrong_copies(1));
    assert_eq!(
        (cause.as_deref(), run.code),
        (Some(cause::DATA_MISMATCH), 2),
        "{}",
        run.stderr
    );
    assert!(
        report.conclusion.reason.contains("words are wrong"),
        "{}",
        run.stderr
    );
}

/// GPUs that may not reach each other are each alone, too.
#[test]
fn gpus_whose_pairs_are_refused_are_checked_one_by_one() {
    let refused = |scenario: &Scenario| Node::with(scenario).probe(&["--expect", "p2p=none"]);
    let (report, run) = refused(&Scenario::refused_gns());
    assert_eq!(run.code, 0, "{}", run.stderr);
    for gpu in &report.gpus {
        assert!(gpu.facts.contains_key("own_memory.checked_bytes"));
    }
    let mut scenario = Scenario::refused_gns();
    scenario
        .call_faults
        .push(CallFault::always("cuLaunchKernel", CallEffect::Return(719)));
    let (report, run) = refused(&scenario);
    assert_eq!((report.failures.len(), run.code), (2, 2), "{}", run.stderr);
}

#[test]
fn what_does_not_come_back_is_no_fault_unless_it_is_of_the_memory() {
    for (code, expected) in [(719, 3), (214, 2)] {
        let mut scenario = Scenario::healthy(1);
        scenario.call_faults.push(CallFault {
            times: Some(1),
            counted: Counted::Machine,
            ..CallFault::always("cuLaunchKernel", CallEffect::Return(code))
        });
        let (_, _, run) = look(&scenario);
        assert_eq!(run.code, expected, "{}", run.stderr);
        assert!(
            run.stderr.contains("passed when it was repeated"),
            "{}",
            run.stderr
        );
    }
}

/// Kernels of two processes take turns.
#[test]
fn a_hang_beside_other_peoples_work_shows_nothing() {
    let mut scenario = with_effect(1, "cuLaunchKernel", CallEffect::Hang);
    scenario.gpus[0].processes.push(Process {
        pid: 4711,
        used_bytes: 1 << 30,
    });
    let (_, cause, run) = look(&scenario);
    assert_eq!(
        (cause.as_deref(), run.code),
        (Some(cause::GPU_BUSY), 3),
        "{}",
        run.stderr
    );
}
