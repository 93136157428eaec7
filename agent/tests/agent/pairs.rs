//! Scenarios of pairs: each asserts verdict, cause and exit code.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use fake_gpu::Scenario;
use fake_gpu::scenario::{Access, Fate, MemoryFault, Route};
use kb_core::report::{Check, GapKind, Outcome, P2pStatus, Report};
use kb_core::verdict::{Verdict, cause};

use crate::node::Node;

/// Verdict and cause of the first pair.
fn judged(report: &Report) -> (Verdict, Option<&str>) {
    let verdict = &report.pairs[0].verdict;
    (verdict.verdict, verdict.cause.as_deref())
}

fn check<'a>(report: &'a Report, direction: usize, name: &str) -> &'a Check {
    let checks = &report.pairs[0].directions[direction].checks;
    checks.iter().find(|check| check.name == name).unwrap()
}

/// Every pointer of every verdict leads to something in the report.
fn assert_evidence(report: &Report) {
    let value = serde_json::to_value(report).unwrap();
    for pair in &report.pairs {
        assert!(!pair.verdict.evidence.is_empty(), "{:?}", pair.verdict);
        for pointer in &pair.verdict.evidence {
            assert!(value.pointer(pointer).is_some(), "{pointer}");
        }
    }
}

#[test]
fn healthy_pairs_are_proven_by_rungs_1_to_6() {
    for gpus in [2, 4] {
        let (report, run) = Node::with(&Scenario::healthy(gpus)).probe(&[]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(report.conclusion.verdict, Verdict::Healthy);
        assert_eq!(report.gpus.len(), gpus);
        assert_eq!(report.pairs.len(), gpus * (gpus - 1) / 2);
        for pair in &report.pairs {
            assert_eq!(pair.verdict.verdict, Verdict::Healthy);
            assert_eq!(pair.verdict.proven_rungs, [1, 2, 3, 4, 5, 6]);
            assert_eq!(pair.nvlinks.value, Some(18));
            assert_eq!(pair.nvswitch.value, Some(true));
            for direction in &pair.directions {
                assert_eq!(direction.nvml.read.value, Some(P2pStatus::Ok));
                for check in &direction.checks {
                    assert_eq!((check.outcome, check.rerun), (Outcome::Pass, false), "{check:?}");
                }
            }
        }
        assert_eq!(check(&report, 0, "copy_push").checked_by, "owner_kernel");
        assert!(report.simulated);
        assert_eq!(run.stderr, "");
        assert_evidence(&report);
    }
}

#[test]
fn a_refusal_by_gns_is_named() {
    let (report, run) = Node::with(&Scenario::refused_gns()).probe(&["--expect", "p2p=all"]);
    assert_eq!(
        judged(&report),
        (Verdict::Refused, Some(cause::REFUSED_BY_POLICY))
    );
    assert_eq!(run.code, 2);
    let verdict = &report.pairs[0].verdict;
    assert!(verdict.record.is_some() && !verdict.information, "{verdict:?}");
    assert!(verdict.reason.contains("GNS"), "{}", verdict.reason);
    let enable = check(&report, 0, "enable_peer_access");
    assert_eq!((enable.outcome, enable.code), (Outcome::Fail, Some(217)));
    assert_eq!(
        enable.code_name.as_deref(),
        Some("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED")
    );
    assert!(!enable.rerun, "a refusal that the driver announced is an answer");
    assert_eq!(check(&report, 0, "copy_push").outcome, Outcome::Skipped);
    assert_eq!(run.stderr.lines().count(), 1);
    assert!(
        run.stderr.starts_with("peerless-agent: refused: "),
        "{}",
        run.stderr
    );
    assert_evidence(&report);
}

#[test]
fn a_refusal_by_policy_is_information_unless_access_is_expected() {
    let node = Node::with(&Scenario::refused_gns());
    for arguments in [&[][..], &["--expect", "p2p=nvlink"], &["--expect", "p2p=none"]] {
        let (report, run) = node.probe(arguments);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
        let verdict = &report.pairs[0].verdict;
        assert_eq!((verdict.verdict, verdict.information), (Verdict::Refused, true));
        assert_eq!(report.conclusion.verdict, Verdict::Healthy);
        assert!(report.conclusion.reason.contains(cause::REFUSED_BY_POLICY));
    }
}

#[test]
fn a_refusal_on_linked_gpus_is_the_fabric_unless_that_is_up() {
    let mut scenario = Scenario::healthy(2);
    scenario.pairs = fake_gpu::scenario::Pairs::refused(2, 5);
    scenario.gpus[1].condition.fabric.state = fake_gpu::scenario::FabricState::InProgress;
    let (report, run) = Node::with(&scenario).probe(&[]);
    assert_eq!(judged(&report), (Verdict::Refused, Some(cause::FABRIC_NOT_READY)));
    assert_eq!(run.code, 2);
}

#[test]
fn one_direction_only_is_refused_and_the_other_is_still_proven() {
    let (report, run) = Node::with(&Scenario::one_direction_only()).probe(&[]);
    assert_eq!(
        judged(&report),
        (Verdict::Refused, Some(cause::ONE_DIRECTION_ONLY))
    );
    assert_eq!(run.code, 2);
    assert_eq!(check(&report, 0, "sm_load").outcome, Outcome::Pass);
    assert_eq!(check(&report, 1, "enable_peer_access").code, Some(217));
    assert_evidence(&report);
}

#[test]
fn a_missing_library_is_unknown() {
    let (report, run) = Node::with(&Scenario::library_missing()).probe(&[]);
    assert_eq!(report.conclusion.verdict, Verdict::Unknown);
    assert_eq!(run.code, 3);
    assert_eq!(report.failures.len(), 1);
    assert_eq!(report.failures[0].step, "load libcuda.so.1");
    assert!(
        report.failures[0].message.contains("libcuda.so.1: cannot open"),
        "{:?}",
        report.failures
    );
    assert!(report.gpus.is_empty() && report.pairs.is_empty());
}

/// As root a library that others can write is not opened: it is there, so no driver needs to be installed.
#[test]
fn a_library_that_root_must_not_open_is_not_called_missing() {
    let node = Node::with(&Scenario::healthy(2));
    fs::set_permissions(node.path("libraries"), Permissions::from_mode(0o777)).unwrap();
    let (report, run) = node.probe(&[]);
    if !rustix::process::geteuid().is_root() {
        assert_eq!(run.code, 0, "{}", run.stderr);
        return;
    }
    assert_eq!((report.conclusion.verdict, run.code), (Verdict::Unknown, 3));
    let failure = &report.failures[0];
    assert_eq!(failure.step, "load libcuda.so.1");
    assert!(failure.message.contains("was not loaded"), "{failure:?}");
    assert!(failure.message.contains("mode 777"), "{failure:?}");
    assert_eq!(
        (&failure.cause, &failure.record, &failure.fix),
        (&None, &None, &None)
    );
}

#[test]
fn missing_nvml_leaves_gaps_and_the_copies_still_prove_the_pair() {
    let mut scenario = Scenario::healthy(2);
    scenario.absent.libraries.push(fake_gpu::scenario::Library::Nvml);
    let (report, run) = Node::with(&scenario).probe(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let read = &report.pairs[0].directions[0].nvml.read;
    assert!(
        read.gap.as_ref().unwrap().reason.contains("libnvidia-ml"),
        "{read:?}"
    );
    assert_eq!(report.pairs[0].nvlinks.value, None);
}

#[test]
fn dropped_writes_are_broken_though_every_call_succeeds() {
    let (report, run) = Node::with(&Scenario::writes_dropped()).probe(&[]);
    assert_eq!(judged(&report), (Verdict::Broken, Some(cause::WRITES_DROPPED)));
    assert_eq!(run.code, 2);
    let push = check(&report, 0, "copy_push");
    assert_eq!((push.outcome, push.rerun, push.code), (Outcome::Fail, true, None));
    let wrong = push.mismatch.unwrap();
    assert_eq!((wrong.first_offset, wrong.words), (0, 1024));
    assert_eq!((wrong.untouched, wrong.writer_sees_it), (true, Some(false)));
    assert_evidence(&report);
}

#[test]
fn a_private_mirror_fools_its_writer_and_not_its_owner() {
    let (report, run) = Node::with(&Scenario::private_mirror()).probe(&[]);
    assert_eq!(judged(&report), (Verdict::Broken, Some(cause::PRIVATE_MIRROR)));
    assert_eq!(run.code, 2);
    let wrong = check(&report, 0, "copy_push").mismatch.unwrap();
    // The naive check, the writer reading back, would have passed.
    assert_eq!(wrong.writer_sees_it, Some(true));
}

#[test]
fn a_mapping_that_only_kernels_find_broken_is_caught_on_rung_4() {
    let mut scenario = Scenario::healthy(2);
    scenario.memory_faults.push(MemoryFault {
        routes: vec![Route::Sm],
        ..MemoryFault::always(Fate::PrivateMirror)
    });
    let (report, run) = Node::with(&scenario).probe(&[]);
    assert_eq!(judged(&report), (Verdict::Broken, Some(cause::PRIVATE_MIRROR)));
    assert_eq!(run.code, 2);
    assert_eq!(check(&report, 0, "copy_pull").outcome, Outcome::Pass);
    assert_eq!(check(&report, 0, "sm_store").outcome, Outcome::Fail);
    assert_eq!(check(&report, 0, "sm_load").outcome, Outcome::Skipped);
}

#[test]
fn corrupted_data_names_the_first_wrong_word() {
    let mut scenario = Scenario::healthy(2);
    let fate = Fate::Corrupted {
        xor: 0x10,
        every: u64::MAX,
        // The second word of the first window, behind its guard zone of 256 bytes.
        at: 256 + 4,
    };
    scenario.memory_faults.push(MemoryFault {
        accesses: vec![Access::Store],
        ..MemoryFault::always(fate)
    });
    let (report, run) = Node::with(&scenario).probe(&[]);
    assert_eq!(judged(&report), (Verdict::Broken, Some(cause::DATA_MISMATCH)));
    assert_eq!(run.code, 2);
    let wrong = check(&report, 0, "copy_push").mismatch.unwrap();
    assert_eq!((wrong.first_offset, wrong.words, wrong.untouched), (4, 1, false));
}

/// The owner's own kernel writes one wrong bit into the guard zone in front of its data.
#[test]
fn an_overwritten_guard_is_told_as_such() {
    let mut scenario = Scenario::healthy(2);
    let fate = Fate::Corrupted {
        xor: 1,
        every: u64::MAX,
        at: 100,
    };
    scenario.memory_faults.push(MemoryFault {
        initiator: Some(1),
        owner: Some(1),
        routes: vec![Route::Sm],
        accesses: vec![Access::Store],
        range: Some((0, 4096)),
        ..MemoryFault::always(fate)
    });
    let (report, _) = Node::with(&scenario).probe(&[]);
    assert_eq!(judged(&report), (Verdict::Broken, Some(cause::DATA_MISMATCH)));
    let wrong = check(&report, 0, "copy_push").mismatch.unwrap();
    assert_eq!((wrong.in_guard, wrong.first_offset, wrong.words), (true, 100, 1));
    assert_eq!(wrong.writer_sees_it, None);
}

#[test]
fn without_the_jit_copies_pass_and_the_pair_is_not_proven() {
    let scenario = Scenario::code_from("cuModuleLoadData", 221);
    let (report, run) = Node::with(&scenario).probe(&[]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert_eq!(judged(&report), (Verdict::Unknown, Some(cause::JIT_MISSING)));
    assert!(run.stderr.contains("sm_store (rung 4)"), "{}", run.stderr);
    assert_eq!(report.pairs[0].verdict.proven_rungs, [1, 2, 3, 6]);
    assert_eq!(check(&report, 0, "copy_push").checked_by, "owner_copy");
    let store = check(&report, 0, "sm_store");
    assert_eq!(store.outcome, Outcome::Skipped);
    assert!(store.reason.as_ref().unwrap().contains("221"), "{store:?}");
}

#[test]
fn copies_alone_find_dropped_writes_too() {
    let mut scenario = Scenario::writes_dropped();
    scenario.call_faults = Scenario::code_from("cuModuleLoadData", 221).call_faults;
    let (report, run) = Node::with(&scenario).probe(&[]);
    assert_eq!(judged(&report), (Verdict::Broken, Some(cause::WRITES_DROPPED)));
    assert_eq!(run.code, 2);
}

#[test]
fn a_refused_enable_after_a_grant_is_broken_with_its_code() {
    for (code, name, cause) in [
        (711, "CUDA_ERROR_TOO_MANY_PEERS", cause::TOO_MANY_PEERS),
        (9999, "unknown code", cause::ENABLE_FAILS),
    ] {
        let (report, run) = Node::with(&Scenario::code_from("cuCtxEnablePeerAccess", code)).probe(&[]);
        assert_eq!(judged(&report), (Verdict::Broken, Some(cause)));
        assert_eq!(run.code, 2);
        let enable = check(&report, 0, "enable_peer_access");
        assert_eq!((enable.code, enable.rerun), (Some(code), true));
        assert_eq!(enable.code_name.as_deref(), Some(name));
    }
}

#[test]
fn a_driver_that_is_not_ready_is_unknown_with_its_code() {
    let (report, run) = Node::with(&Scenario::code_from("cuInit", 802)).probe(&[]);
    assert_eq!(run.code, 3);
    assert_eq!(report.conclusion.verdict, Verdict::Unknown);
    let failure = &report.failures[0];
    assert_eq!((failure.step.as_str(), failure.code), ("cuInit", Some(802)));
    assert_eq!(failure.code_name.as_deref(), Some("CUDA_ERROR_SYSTEM_NOT_READY"));
    assert!(report.simulated, "the stand-in is told though it refused to work");
    let library = report.host["cuda.library"].value.as_ref().unwrap();
    assert!(library.as_str().unwrap().ends_with("libcuda.so.1"), "{library}");
}

#[test]
fn a_gpu_that_cannot_be_prepared_shows_nothing_about_its_pairs() {
    for (call, code, cause) in [
        ("cuDevicePrimaryCtxRetain", 46, cause::GPU_BUSY),
        ("cuMemAlloc_v2", 2, cause::MEMORY_FULL),
    ] {
        let (report, run) = Node::with(&Scenario::code_from(call, code)).probe(&[]);
        assert_eq!(judged(&report), (Verdict::Unknown, Some(cause)));
        assert_eq!(run.code, 3);
        let enable = check(&report, 0, "enable_peer_access");
        assert_eq!((enable.call.as_deref(), enable.code), (Some(call), Some(code)));
    }
}

#[test]
fn an_older_driver_without_a_function_is_told_by_name() {
    let mut scenario = Scenario::healthy(2);
    scenario.absent.symbols = vec![
        "cuDeviceCanAccessPeer".to_owned(),
        "cuDeviceGetP2PAttribute".to_owned(),
    ];
    let (report, run) = Node::with(&scenario).probe(&[]);
    assert_eq!(judged(&report), (Verdict::Unknown, Some(cause::NOT_ASKED)));
    assert_eq!(run.code, 3);
    assert!(
        run.stderr.contains("this driver lacks cuDeviceCanAccessPeer"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_attribute_that_the_driver_does_not_know_yet_is_a_gap() {
    let partial_atomics = |cuda_version| {
        let mut scenario = Scenario::healthy(2);
        scenario.cuda_version = cuda_version;
        let (report, run) = Node::with(&scenario).probe(&[]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let attributes = &report.pairs[0].directions[0].cuda_attributes;
        attributes["only_partial_native_atomic_supported"].clone()
    };
    assert_eq!(partial_atomics(13_000).value, Some(0));
    let gap = partial_atomics(12_090).gap.unwrap();
    assert_eq!(gap.kind, GapKind::NotSupported);
}

#[test]
fn cuda_and_nvml_orders_may_differ() {
    let mut scenario = Scenario::healthy(2);
    scenario.cuda_order = vec![1, 0];
    let (report, run) = Node::with(&scenario).probe(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let indices: Vec<_> = report.gpus.iter().map(|gpu| gpu.nvml_index.value).collect();
    assert_eq!(indices, [Some(1), Some(0)]);
    for gpu in &report.gpus {
        let by_nvml = gpu.facts["nvml.uuid"].value.as_ref().unwrap();
        assert_eq!(by_nvml.as_str(), gpu.uuid.value.as_deref());
    }
}
