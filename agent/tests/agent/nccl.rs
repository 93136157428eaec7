//! `bench --nccl` on simulated machines: collectives that work, and each way in which they do not.

use fake_gpu::Scenario;
use fake_gpu::scenario::{
    Access, Fate, Library, MemoryFault, NcclEffect, NcclFault, Process, Route, Transport,
};
use kb_core::report::{Engine, GapKind, Measurement, Nccl, NcclVerdict, Outcome, Report};
use kb_core::verdict::{Verdict, cause};

use crate::node::{Node, Run};

const WARNING: &str = "Cuda failure 217 'peer access is not supported between these two devices'";

fn bench_on(node: &Node, arguments: &[&str]) -> (Report, Run) {
    let small = ["--nccl", "--json", "--copy-kib", "16"];
    let run = node.run("bench", &[&small[..], arguments].concat());
    (run.report(), run)
}

fn bench(scenario: &Scenario, arguments: &[&str]) -> (Report, Run) {
    bench_on(&Node::with(scenario), arguments)
}

fn quick(gpus: usize) -> Scenario {
    let mut scenario = Scenario::healthy(gpus);
    // So slow that collectives of a size that a test can afford take longer than to queue them.
    scenario.nccl.bus = 1.0;
    scenario.nccl.least_ns = 0;
    scenario
}

fn with_fault(transport: Option<Transport>, effect: NcclEffect) -> Scenario {
    let mut scenario = quick(2);
    scenario.nccl.faults.push(NcclFault {
        transport,
        effect,
        warning: Some(WARNING.to_owned()),
    });
    scenario
}

fn nccl(report: &Report) -> &Nccl {
    report.nccl.as_ref().unwrap()
}

fn outcomes(report: &Report) -> Vec<(bool, Outcome)> {
    let arms = nccl(report).arms.iter();
    arms.map(|arm| (arm.peer_access, arm.outcome)).collect()
}

fn of<'a>(report: &'a Report, metric: &str) -> Vec<&'a Measurement> {
    let its = report.measurements.iter().filter(|of| of.metric == metric);
    its.collect()
}

/// What rung 7 came to in a pair, both ways alike.
fn rung_7(report: &Report, pair: usize) -> Option<Outcome> {
    let of_direction = |direction: usize| {
        let checks = &report.pairs[pair].directions[direction].checks;
        let check = checks.iter().find(|check| check.rung == 7)?;
        assert_eq!(check.engine, Engine::Nccl);
        Some(check.outcome)
    };
    assert_eq!(of_direction(0), of_direction(1));
    of_direction(0)
}

#[test]
fn what_works_is_proven_and_measured() {
    let mut scenario = quick(3);
    scenario.nccl.bus_nvls = Some(2.0);
    let (report, run) = bench(&scenario, &[]);
    assert!(
        report.failures.is_empty(),
        "{:?}\n{}",
        report.failures,
        run.stderr
    );
    let nccl = nccl(&report);
    assert_eq!(
        (nccl.verdict, nccl.nvls),
        (NcclVerdict::Ok, false),
        "{}",
        nccl.reason
    );
    assert_eq!(nccl.version.value.as_deref(), Some("2.28.9"));
    let library = nccl.library.value.as_deref().unwrap();
    assert!(library.ends_with("/libraries/libnccl.so.2"), "{library}");
    assert_eq!(outcomes(&report), [(true, Outcome::Pass), (false, Outcome::Pass)]);
    for gpu in &report.gpus {
        let after = &gpu.facts["nccl.processes_after"];
        assert_eq!(after.value, Some(0.into()), "{after:?}");
    }
    for pair in 0..3 {
        assert_eq!(rung_7(&report, pair), Some(Outcome::Pass));
        assert_eq!(report.pairs[pair].verdict.proven_rungs, [1, 2, 3, 4, 5, 6, 7]);
    }
    for name in [
        "all_reduce",
        "all_gather",
        "reduce_scatter",
        "broadcast",
        "reduce",
        "alltoall",
        "sendrecv",
    ] {
        let found = of(&report, &format!("nccl_{name}_bus_bandwidth"));
        let sizes: Vec<u64> = found.iter().map(|of| of.bytes).collect();
        assert_eq!(sizes, [4 << 10, 16 << 10], "{name}");
        let cell = &found[1].cells[0];
        assert_eq!(
            (cell.source, cell.destination, cell.samples.len()),
            (Some(0), Some(0), 3)
        );
        let gpus: Vec<u32> = cell.conditions.iter().map(|of| of.gpu).collect();
        assert_eq!(gpus, [0, 1, 2], "{name}");
        assert!(cell.conditions[2].facts.contains_key("throttle.reasons"));
        let bus = cell.median().unwrap();
        assert!((bus - 1.0).abs() < 0.03, "{name}: {bus}");
        let algorithm = of(&report, &format!("nccl_{name}_algorithm_bandwidth"))[1].cells[0].median();
        let factor = bus / algorithm.unwrap();
        let expected = match name {
            "all_reduce" => 4.0 / 3.0,
            "broadcast" | "reduce" | "sendrecv" => 1.0,
            _ => 2.0 / 3.0,
        };
        assert!((factor - expected).abs() < 1e-6, "{name}: {factor}");
    }
}

#[test]
fn nvlink_sharp_is_off_unless_asked_for() {
    let mut scenario = quick(2);
    scenario.nccl.bus_nvls = Some(2.0);
    let (report, _) = bench(&scenario, &["--nvls"]);
    let bus = of(&report, "nccl_all_reduce_bus_bandwidth")[1].cells[0]
        .median()
        .unwrap();
    assert!((bus / 2.0 - 1.0).abs() < 0.05, "{bus}");
    assert!(nccl(&report).nvls);
}

#[test]
fn a_failure_with_peer_access_alone_breaks_the_pair() {
    let scenario = with_fault(Some(Transport::P2p), NcclEffect::InitFails(1));
    let (report, run) = bench(&scenario, &[]);
    assert_eq!(nccl(&report).verdict, NcclVerdict::PeerAccessFails);
    assert_eq!(outcomes(&report), [(true, Outcome::Fail), (false, Outcome::Pass)]);
    let arm = &nccl(&report).arms[0];
    assert_eq!(arm.code, Some(1));
    assert_eq!(arm.code_name.as_deref(), Some("ncclUnhandledCudaError"));
    assert!(arm.reason.as_deref().unwrap().contains(WARNING), "{arm:?}");
    let verdict = &report.pairs[0].verdict;
    assert_eq!(
        (verdict.verdict, verdict.cause.as_deref()),
        (Verdict::Broken, Some(cause::NCCL_PEER_ACCESS_FAILS)),
        "{verdict:?}"
    );
    assert_eq!(run.code, 2);
    let excerpt = report.logs.iter().find(|log| log.source == "nccl").unwrap();
    assert!(
        excerpt.text.contains(&format!("NCCL WARN {WARNING}")),
        "{excerpt:?}"
    );
    let all_reduce = of(&report, "nccl_all_reduce_bus_bandwidth");
    let gap = all_reduce[0].cells[0].gap.as_ref().unwrap();
    assert_eq!((all_reduce.len(), gap.kind), (1, GapKind::Skipped), "{gap:?}");
}

#[test]
fn a_hang_with_peer_access_ends_by_its_deadline() {
    let scenario = with_fault(Some(Transport::P2p), NcclEffect::Hang);
    let (report, run) = bench(&scenario, &["--step-timeout", "4"]);
    assert_eq!(outcomes(&report), [(true, Outcome::Hang), (false, Outcome::Pass)]);
    assert_eq!(nccl(&report).arms[0].call.as_deref(), Some("ncclAllReduce"));
    let verdict = &report.pairs[0].verdict;
    assert_eq!(
        verdict.cause.as_deref(),
        Some(cause::NCCL_PEER_ACCESS_FAILS),
        "{verdict:?}"
    );
    assert_eq!(run.code, 2);
}

#[test]
fn wrong_data_is_found() {
    let scenario = with_fault(Some(Transport::P2p), NcclEffect::WrongData);
    let (report, _) = bench(&scenario, &[]);
    let arm = &nccl(&report).arms[0];
    assert_eq!(arm.outcome, Outcome::Fail);
    let reason = arm.reason.as_deref().unwrap();
    assert!(
        reason.contains(
            "rank 1 (GPU 1) has wrong data after all_reduce of 4096 bytes: 1 numbers, the first at byte 0"
        ),
        "{reason}"
    );
}

#[test]
fn what_fails_both_ways_blames_nobody() {
    let (report, run) = bench(&with_fault(None, NcclEffect::InitFails(2)), &[]);
    assert_eq!(nccl(&report).verdict, NcclVerdict::Inconclusive);
    // Copies so small are slow, which is all that is said of the pair.
    assert_eq!(report.pairs[0].verdict.verdict, Verdict::Degraded);
    assert_eq!(report.pairs[0].verdict.proven_rungs, [1, 2, 3, 4, 5, 6]);
    assert_eq!(rung_7(&report, 0), None);
    let failure = &report.failures[0];
    // The code is NCCL's: as the driver's it would be told as memory that is full.
    assert_eq!(
        (failure.code, failure.cause.as_deref()),
        (None, None),
        "{failure:?}"
    );
    assert_eq!(nccl(&report).arms[0].code, Some(2));
    assert!(failure.message.contains("ncclSystemError"), "{failure:?}");
    assert_eq!(run.code, 3);
}

#[test]
fn peer_access_that_the_operator_switched_off_is_not_proven() {
    let node = Node::with(&quick(2));
    let arguments = ["--nccl", "--json", "--copy-kib", "16"];
    for (name, value) in [("NCCL_P2P_DISABLE", "1"), ("NCCL_P2P_LEVEL", "LOC")] {
        let mut command = node.command("bench");
        let run = Run::of(&command.args(arguments).env(name, value).output().unwrap());
        let report = run.report();
        assert_eq!(outcomes(&report), [(false, Outcome::Pass)], "{name}");
        assert_eq!(rung_7(&report, 0), None, "{name}");
        let nccl = nccl(&report);
        assert_eq!(nccl.verdict, NcclVerdict::Inconclusive);
        assert!(
            nccl.reason
                .starts_with(&format!("{name}={value} in the environment")),
            "{}",
            nccl.reason
        );
        assert!(report.failures.is_empty(), "{:?}", report.failures);
    }
}

#[test]
fn a_level_keeps_peer_access_only_from_what_lies_beyond_it() {
    let mut by_pcie = Scenario::healthy_pcie(2);
    by_pcie.nccl = quick(2).nccl;
    for (scenario, arms, rung) in [
        (quick(2), &[true, false][..], Some(Outcome::Pass)),
        (by_pcie, &[false], None),
    ] {
        let node = Node::with(&scenario);
        let mut command = node.command("bench");
        command.args(["--nccl", "--json", "--copy-kib", "16"]);
        let run = Run::of(&command.env("NCCL_P2P_LEVEL", "NVL").output().unwrap());
        let report = run.report();
        let made: Vec<bool> = outcomes(&report).iter().map(|(with, _)| *with).collect();
        assert_eq!(made, arms, "{}", nccl(&report).reason);
        assert_eq!(rung_7(&report, 0), rung, "{}", nccl(&report).reason);
    }
}

#[test]
fn the_pair_at_fault_is_found_among_three() {
    let mut scenario = quick(3);
    // Only memory of other processes is hit, as in containers.
    scenario.memory_faults.push(MemoryFault {
        initiator: Some(0),
        owner: Some(1),
        routes: vec![Route::Ipc],
        accesses: vec![Access::Store],
        ..MemoryFault::always(Fate::Corrupted {
            xor: 1,
            every: 4096,
            at: 0,
        })
    });
    let (report, _) = bench(&scenario, &[]);
    let found: Vec<_> = (0..3).map(|pair| rung_7(&report, pair).unwrap()).collect();
    assert_eq!(found, [Outcome::Fail, Outcome::Pass, Outcome::Pass]);
    // The ladder itself has seen it, and says more.
    assert_eq!(report.pairs[0].verdict.cause.as_deref(), Some(cause::IPC_FAILS));
    assert_eq!(nccl(&report).arms.len(), 2 + 2 + 1 + 1);
}

#[test]
fn a_library_can_be_chosen() {
    let mut scenario = quick(2);
    scenario.absent.libraries.push(Library::Nccl);
    let node = Node::with(&scenario);
    let (report, run) = bench_on(&node, &[]);
    assert_eq!(nccl(&report).verdict, NcclVerdict::Inconclusive);
    assert!(
        report.failures[0].message.contains("libnccl.so.2"),
        "{:?}",
        report.failures
    );
    assert_eq!(run.code, 3);
    // The stand-in has NCCL's functions under any of its names.
    let file = node.installed.library(Library::Cuda);
    let (report, _) = bench_on(&node, &["--nccl-library", file.to_str().unwrap()]);
    assert_eq!(nccl(&report).verdict, NcclVerdict::Ok);
    assert_eq!(nccl(&report).library.value.as_deref(), file.to_str());
}

#[test]
fn a_dry_run_counts_idle_gpus_alone() {
    for (gpus, end) in [
        (3, "; about 6.9 s"),
        (
            2,
            " would not run: it takes idle GPUs alone, and two of them at least",
        ),
    ] {
        let mut scenario = quick(gpus);
        scenario.gpus[1].processes.push(Process {
            pid: 4711,
            used_bytes: 1 << 30,
        });
        let run = Node::with(&scenario).run("bench", &["--nccl", "--dry-run"]);
        let told = run
            .stdout
            .lines()
            .find(|line| line.starts_with("NCCL ("))
            .unwrap();
        assert!(told.ends_with(end), "{gpus} GPUs: {told}");
    }
}

#[test]
fn people_get_a_line_and_the_dry_run_tells() {
    let node = Node::with(&quick(2));
    let run = node.run("bench", &["--nccl", "--copy-kib", "16"]);
    assert!(run.stdout.contains("NCCL 2.28.9: works"), "{}", run.stdout);
    let lines = run
        .stdout
        .lines()
        .filter(|line| line.trim_start().starts_with("NCCL all_reduce, bus"));
    assert_eq!(lines.count(), 1, "{}", run.stdout);
    let run = node.run("bench", &["--nccl", "--dry-run"]);
    assert!(
        run.stdout
            .contains("two buffers of at most 524288 KiB on each; NVLink SHARP off"),
        "{}",
        run.stdout
    );
    let run = node.run("bench", &["--nvls"]);
    assert_eq!(run.code, 64, "{}", run.stderr);
}
