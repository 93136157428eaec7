//! The bench in whole runs: figures are those of the scenario's model of time, in which every wrong way to measure
//! gives a wrong one.

use fake_gpu::Scenario;
use fake_gpu::scenario::{Access, Fate, MemoryFault, Process, Speed};
use kb_core::report::{Cell, Engine, GapKind, Measurement, Operation, Report};
use kb_core::verdict::{Verdict, cause};

use crate::node::{Node, Run};
use crate::tree::write;

/// Copies of a size that the stand-in's kernels can move in a test.
const SIZE: [&str; 4] = ["--copy-kib", "128", "--step-timeout", "60"];

/// Bandwidths of the scenario show in copies of that size: nothing else takes longer.
fn quick_copies(speed: Speed) -> Speed {
    Speed {
        copy_ns: 100,
        staged_copy_ns: 200,
        ..speed
    }
}

fn bench(scenario: &Scenario, arguments: &[&str]) -> (Report, Run) {
    let run = Node::with(scenario).run("bench", &[&["--json"], arguments].concat());
    (run.report(), run)
}

fn of<'a>(
    report: &'a Report,
    metric: &str,
    engine: Engine,
    operation: Operation,
    peer_access: Option<bool>,
) -> &'a Measurement {
    let fits = |measurement: &&Measurement| {
        measurement.metric == metric
            && measurement.engine == engine
            && measurement.operation == operation
            && measurement.peer_access == peer_access
    };
    let mut all = report.measurements.iter().filter(fits);
    all.next().unwrap_or_else(|| panic!("no {metric}"))
}

fn cell(measurement: &Measurement, source: Option<u32>, destination: Option<u32>) -> &Cell {
    let its = |cell: &&Cell| (cell.source, cell.destination) == (source, destination);
    measurement.cells.iter().find(its).unwrap()
}

fn median(measurement: &Measurement, source: Option<u32>, destination: Option<u32>) -> f64 {
    let cell = cell(measurement, source, destination);
    cell.median()
        .unwrap_or_else(|| panic!("{} {cell:?}", measurement.metric))
}

/// Within a hundredth: the events' clock is a float of 32 bits.
#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.01, "{found} is not {expected}");
}

#[test]
fn figures_are_those_of_the_machine() {
    let mut scenario = Scenario::healthy(2);
    scenario.speed = Speed {
        to_device: 40.0,
        to_host: 30.0,
        cold_ns: 500_000,
        enqueue_ns: 5_000,
        ..quick_copies(Speed::uniform(2, 390.0, 38.0))
    };
    // Large enough that the stand-in's kernels wait for the links and not for each load.
    let (report, run) = bench(&scenario, &["--copy-kib", "512", "--step-timeout", "60"]);
    assert_eq!(report.conclusion.verdict, Verdict::Healthy, "{}", run.stderr);
    let (push, pull) = (Operation::Push, Operation::Pull);
    let direct = of(&report, "d2d_bandwidth", Engine::Ce, push, Some(true));
    for (from, to) in [(0, 1), (1, 0)] {
        let ends = (Some(from), Some(to));
        close(median(direct, ends.0, ends.1), 390.0);
        close(
            median(
                of(&report, "d2d_bandwidth", Engine::Ce, pull, Some(true)),
                ends.0,
                ends.1,
            ),
            390.0,
        );
        close(
            median(
                of(&report, "d2d_bandwidth", Engine::Ce, push, Some(false)),
                ends.0,
                ends.1,
            ),
            38.0,
        );
        close(
            median(
                of(&report, "d2d_bandwidth_both_ways", Engine::Ce, push, Some(true)),
                ends.0,
                ends.1,
            ),
            390.0,
        );
        close(
            median(
                of(&report, "copy_latency", Engine::Ce, push, Some(true)),
                ends.0,
                ends.1,
            ),
            0.1,
        );
        close(
            median(
                of(&report, "load_latency", Engine::Sm, pull, Some(true)),
                ends.0,
                ends.1,
            ),
            828.0,
        );
    }
    let up = of(&report, "h2d_bandwidth", Engine::Ce, Operation::Other, None);
    close(median(up, None, Some(1)), 40.0);
    let down = of(&report, "d2h_bandwidth", Engine::Ce, Operation::Other, None);
    close(median(down, Some(0), None), 30.0);

    let cell = cell(direct, Some(0), Some(1));
    assert_eq!(cell.samples.len(), 3);
    // 18 links of 26.562 GB/s, less coding.
    close(cell.nominal.as_ref().unwrap().value.unwrap(), 450.0);
    let gpus: Vec<u32> = cell.conditions.iter().map(|of| of.gpu).collect();
    assert_eq!(gpus, [0, 1]);
    assert!(cell.conditions[0].facts.contains_key("clock.sm_mhz"), "{cell:?}");
}

#[test]
fn a_full_bench_measures_everything_once() {
    let (report, run) = bench(
        &Scenario::healthy(2),
        &["--full", "--copy-kib", "128", "--step-timeout", "60"],
    );
    assert!(
        report.failures.is_empty(),
        "{:?}\n{}",
        report.failures,
        run.stderr
    );
    let mut names: Vec<_> = report
        .measurements
        .iter()
        .map(|of| {
            format!(
                "{} {:?} {:?} {} {:?}",
                of.metric, of.engine, of.operation, of.bytes, of.peer_access
            )
        })
        .collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(
        names.len(),
        count,
        "the server refuses a report that says a thing twice"
    );
    for metric in [
        "h2d_bandwidth_pageable",
        "d2h_bandwidth_both_ways",
        "h2d_bandwidth_all_gpus",
        "all_to_one_bandwidth",
        "one_to_all_bandwidth",
        "all_to_all_bandwidth",
        "copy_queueing_time",
        "host_load_latency",
    ] {
        let found = report.measurements.iter().find(|of| of.metric == metric);
        let cells = &found.unwrap_or_else(|| panic!("{metric}")).cells;
        assert!(
            cells.iter().all(|cell| cell.samples.len() == 5),
            "{metric}: {cells:?}"
        );
    }
    let sizes = report.measurements.iter().filter(|of| {
        of.metric == "d2d_bandwidth" && of.engine == Engine::Ce && of.operation == Operation::Push
    });
    let sizes: Vec<u64> = sizes
        .filter(|of| of.peer_access == Some(true))
        .map(|of| of.bytes)
        .collect();
    assert_eq!(sizes, [128 << 10, 4 << 10, 64 << 10]);
}

/// Rounds of a measurement.
fn rounds(measurement: &Measurement) -> u32 {
    let taken = measurement.taken.unwrap();
    assert!(taken.seconds > 0.0, "{taken:?}");
    taken.rounds
}

#[test]
fn pairs_run_at_once_where_that_changes_nothing() {
    let (report, _) = bench(
        &Scenario::healthy(4),
        &["--copy-kib", "32", "--step-timeout", "60"],
    );
    let (push, direct) = (Operation::Push, Some(true));
    let one_way = of(&report, "d2d_bandwidth", Engine::Ce, push, direct);
    assert_eq!(one_way.at_once, Some(true));
    assert_eq!(one_way.cells.len(), 12);
    let alone = of(&report, "d2d_bandwidth_alone", Engine::Ce, push, direct);
    let (from, to) = (alone.cells[0].source, alone.cells[0].destination);
    close(median(alone, from, to), median(one_way, from, to));

    // Three rounds in which two pairs meet, not six pairs one after the other; each direction by itself twice that.
    assert_eq!(rounds(one_way), 6);
    let both_ways = of(&report, "d2d_bandwidth_both_ways", Engine::Ce, push, direct);
    assert_eq!(rounds(both_ways), 3);
    let loads = of(&report, "load_latency", Engine::Sm, Operation::Pull, direct);
    assert_eq!(
        (rounds(loads), loads.at_once, loads.cells.len()),
        (3, Some(true), 12)
    );
    let alone = of(&report, "load_latency_alone", Engine::Sm, Operation::Pull, direct);
    let (from, to) = (alone.cells[0].source, alone.cells[0].destination);
    close(median(alone, from, to), median(loads, from, to));
    // By way of the host one after the other.
    assert_eq!(
        rounds(of(&report, "d2d_bandwidth", Engine::Ce, push, Some(false))),
        12
    );
}

#[test]
fn the_report_says_what_its_time_went_into() {
    let (report, _) = bench(&Scenario::healthy(2), &SIZE);
    let names: Vec<&str> = report.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "host_facts",
            "lock",
            "opening",
            "rung_1",
            "contexts",
            "bench_without_access",
            "ladder",
            "bench",
            "second_reading",
            "closing",
            "surroundings",
        ]
    );
    let seconds = |name: &str| {
        let part = report.parts.iter().find(|part| part.name == name);
        part.unwrap().seconds
    };
    let direct = report
        .measurements
        .iter()
        .filter(|of| of.peer_access != Some(false));
    let measured: f64 = direct.filter_map(|of| Some(of.taken?.seconds)).sum();
    let bench = seconds("bench");
    assert!(measured > 0.0 && measured <= bench, "{measured} of {bench}");
}

#[test]
fn host_memory_is_taken_next_to_the_gpu_where_the_host_says_where_that_is() {
    let scenario = Scenario::healthy(2);
    let node = Node::with(&scenario);
    let host = node.path("host");
    // The second GPU's firmware is silent.
    for (gpu, number) in scenario.gpus.iter().zip(["0\n", "-1\n"]) {
        let file = format!("sys/bus/pci/devices/{}/numa_node", &gpu.pci[4..]);
        write(&host, &file, number);
    }
    let all = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    write(&host, "sys/devices/system/node/node0/cpulist", all);
    let arguments = ["--json", "--copy-kib", "16", "--step-timeout", "60"];
    let report = node.run("bench", &arguments).report();
    let of = |gpu: usize| &report.gpus[gpu].facts["bench.host_memory_node"];
    assert_eq!(of(0).value, Some(0.into()), "{:?}", of(0));
    assert!(of(1).gap.as_ref().unwrap().reason.contains("no NUMA node"));
}

#[test]
fn a_slow_pair_is_below_nominal() {
    let mut scenario = Scenario::healthy(2);
    scenario.speed = quick_copies(Speed::uniform(2, 250.0, 38.0));
    let (report, run) = bench(&scenario, &SIZE);
    let verdict = &report.pairs[0].verdict;
    assert_eq!(
        verdict.cause.as_deref(),
        Some(cause::BELOW_NOMINAL),
        "{verdict:?}"
    );
    assert!(
        verdict.reason.contains("56 % of the 450 GB/s"),
        "{}",
        verdict.reason
    );
    assert_eq!(run.code, 1);
}

/// What the ladder's small windows pass may still be lost in large copies: that is a fault of the pair, and no figure.
#[test]
fn copies_that_lose_data_make_the_pair_broken_and_no_figure() {
    let mut scenario = Scenario::healthy(2);
    // One byte in 64 KiB, which no window of the ladder holds here.
    let fate = Fate::Corrupted {
        xor: 1,
        every: 64 << 10,
        at: 40_000,
    };
    scenario.memory_faults.push(MemoryFault {
        initiator: Some(0),
        owner: Some(1),
        accesses: vec![Access::Store],
        ..MemoryFault::always(fate)
    });
    let (report, run) = bench(&scenario, &SIZE);
    let direct = of(&report, "d2d_bandwidth", Engine::Ce, Operation::Push, Some(true));
    let gap = cell(direct, Some(0), Some(1)).gap.as_ref().unwrap();
    assert!(
        gap.reason.contains("what GPU 1 got from GPU 0 is wrong"),
        "{}",
        gap.reason
    );
    assert!(cell(direct, Some(1), Some(0)).median().is_some());
    assert_eq!(gap.kind, GapKind::WrongData);
    assert!(
        report.failures.iter().any(|of| of.message.contains("is wrong")),
        "{}",
        run.stderr
    );
    let verdict = &report.pairs[0].verdict;
    assert_eq!(
        (verdict.verdict, verdict.cause.as_deref()),
        (Verdict::Broken, Some(cause::DATA_MISMATCH)),
        "{verdict:?}"
    );
    let sent = serde_json::to_value(&report).unwrap();
    let first = sent.pointer(&verdict.evidence[0]).unwrap();
    assert_eq!(first["kind"], "wrong_data", "{verdict:?}");
    assert_eq!(run.code, 2);
    // The same without asking for more than faults, as most callers do.
    let (_, run) = bench(&scenario, &[&SIZE[..], &["--fail-on", "fault"]].concat());
    assert_eq!(run.code, 2);
}

#[test]
fn nothing_is_measured_on_a_gpu_that_somebody_else_uses() {
    let mut scenario = Scenario::healthy(2);
    scenario.gpus[1].processes.push(Process {
        pid: 4711,
        used_bytes: 1 << 30,
    });
    let (report, _) = bench(&scenario, &SIZE);
    let direct = of(&report, "d2d_bandwidth", Engine::Ce, Operation::Push, Some(true));
    let gap = cell(direct, Some(0), Some(1)).gap.as_ref().unwrap();
    assert_eq!(gap.kind, GapKind::Skipped);
    assert!(
        gap.reason.contains("somebody else uses the GPU (GPU 1)"),
        "{}",
        gap.reason
    );
    let up = of(&report, "h2d_bandwidth", Engine::Ce, Operation::Other, None);
    assert!(cell(up, None, Some(0)).median().is_some());
    assert!(cell(up, None, Some(1)).gap.is_some());
}

#[test]
fn refused_pairs_have_figures_of_the_host_and_of_copies_through_it() {
    let (report, _) = bench(&Scenario::refused_gns(), &SIZE);
    let staged = of(&report, "d2d_bandwidth", Engine::Ce, Operation::Push, Some(false));
    let rate = median(staged, Some(0), Some(1));
    let reason = &report.pairs[0].verdict.reason;
    let told = format!("through host memory, at {rate:.1}");
    assert!(reason.contains(&told), "{reason} and not {told}");
    let direct = of(&report, "d2d_bandwidth", Engine::Ce, Operation::Push, Some(true));
    let gap = cell(direct, Some(0), Some(1)).gap.as_ref().unwrap();
    assert!(gap.reason.contains("not proven"), "{}", gap.reason);
    let up = of(&report, "h2d_bandwidth", Engine::Ce, Operation::Other, None);
    assert!(cell(up, None, Some(1)).median().is_some());
}

#[test]
fn people_get_a_line_for_each_measurement() {
    let run = Node::with(&Scenario::healthy(2)).run("bench", &["--copy-kib", "16"]);
    assert!(
        run.stdout.contains("GPU to GPU, copy engine, push"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("of nominal"), "{}", run.stdout);
    assert!(run.stdout.contains("longest: "), "{}", run.stdout);
}
