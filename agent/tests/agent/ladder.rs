//! Rungs 3 to 6 against faults of memory, of handles and of the processes that share it.

use fake_gpu::Scenario;
use fake_gpu::scenario::{
    Access, CallEffect, CallFault, ComputeMode, Counted, Fate, MemoryFault, Process, Route,
};
use kb_core::report::{Check, Outcome, Report};
use kb_core::verdict::Verdict;

use crate::node::Node;

fn check<'a>(report: &'a Report, direction: usize, name: &str) -> &'a Check {
    let checks = &report.pairs[0].directions[direction].checks;
    checks.iter().find(|check| check.name == name).unwrap()
}

fn outcomes(report: &Report, direction: usize, names: &[&str]) -> Vec<Outcome> {
    names
        .iter()
        .map(|name| check(report, direction, name).outcome)
        .collect()
}

fn with_fault(fault: MemoryFault) -> Scenario {
    let mut scenario = Scenario::healthy(2);
    scenario.memory_faults.push(fault);
    scenario
}

fn with_effect(call: &str, times: Option<u64>, effect: CallEffect) -> Scenario {
    let mut scenario = Scenario::healthy(2);
    scenario.call_faults.push(CallFault {
        call: call.to_owned(),
        after: 0,
        times,
        counted: Counted::Machine,
        effect,
    });
    scenario
}

#[test]
fn windows_are_spread_over_an_idle_gpu_and_not_over_a_busy_one() {
    let scenario = Scenario::healthy(2);
    let memory = scenario.gpus[0].memory_bytes;
    let (report, _) = Node::with(&scenario).probe(&[]);
    let push = check(&report, 0, "copy_push");
    assert_eq!((push.windows, push.bytes), (16, 4096));
    assert!(push.spread_bytes > memory / 10 * 7, "{push:?}");
    assert!(push.spread_bytes < memory / 4 * 3, "{push:?}");
    assert_eq!(report.gpus[1].facts["shared"].value, Some(false.into()));

    let mut busy = Scenario::healthy(2);
    busy.gpus[1].processes.push(Process {
        pid: 4711,
        used_bytes: 1 << 30,
    });
    let (report, _) = Node::with(&busy).probe(&[]);
    let (to_busy, to_idle) = (check(&report, 0, "copy_push"), check(&report, 1, "copy_push"));
    assert!(to_busy.spread_bytes < 1 << 20, "{to_busy:?}");
    assert!(to_idle.spread_bytes > memory / 2, "{to_idle:?}");
    assert_eq!(report.gpus[1].facts["shared"].value, Some(true.into()));
}

/// Static BAR1 mappings fail by address: fifteen windows are right.
#[test]
fn a_fault_of_one_window_is_found_and_placed() {
    let (healthy, _) = Node::with(&Scenario::healthy(2)).probe(&[]);
    let stride = (check(&healthy, 0, "copy_push").spread_bytes - 256) / 15;
    let window = 11 * stride;
    let fate = Fate::Corrupted {
        xor: 1,
        every: 1,
        at: 0,
    };
    let (report, run) = Node::with(&with_fault(MemoryFault {
        initiator: Some(0),
        owner: Some(1),
        accesses: vec![Access::Store],
        range: Some((window, window + 768)),
        ..MemoryFault::always(fate)
    }))
    .probe(&[]);
    assert_eq!(run.code, 2);
    let wrong = check(&report, 0, "copy_push").mismatch.unwrap();
    assert_eq!((wrong.first_offset, wrong.words), (window, 64));
    assert_eq!(check(&report, 1, "copy_push").outcome, Outcome::Pass);
}

#[test]
fn additions_that_vanish_are_found_beside_stores_that_do_not() {
    let (report, run) = Node::with(&with_fault(MemoryFault {
        accesses: vec![Access::Atomic],
        routes: vec![Route::Sm],
        ..MemoryFault::always(Fate::Dropped)
    }))
    .probe(&[]);
    assert_eq!(run.code, 2);
    assert_eq!(
        outcomes(&report, 0, &["sm_store", "sm_load", "sm_atomic"]),
        [Outcome::Pass, Outcome::Pass, Outcome::Fail]
    );
    let wrong = check(&report, 0, "sm_atomic").mismatch.unwrap();
    // The counter and every one of the 63 additions of 16 windows.
    assert_eq!(
        (wrong.first_offset, wrong.words, wrong.untouched),
        (0, 16 * 64, true)
    );
}

#[test]
fn atomics_that_the_driver_does_not_promise_are_not_asked_for() {
    let mut scenario = with_fault(MemoryFault {
        accesses: vec![Access::Atomic],
        ..MemoryFault::always(Fate::Dropped)
    });
    for row in &mut scenario.pairs.atomics {
        row.fill(5);
    }
    let (report, _) = Node::with(&scenario).probe(&[]);
    let atomic = check(&report, 0, "sm_atomic");
    assert_eq!(atomic.outcome, Outcome::Skipped);
    assert!(atomic.reason.as_ref().unwrap().starts_with("not supported: "));
    assert_eq!(check(&report, 0, "resident_exchange").outcome, Outcome::Pass);
}

/// The attribute that says so is the third of four that are asked for in each direction.
#[test]
fn atomics_of_which_the_driver_does_not_tell_are_not_asked_for_and_not_taken_for_proven() {
    let mut scenario = with_effect("cuDeviceGetP2PAttribute", Some(1), CallEffect::Return(999));
    scenario.call_faults[0].after = 2;
    let (report, run) = Node::with(&scenario).probe(&[]);
    let atomic = check(&report, 0, "sm_atomic");
    assert_eq!(atomic.outcome, Outcome::Skipped);
    let reason = atomic.reason.as_ref().unwrap();
    assert!(
        reason.contains("is not known: cuDeviceGetP2PAttribute returned 999"),
        "{reason}"
    );
    assert_eq!(check(&report, 1, "sm_atomic").outcome, Outcome::Pass);
    assert_eq!((report.pairs[0].verdict.verdict, run.code), (Verdict::Unknown, 3));
}

/// What hangs NCCL: the stores of a running kernel arrive when it ends.
#[test]
fn stores_that_wait_for_the_end_of_their_kernel_hang_the_exchange_only() {
    let fault = MemoryFault {
        initiator: Some(0),
        owner: Some(1),
        routes: vec![Route::Sm],
        accesses: vec![Access::Store],
        ..MemoryFault::always(Fate::AtKernelEnd)
    };
    let (report, run) = Node::with(&with_fault(fault)).probe(&["--step-timeout", "4"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert_eq!(
        outcomes(&report, 0, &["copy_push", "sm_store", "resident_exchange"]),
        [Outcome::Pass, Outcome::Pass, Outcome::Hang]
    );
    let exchange = check(&report, 0, "resident_exchange");
    assert!(exchange.rerun);
    assert!(
        exchange.reason.as_ref().unwrap().contains("round 1 of 64"),
        "{exchange:?}"
    );
    // The stores the other way arrive; how many more of them would have is not known.
    let other = check(&report, 1, "resident_exchange");
    assert_eq!(other.outcome, Outcome::Inconclusive, "{other:?}");
}

#[test]
fn a_mirror_that_only_other_processes_get_is_caught_by_their_owner() {
    let (report, run) = Node::with(&with_fault(MemoryFault {
        routes: vec![Route::Ipc],
        ..MemoryFault::always(Fate::PrivateMirror)
    }))
    .probe(&[]);
    assert_eq!(run.code, 2);
    assert_eq!(check(&report, 0, "resident_exchange").outcome, Outcome::Pass);
    for name in ["ipc_legacy", "ipc_vmm"] {
        let across = check(&report, 0, name);
        assert_eq!(
            (across.outcome, across.rerun),
            (Outcome::Fail, true),
            "{across:?}"
        );
        let wrong = across.mismatch.unwrap();
        assert_eq!((wrong.untouched, wrong.writer_sees_it), (true, Some(true)));
    }
}

#[test]
fn loads_from_another_process_are_checked_too() {
    let (report, run) = Node::with(&with_fault(MemoryFault {
        routes: vec![Route::Ipc],
        accesses: vec![Access::Load],
        ..MemoryFault::always(Fate::Dropped)
    }))
    .probe(&[]);
    assert_eq!(run.code, 2);
    let across = check(&report, 0, "ipc_legacy");
    assert_eq!(across.outcome, Outcome::Fail);
    assert_eq!(across.checked_by, "initiator_kernel");
}

#[test]
fn handles_that_are_not_there_are_no_fault_and_those_that_fail_are() {
    for call in [
        "cuIpcGetMemHandle",
        "cuIpcOpenMemHandle_v2",
        "cuMemCreate",
        "cuMemImportFromShareableHandle",
    ] {
        let legacy = call.starts_with("cuIpc");
        let names = if legacy {
            ["ipc_legacy", "ipc_vmm"]
        } else {
            ["ipc_vmm", "ipc_legacy"]
        };
        let (report, _) = Node::with(&with_effect(call, None, CallEffect::Return(801))).probe(&[]);
        assert_eq!(
            outcomes(&report, 0, &names),
            [Outcome::Skipped, Outcome::Pass],
            "{call}"
        );
        let reason = check(&report, 0, names[0]).reason.clone().unwrap();
        assert!(reason.starts_with("not supported: "), "{reason}");
    }
    let scenario = with_effect("cuIpcOpenMemHandle_v2", None, CallEffect::Return(999));
    let (report, run) = Node::with(&scenario).probe(&[]);
    assert_eq!(run.code, 2);
    let across = check(&report, 0, "ipc_legacy");
    assert_eq!((across.outcome, across.code), (Outcome::Fail, Some(999)));
    assert_eq!(check(&report, 0, "ipc_vmm").outcome, Outcome::Pass);
}

#[test]
fn an_older_driver_shares_by_handle_only() {
    let mut scenario = Scenario::healthy(2);
    scenario.absent.symbols = vec!["cuMemCreate".to_owned()];
    let (report, _) = Node::with(&scenario).probe(&[]);
    assert_eq!(
        outcomes(&report, 1, &["ipc_legacy", "ipc_vmm"]),
        [Outcome::Pass, Outcome::Skipped]
    );
}

#[test]
fn a_partner_that_dies_is_replaced_and_one_that_always_dies_is_told() {
    let once = with_effect("cuIpcGetMemHandle", Some(1), CallEffect::Abort);
    let (report, run) = Node::with(&once).probe(&[]);
    let across = check(&report, 0, "ipc_legacy");
    assert_eq!(
        (across.outcome, across.rerun),
        (Outcome::PassAlone, true),
        "{across:?}"
    );
    assert_eq!(run.code, 1);
    assert_eq!(check(&report, 1, "ipc_legacy").outcome, Outcome::Pass);

    let always = with_effect("cuIpcGetMemHandle", None, CallEffect::Abort);
    let (report, run) = Node::with(&always).probe(&[]);
    assert_eq!((report.pairs[0].verdict.verdict, run.code), (Verdict::Broken, 2));
    let across = check(&report, 0, "ipc_legacy");
    assert_eq!(across.call.as_deref(), Some("cuIpcGetMemHandle"));
    let reason = across.reason.as_ref().unwrap();
    assert!(
        reason.starts_with("in the process of the memory's owner: "),
        "{reason}"
    );
}

#[test]
fn a_partner_that_hangs_is_a_hang_of_its_call() {
    let scenario = with_effect("cuMemExportToShareableHandle", None, CallEffect::Hang);
    let (report, run) = Node::with(&scenario).probe(&["--step-timeout", "2"]);
    assert_eq!(run.code, 2);
    let across = check(&report, 0, "ipc_vmm");
    assert_eq!(across.outcome, Outcome::Hang);
    assert_eq!(across.call.as_deref(), Some("cuMemExportToShareableHandle"));
    assert_eq!(check(&report, 0, "ipc_legacy").outcome, Outcome::Pass);
}

#[test]
fn copies_are_timed_before_and_after_access_is_enabled() {
    let (report, _) = Node::with(&Scenario::healthy(2)).probe(&[]);
    let arms: Vec<Option<bool>> = report.measurements.iter().map(|m| m.peer_access).collect();
    assert_eq!(arms, [Some(false), Some(true)]);
    for measurement in &report.measurements {
        assert_eq!(measurement.cells.len(), 2);
        for cell in &measurement.cells {
            assert_eq!((cell.samples.len(), &cell.gap), (3, &None));
            assert!(cell.samples.iter().all(|rate| *rate > 0.0));
        }
    }
    let (report, _) = Node::with(&Scenario::refused_gns()).probe(&[]);
    let gap = report.measurements[1].cells[0].gap.as_ref().unwrap();
    assert!(gap.reason.contains("enable_peer_access"), "{gap:?}");
}

/// The last check but the timing replaces the worker, and no access can be enabled in the new one.
#[test]
fn copies_without_access_are_not_taken_for_direct_ones() {
    let fault = |call: &str, after, times, effect| CallFault {
        call: call.to_owned(),
        after,
        times,
        counted: Counted::Machine,
        effect,
    };
    let mut scenario = Scenario::healthy(2);
    scenario.call_faults = vec![
        fault("cuMemExportToShareableHandle", 1, Some(1), CallEffect::Abort),
        fault("cuCtxEnablePeerAccess", 2, None, CallEffect::Return(217)),
    ];
    let (report, _) = Node::with(&scenario).probe(&[]);
    assert_eq!(check(&report, 1, "ipc_vmm").outcome, Outcome::PassAlone);
    let [staged, direct] = report.measurements.as_slice() else {
        panic!("{:?}", report.measurements)
    };
    assert!(staged.cells.iter().all(|cell| cell.samples.len() == 3));
    for cell in &direct.cells {
        assert!(cell.samples.is_empty());
        let gap = cell.gap.as_ref().unwrap();
        assert!(
            gap.reason.contains("cuCtxEnablePeerAccess returned 217"),
            "{gap:?}"
        );
    }
}

/// Three GPUs, whose sixth context (the partner's on GPU 2, behind the worker's three) or another one is not had once.
fn with_lost_context(number: u64, effect: CallEffect) -> Scenario {
    let mut scenario = Scenario::healthy(3);
    scenario.call_faults = vec![CallFault {
        call: "cuDevicePrimaryCtxRetain".to_owned(),
        after: number - 1,
        times: Some(1),
        counted: Counted::Machine,
        effect,
    }];
    scenario
}

fn assert_every_check_passed_at_once(scenario: &Scenario) {
    let (report, run) = Node::with(scenario).probe(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for direction in report.pairs.iter().flat_map(|pair| &pair.directions) {
        for check in &direction.checks {
            assert_eq!((check.outcome, check.rerun), (Outcome::Pass, false), "{check:?}");
        }
    }
}

#[test]
fn a_gpu_that_is_refused_once_costs_no_process() {
    for number in [3, 6] {
        let mut scenario = with_lost_context(number, CallEffect::Return(2));
        let third_process = with_effect("cuInit", None, CallEffect::Return(999));
        scenario.call_faults.extend(third_process.call_faults);
        scenario.call_faults[1].after = 2;
        assert_every_check_passed_at_once(&scenario);
    }
}

#[test]
fn a_partner_that_dies_over_one_gpu_is_no_fault_of_another_pair() {
    for effect in [CallEffect::Abort, CallEffect::Return(999)] {
        assert_every_check_passed_at_once(&with_lost_context(6, effect));
    }
}

/// The partner gets no context beside the worker. Alone, each of the two holds another GPU.
#[test]
fn gpus_that_take_one_process_at_a_time_are_proven_all_the_same() {
    let mut scenario = Scenario::healthy(2);
    for gpu in &mut scenario.gpus {
        gpu.compute_mode = ComputeMode::ExclusiveProcess;
    }
    let (report, run) = Node::with(&scenario).probe(&[]);
    let across = check(&report, 0, "ipc_legacy");
    assert_eq!(
        (across.outcome, across.rerun),
        (Outcome::Pass, true),
        "{across:?}"
    );
    assert!(across.reason.as_ref().unwrap().contains("46"), "{across:?}");
    assert_eq!(run.code, 0, "{}", run.stderr);
}
