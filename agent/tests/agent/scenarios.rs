//! Every scenario in a whole run: verdict, cause and exit code, on standard output and as the process ends.

use std::path::Path;

use fake_gpu::Scenario;
use fake_gpu::scenario::{FabricState, Pairs};
use kb_core::report::Report;
use kb_core::verdict::{Verdict, cause, table};

use crate::node::{Node, Run};

/// What a run on a scenario must come to.
struct Expected {
    name: &'static str,
    scenario: Scenario,
    /// Arguments beside `--json`.
    arguments: &'static [&'static str],
    /// Variables of the agent.
    environment: &'static [(&'static str, &'static str)],
    /// Of the run.
    verdict: Verdict,
    /// Of the worst pair, else of the failure; none where all is well.
    cause: Option<&'static str>,
    /// With `--fail-on unknown`, which passes every code on.
    code: i32,
}

/// Windows large enough for faults that hit a byte in 4096, and time for a machine that is busy with other tests.
const BUFFERS: &[&str] = &["--buffer-kib", "128", "--step-timeout", "60"];

fn row(
    name: &'static str,
    scenario: Scenario,
    verdict: Verdict,
    cause: Option<&'static str>,
    code: i32,
) -> Expected {
    Expected {
        name,
        scenario,
        arguments: &[],
        environment: &[],
        verdict,
        cause,
        code,
    }
}

fn healthy(name: &'static str, scenario: Scenario) -> Expected {
    row(name, scenario, Verdict::Healthy, None, 0)
}

fn broken(name: &'static str, scenario: Scenario, cause: &'static str) -> Expected {
    row(name, scenario, Verdict::Broken, Some(cause), 2)
}

fn refused(name: &'static str, scenario: Scenario, cause: &'static str) -> Expected {
    row(name, scenario, Verdict::Refused, Some(cause), 2)
}

fn degraded(name: &'static str, scenario: Scenario, cause: &'static str) -> Expected {
    row(name, scenario, Verdict::Degraded, Some(cause), 1)
}

fn unknown(name: &'static str, scenario: Scenario, cause: &'static str) -> Expected {
    row(name, scenario, Verdict::Unknown, Some(cause), 3)
}

/// The cause that leads: of the first pair with the run's verdict, else of the first failure.
fn cause_of(report: &Report) -> Option<&str> {
    let verdict = report.conclusion.verdict;
    let pair = report.pairs.iter().find(|pair| pair.verdict.verdict == verdict);
    let of_pair = pair.and_then(|pair| pair.verdict.cause.as_deref());
    let failure = report.failures.first();
    of_pair.or_else(|| failure.and_then(|failure| failure.cause.as_deref()))
}

#[track_caller]
fn assert_run(expected: &Expected) {
    let node = Node::with(&expected.scenario);
    let mut command = node.command("probe");
    command.arg("--json").args(expected.arguments);
    command.envs(expected.environment.iter().copied());
    let run = crate::node::Run::of(&command.output().unwrap());
    let report = run.report();
    let came_to = (report.conclusion.verdict, cause_of(&report), run.code);
    let name = expected.name;
    assert_eq!(
        came_to,
        (expected.verdict, expected.cause, expected.code),
        "{name}: {:#?}\n{:#?}",
        report.conclusion,
        report.pairs.iter().map(|pair| &pair.verdict).collect::<Vec<_>>()
    );
    let json = serde_json::to_value(&report).unwrap();
    for pointer in report.pairs.iter().flat_map(|pair| &pair.verdict.evidence) {
        assert!(json.pointer(pointer).is_some(), "{name}: {pointer} leads nowhere");
    }
    // One line says why, unless there is nothing to explain.
    let lines = usize::from(expected.verdict != Verdict::Healthy);
    assert_eq!(run.stderr.lines().count(), lines, "{name}: {}", run.stderr);
    if let Some(cause) = expected.cause {
        assert!(run.stderr.contains(cause), "{name}: {}", run.stderr);
        let record = table().find(|named| named.cause == cause).unwrap().record;
        let text = json.to_string();
        assert!(record.is_none_or(|id| text.contains(id)), "{name}: {record:?}");
    }
}

fn assert_runs(expected: &[Expected]) {
    expected.iter().for_each(assert_run);
}

#[test]
fn what_works_is_healthy() {
    assert_runs(&[
        healthy("healthy 2", Scenario::healthy(2)),
        healthy("healthy 4", Scenario::healthy(4)),
        healthy("PCIe alone", Scenario::healthy_pcie(2)),
        healthy("NVML missing", Scenario::nvml_missing()),
        healthy("CUDA's order is not NVML's", Scenario::other_order()),
        Expected {
            environment: &[("CUDA_VISIBLE_DEVICES", "2,0")],
            ..healthy("CUDA_VISIBLE_DEVICES", Scenario::healthy(4))
        },
    ]);
}

#[test]
fn eight_gpus_are_healthy() {
    assert_run(&healthy("healthy 8", Scenario::healthy(8)));
}

#[test]
fn an_old_driver_without_newer_symbols_is_healthy() {
    assert_run(&healthy("old driver", Scenario::old_driver()));
}

#[test]
fn what_cannot_be_opened_is_unknown() {
    let code = |code| Scenario::code_from("cuInit", code);
    assert_runs(&[
        unknown(
            "library missing",
            Scenario::library_missing(),
            cause::LIBRARY_MISSING,
        ),
        unknown("stub", Scenario::toolkit_stub(), cause::STUB_LIBRARY),
        unknown("802", Scenario::not_yet_initialized(), cause::SYSTEM_NOT_READY),
        unknown("100", code(100), cause::NO_DEVICE),
        unknown("803", code(803), cause::SYSTEM_DRIVER_MISMATCH),
        unknown("804", code(804), cause::COMPATIBILITY_NOT_SUPPORTED),
        unknown("35", code(35), cause::DRIVER_TOO_OLD),
        unknown("999", code(999), cause::INITIALIZATION_FAILS),
        unknown("9999 in cuInit", code(9999), cause::INITIALIZATION_FAILS),
    ]);
}

#[test]
fn what_cannot_be_used_is_unknown() {
    assert_runs(&[
        unknown("JIT missing", Scenario::jit_missing(), cause::JIT_MISSING),
        unknown(
            "PTX too new",
            Scenario::code_from("cuModuleLoadData*", 222),
            cause::PTX_TOO_NEW,
        ),
        unknown(
            "exclusive mode",
            Scenario::exclusive_mode(),
            cause::EXCLUSIVE_MODE,
        ),
        unknown("busy GPU", Scenario::busy_gpu(), cause::GPU_BUSY),
        unknown("memory full", Scenario::memory_full(), cause::MEMORY_FULL),
    ]);
}

#[test]
fn each_refusal_has_its_cause() {
    let mut fabric = Scenario::healthy(2);
    fabric.pairs = Pairs::refused(2, 5);
    for gpu in &mut fabric.gpus {
        gpu.condition.fabric.state = FabricState::InProgress;
    }
    let mut confidential = Scenario::healthy(2);
    confidential.pairs = Pairs::refused(2, 5);
    confidential.gpus[0].condition.confidential_compute.feature = true;
    assert_runs(&[
        Expected {
            arguments: &["--expect", "p2p=all"],
            ..refused("GNS expected", Scenario::refused_gns(), cause::REFUSED_BY_POLICY)
        },
        row("GNS", Scenario::refused_gns(), Verdict::Healthy, None, 0),
        refused("CNS", Scenario::refused_cns(), cause::REFUSED_BY_CHIPSET),
        refused("TNS", Scenario::refused_tns(), cause::REFUSED_BY_TOPOLOGY),
        refused("DR", Scenario::refused_dr(), cause::REFUSED_BY_REGISTRY),
        refused("NS", Scenario::refused_ns(), cause::REFUSED_NOT_SUPPORTED),
        refused("U", Scenario::refused_u(), cause::REFUSED_CAUSE_UNKNOWN),
        refused(
            "one direction",
            Scenario::one_direction_only(),
            cause::ONE_DIRECTION_ONLY,
        ),
        refused("MIG", Scenario::mig(), cause::MIG_ENABLED),
        refused("fabric", fabric, cause::FABRIC_NOT_READY),
        refused(
            "confidential computing",
            confidential,
            cause::CONFIDENTIAL_COMPUTING,
        ),
        refused("mixed chips", Scenario::mixed_chips(), cause::MIXED_MODELS),
    ]);
}

#[test]
fn each_fault_of_the_data_has_its_cause() {
    assert_runs(&[
        broken(
            "writes dropped",
            Scenario::writes_dropped(),
            cause::WRITES_DROPPED,
        ),
        broken(
            "private mirror",
            Scenario::private_mirror(),
            cause::PRIVATE_MIRROR,
        ),
        Expected {
            arguments: BUFFERS,
            ..broken("corrupted", Scenario::corrupted_above(), cause::DATA_MISMATCH)
        },
        broken(
            "handshake hang",
            Scenario::handshake_hang(),
            cause::VISIBLE_ONLY_AT_KERNEL_END,
        ),
        broken("IPC", Scenario::ipc_broken(), cause::IPC_FAILS),
    ]);
}

#[test]
fn each_code_has_its_cause() {
    assert_runs(&[
        broken("711", Scenario::too_many_peers(), cause::TOO_MANY_PEERS),
        broken(
            "217",
            Scenario::refused_after_grant(),
            cause::ENABLE_CONTRADICTS_QUERY,
        ),
        broken("205", Scenario::map_failed(), cause::MAP_FAILED),
        broken("9999", Scenario::unknown_code(), cause::ENABLE_FAILS),
        broken("ECC", Scenario::ecc_error(), cause::ECC_ERROR),
    ]);
}

#[test]
fn hardware_that_fails_half_way_is_named() {
    assert_runs(&[
        broken("GPU lost", Scenario::gpu_lost(), cause::GPU_LOST),
        degraded(
            "link errors",
            Scenario::link_errors_rise(),
            cause::NVLINK_CORRECTED_ERRORS,
        ),
    ]);
}

#[test]
fn what_is_slower_than_it_should_be_is_degraded() {
    assert_run(&degraded(
        "half the links",
        Scenario::half_the_links_down(),
        cause::LINKS_DOWN,
    ));
    for (name, mut scenario, cause) in [
        (
            "on slower than off",
            Scenario::slower_with_peer_access(),
            cause::SLOWER_WITH_PEER_ACCESS,
        ),
        ("one lane", Scenario::one_lane_slow(), cause::SLOW_DIRECTION),
    ] {
        // Copies as small as a test's are all latency: everything else takes a hundred times as long.
        let speed = &mut scenario.speed;
        for rate in speed.direct.iter_mut().chain(&mut speed.staged).flatten() {
            *rate /= 100.0;
        }
        speed.staged_copy_ns = speed.copy_ns;
        assert_run(&degraded(name, scenario, cause));
    }
}

/// The kernel writes to the node's log while the run goes on: only the window counts.
#[test]
fn an_xid_in_the_window_names_the_cause() {
    for (xid, cause) in [
        (79, Some(cause::GPU_LOST)),
        (74, Some(cause::NVLINK_ERROR)),
        (94, Some(cause::ECC_ERROR)),
        (13, None),
    ] {
        let (report, run) = probed_with(xid);
        let verdict = &report.pairs[0].verdict;
        assert_eq!(
            verdict.cause.as_deref(),
            cause,
            "Xid {xid}: {verdict:?} {:?}",
            report.logs
        );
        assert_eq!(run.code, if cause.is_some() { 2 } else { 0 }, "{}", run.stderr);
    }
}

/// An Xid that no row of a pair names is a fault of the run all the same.
#[test]
fn a_fault_in_the_window_that_no_pair_has_is_a_fault_of_the_run() {
    for (xid, code) in [(62, 2), (119, 2), (143, 2), (43, 0), (32, 0)] {
        let (report, run) = probed_with(xid);
        assert_eq!(run.code, code, "Xid {xid}: {} {:?}", run.stderr, report.logs);
    }
}

/// A run while whose checks the kernel tells of an Xid of GPU 0.
fn probed_with(xid: u32) -> (Report, Run) {
    // The scenario has to name the log before the node is there: it is made where the scenario says.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kmsg");
    std::fs::write(&file, "5,0,0,-;Linux version 6.8.0\n").unwrap();
    let node = Node::with(&Scenario::xid_in_window(&file, xid, "as the driver writes it"));
    link_kernel_log(&node, &file);
    node.probe(&[])
}

/// `/dev/kmsg` of the node is this file.
fn link_kernel_log(node: &Node, file: &Path) {
    let device = node.path("host/dev");
    std::fs::create_dir_all(&device).unwrap();
    std::fs::hard_link(file, device.join("kmsg"))
        .or_else(|_| std::os::unix::fs::symlink(file, device.join("kmsg")))
        .unwrap();
}
