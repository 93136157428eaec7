//! `admit`: ladder, bench and load in whole runs, what only load shows, and what ends a fault of the hardware.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fake_gpu::Scenario;
use fake_gpu::scenario::{KernelEffect, KernelFault, Process, Speed, UnderLoad};
use kb_core::report::{Load, Report};
use kb_core::verdict::{Verdict, cause, not_admitted};

use crate::node::{Node, Run};
use crate::tree::write;

/// Short steps in place of minutes, and copies of a size that the stand-in's kernels can compare.
pub(crate) const SHORT: [&str; 4] = ["--load-steps", "12", "--copy-kib", "64"];
const BOOTED: &str = "5,0,0,-;Linux version 6.8.0\n";

/// A node whose kernel log the agent reads. The scenario is made with the place of the log.
pub(crate) fn node(make: impl FnOnce(&Path) -> Scenario) -> Node {
    let node = Node::with_log(make);
    fs::write(node.path("host/dev/kmsg"), BOOTED).unwrap();
    node
}

pub(crate) fn healthy(_: &Path) -> Scenario {
    let mut scenario = Scenario::healthy(2);
    // So that the bandwidths show in small copies, too, also in those of a kernel with few threads.
    scenario.speed = Speed {
        copy_ns: 100,
        kernel_ns: 400,
        local_load_ns: 1,
        peer_load_ns: 1,
        ..Speed::default()
    };
    for gpu in &mut scenario.gpus {
        gpu.multiprocessors = 1;
    }
    scenario
}

pub(crate) fn admit(node: &Node) -> (Report, Run) {
    let state = node.path("state");
    let state = ["--json", "--state", state.to_str().unwrap()];
    let run = node.run("admit", &[&state[..], &SHORT].concat());
    (run.report(), run)
}

fn causes(report: &Report) -> Vec<&str> {
    let load = report.load.as_ref().unwrap();
    load.findings.iter().map(|found| found.cause.as_str()).collect()
}

#[test]
fn a_healthy_node_is_admitted_and_the_report_says_what_was_done() {
    let node = node(healthy);
    let (report, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("admitted"), "{}", run.stderr);
    assert_eq!(report.conclusion.verdict, Verdict::Healthy);
    assert_eq!(not_admitted(&report), None);
    let load = report.load.as_ref().unwrap();
    assert_eq!((load.steps, load.gpus.len()), (12, 2));
    assert!(load.ended.is_none() && load.earlier.value.is_none());
    let gap = load.earlier.gap.as_ref().unwrap();
    assert!(gap.reason.starts_with("no earlier run"), "{gap:?}");
    for of in &load.gpus {
        // One of the first step, two of each other.
        assert_eq!(of.launches, 25);
        assert_eq!(of.copies, 3 * 25);
        // Each step compares a sum and what came from the other GPU; from the second on also what came from the host.
        assert_eq!(of.checks, 13 * 3 - 1);
        assert_eq!((of.samples, of.wrong_checksums, of.wrong_copies), (12, 0, 0));
        for figure in Load::RATES
            .iter()
            .chain(&["temperature.gpu_c", "clock.sm_mhz", "power.draw_w"])
        {
            let spread = of.figures[*figure];
            assert!(spread.count == 12 && spread.minimum > 0.0, "{figure}: {spread:?}");
        }
        assert_eq!(of.counters["ecc.volatile_uncorrected"].value, Some(0.into()));
    }
    assert!(report.parts.iter().any(|part| part.name == "load"));
    assert!(
        report.measurements.iter().any(|of| of.metric == "h2d_bandwidth"),
        "the bench"
    );

    // The next run is laid beside it.
    let (again, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let earlier = again.load.as_ref().unwrap().earlier.value.as_ref().unwrap();
    assert_eq!((&earlier.report, earlier.gpus.len()), (&report.report_id, 2));
}

/// A few of the nodes that the ignored test below tries, one of each kind.
#[test]
fn what_only_load_shows_holds_a_node_back() {
    for (seed, fault) in (100..).zip(UnderLoad::ALL) {
        let node = node(|log| Scenario::faulty_under_load(seed, fault, log));
        let (report, run) = admit(&node);
        let found = causes(&report);
        assert_ne!(run.code, 0, "{fault:?}: {found:?} {}", run.stderr);
        assert!(not_admitted(&report).is_some());
        let expected = match fault {
            UnderLoad::WrongArithmetic => cause::WRONG_ARITHMETIC,
            UnderLoad::Heat | UnderLoad::PowerBrake => cause::THROTTLED,
            UnderLoad::Ecc => cause::ECC_ERROR,
            UnderLoad::Xid => cause::XID_FAULT,
            UnderLoad::Links => cause::LINK_ERRORS,
            UnderLoad::Slows => cause::SLOWS_DOWN,
            UnderLoad::Slow => cause::SLOWER_THAN_SISTERS,
            UnderLoad::Rows => cause::ROWS_REMAPPED,
            UnderLoad::Spoiled => {
                let load = report.load.as_ref().unwrap();
                assert!(load.ended.as_ref().unwrap().code.is_some());
                continue;
            }
        };
        assert!(found.contains(&expected), "{fault:?}: {found:?}");
        assert!(
            !node.path("state/last-admit.json").try_exists().unwrap(),
            "{fault:?}"
        );
    }
}

#[test]
fn noise_of_healthy_nodes_holds_none_back() {
    for seed in 0..3 {
        let node = node(|log| Scenario::healthy_under_load(seed, log));
        let (report, run) = admit(&node);
        assert_eq!(run.code, 0, "{seed}: {:?} {}", causes(&report), run.stderr);
    }
}

/// The bar of the fleet: docs/benchmarks/admit.md has the command and what came of it.
#[test]
#[ignore = "minutes"]
fn forty_faulty_nodes_are_held_back_and_two_hundred_healthy_ones_are_not() {
    let faulty = (1_000..1_040).map(|seed| {
        let fault = UnderLoad::ALL[usize::try_from(seed).unwrap() % UnderLoad::ALL.len()];
        (seed, Some(fault))
    });
    let nodes: Vec<_> = faulty.chain((2_000..2_200).map(|seed| (seed, None))).collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let answer = || {
        while let Some(&(seed, fault)) = nodes.get(next.fetch_add(1, Ordering::Relaxed)) {
            let node = node(|log| match fault {
                Some(fault) => Scenario::faulty_under_load(seed, fault, log),
                None => Scenario::healthy_under_load(seed, log),
            });
            let (report, run) = admit(&node);
            println!("{seed} {fault:?}: {} {}", run.code, report.conclusion.reason);
            if (run.code == 0) == fault.is_some() {
                wrong
                    .lock()
                    .unwrap()
                    .push((seed, fault, report.conclusion.reason));
            }
        }
    };
    // A node interprets the kernels of two GPUs.
    let lanes = thread::available_parallelism().unwrap().get().div_ceil(2);
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(answer);
        }
    });
    let (missed, false_alarms): (Vec<_>, Vec<_>) = wrong
        .into_inner()
        .unwrap()
        .into_iter()
        .partition(|(_, fault, _)| fault.is_some());
    println!("missed {missed:?}, false alarms {false_alarms:?}");
    assert!(
        missed.len() <= 2 && false_alarms.is_empty(),
        "{missed:?} {false_alarms:?}"
    );
}

#[test]
fn rates_below_the_last_good_run_are_told() {
    let node = node(healthy);
    assert_eq!(admit(&node).1.code, 0);
    let file = node.path("state/last-admit.json");
    let mut kept: Report = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    for of in &mut kept.load.as_mut().unwrap().gpus {
        of.figures.get_mut(Load::FMA_RATE).unwrap().median *= 1.2;
    }
    fs::write(&file, serde_json::to_vec(&kept).unwrap()).unwrap();
    let (report, run) = admit(&node);
    assert_eq!(
        (run.code, causes(&report)),
        (1, vec![cause::SLOWER_THAN_BEFORE; 2]),
        "{}",
        run.stderr
    );
}

/// A little less each time is told, too: the best is kept, and not the last.
#[test]
fn the_best_rate_is_what_later_runs_are_compared_with() {
    let node = node(healthy);
    assert_eq!(admit(&node).1.code, 0);
    let file = node.path("state/last-admit.json");
    let read = || -> Report { serde_json::from_slice(&fs::read(&file).unwrap()).unwrap() };
    let rate = |report: &Report| report.load.as_ref().unwrap().gpus[0].figures[Load::FMA_RATE].median;
    let mut kept = read();
    for of in &mut kept.load.as_mut().unwrap().gpus {
        of.figures.get_mut(Load::FMA_RATE).unwrap().median *= 1.05;
    }
    fs::write(&file, serde_json::to_vec(&kept).unwrap()).unwrap();
    let (report, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(rate(&report) < rate(&kept));
    assert!((rate(&read()) - rate(&kept)).abs() < 1e-9);
}

/// Good GPUs beside others that nobody looked at admit no node, and are no measure for all of them.
#[test]
fn a_part_of_the_gpus_admits_no_node() {
    let node = node(healthy);
    let state = node.path("state");
    let part = ["--json", "--devices", "0", "--state", state.to_str().unwrap()];
    let run = node.run("admit", &[&part[..], &SHORT].concat());
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(
        run.stderr.contains("others of the node were not looked at"),
        "{}",
        run.stderr
    );
    assert!(!node.path("state/last-admit.json").try_exists().unwrap());

    // A measure of other GPUs: only what each computes alone is compared.
    assert_eq!(admit(&node).1.code, 0);
    let file = node.path("state/last-admit.json");
    let mut kept: Report = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    kept.gpus.truncate(1);
    kept.load.as_mut().unwrap().gpus.truncate(1);
    for rate in [Load::FROM_HOST, Load::TO_PEER] {
        let figures = &mut kept.load.as_mut().unwrap().gpus[0].figures;
        figures.get_mut(rate).unwrap().median *= 9.0;
    }
    fs::write(&file, serde_json::to_vec(&kept).unwrap()).unwrap();
    let (report, run) = admit(&node);
    assert_eq!(run.code, 0, "{:?} {}", causes(&report), run.stderr);
    let earlier = report.load.unwrap().earlier.value.unwrap();
    let compared: Vec<&String> = earlier.gpus[0].medians.keys().collect();
    assert_eq!(compared, [Load::FMA_RATE]);
}

/// Neither a log that cannot be read, nor a GPU that somebody uses, is "admitted".
#[test]
fn what_could_not_be_seen_or_loaded_admits_nothing() {
    let node = Node::with(&healthy(Path::new("")));
    let (report, run) = admit(&node);
    assert_eq!(
        (run.code, causes(&report)),
        (3, vec![cause::LOAD_INCOMPLETE]),
        "{}",
        run.stderr
    );
    assert!(
        report.conclusion.reason.contains("kernel log"),
        "{}",
        report.conclusion.reason
    );

    let node = self::node(|log| {
        let mut scenario = healthy(log);
        scenario.gpus[1].processes.push(Process {
            pid: 4711,
            used_bytes: 1 << 30,
        });
        scenario
    });
    let (report, run) = admit(&node);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(
        report.conclusion.reason.contains("GPU 1 was not loaded"),
        "{}",
        report.conclusion.reason
    );
}

#[test]
fn a_single_gpu_is_admitted_by_its_memory_and_its_load() {
    let node = node(|log| {
        let mut scenario = healthy(log);
        scenario.gpus.truncate(1);
        scenario.pairs = fake_gpu::scenario::Pairs::granted(1);
        scenario
    });
    let (report, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(report.conclusion.verdict, Verdict::NoFaultSeen);
    assert_eq!(not_admitted(&report), None);
}

/// An Xid that the daemon holds open: a probe in a new boot does not end it, an admission does.
#[test]
fn a_fault_of_the_hardware_ends_by_an_admission() {
    let node = node(healthy);
    let state = node.path("state");
    let state = state.to_str().unwrap();
    let daemon = || node.run("daemon", &["--once", "--state", state]);
    let xid = "3,2,5,-;NVRM: Xid (PCI:0000:00:06): 79, pid=<unknown>, GPU has fallen off the bus.\n";
    append(&node, xid);
    assert_eq!(daemon().code, 2);
    boot(&node, "2");
    assert_eq!(daemon().code, 2);
    let probe = node.run("probe", &["--state", state]);
    assert_eq!(probe.code, 2, "{}", probe.stderr);
    assert!(
        probe.stderr.contains("`peerless-agent admit` ends it"),
        "{}",
        probe.stderr
    );
    assert_eq!(daemon().code, 2);
    let (report, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(report.health.unwrap().open, []);
    assert_eq!(daemon().code, 0);
}

/// Wrong arithmetic alone ends nothing, and neither does the run before the new boot.
#[test]
fn an_admission_that_fails_leaves_the_fault_open() {
    let node = node(|log| {
        let mut scenario = healthy(log);
        scenario.kernel_faults.push(KernelFault {
            kernel: "burn".to_owned(),
            gpu: 1,
            after: 5,
            times: Some(1),
            effect: KernelEffect::WrongBit(3),
        });
        scenario
    });
    let state = node.path("state");
    let state = state.to_str().unwrap();
    append(
        &node,
        "3,2,5,-;NVRM: Xid (PCI:0000:00:06): 48, pid=<unknown>, x\n",
    );
    let daemon = || node.run("daemon", &["--once", "--state", state]);
    assert_eq!(daemon().code, 2);
    boot(&node, "2");
    let (report, run) = admit(&node);
    assert_eq!(
        (run.code, causes(&report)),
        (2, vec![cause::WRONG_ARITHMETIC]),
        "{}",
        run.stderr
    );
    let load = report.load.as_ref().unwrap();
    assert_eq!(
        (load.gpus[0].wrong_checksums, load.gpus[1].wrong_checksums),
        (0, 1)
    );
    let first = load.gpus[1].first_wrong.as_deref().unwrap();
    assert!(
        first.contains("1 threads") && first.contains("block 0"),
        "{first}"
    );
    let open = report.health.unwrap().open;
    let causes: Vec<&str> = open.iter().map(|entry| entry.cause.as_str()).collect();
    assert_eq!(causes, ["xid", "load_fault"]);
    assert_eq!(daemon().code, 2);
}

/// What the load alone shows is not forgotten: a probe passes, and says nothing of it, also after a new boot.
#[test]
fn a_probe_does_not_end_what_the_load_found() {
    let node = node(|log| {
        let mut scenario = healthy(log);
        scenario.kernel_faults.push(KernelFault {
            kernel: "burn".to_owned(),
            gpu: 1,
            after: 5,
            times: Some(1),
            effect: KernelEffect::WrongBit(3),
        });
        scenario
    });
    let state = node.path("state");
    let state = state.to_str().unwrap();
    let daemon = || node.run("daemon", &["--once", "--state", state]);
    assert_eq!(daemon().code, 0);
    assert_eq!(admit(&node).1.code, 2);
    for number in ["1", "2"] {
        boot(&node, number);
        let probe = node.run("probe", &["--json", "--state", state]);
        assert_eq!(probe.code, 2, "{}", probe.stderr);
        let report = probe.report();
        assert_eq!(report.conclusion.verdict, Verdict::Healthy);
        let open = report.health.unwrap().open;
        assert_eq!((open.len(), open[0].cause.as_str()), (1, "load_fault"));
        assert!(
            open[0].text.starts_with(cause::WRONG_ARITHMETIC),
            "{}",
            open[0].text
        );
        assert_eq!(daemon().code, 2);
    }
}

#[test]
fn work_that_never_ends_under_load_is_a_hang() {
    let node = node(|log| {
        let mut scenario = healthy(log);
        scenario.kernel_faults.push(KernelFault {
            kernel: "burn".to_owned(),
            gpu: 1,
            after: 5,
            times: None,
            effect: KernelEffect::NeverEnds,
        });
        scenario
    });
    let state = node.path("state");
    let limited = [
        "--json",
        "--step-timeout",
        "6",
        "--state",
        state.to_str().unwrap(),
    ];
    let run = node.run("admit", &[&limited[..], &SHORT].concat());
    let report = run.report();
    assert_eq!(
        (run.code, causes(&report)),
        (2, vec![cause::HANG]),
        "{}",
        run.stderr
    );
    let ended = report.load.unwrap().ended.unwrap();
    assert_eq!(ended.cause.as_deref(), Some(cause::HANG), "{ended:?}");
}

#[test]
fn a_time_for_the_load_is_bounded() {
    let node = Node::with(&Scenario::healthy(1));
    for wrong in ["29", "3601", "x"] {
        let run = node.run("admit", &["--load-seconds", wrong]);
        assert_eq!(run.code, 64, "{}", run.stderr);
    }
    let told = node.run("admit", &["--dry-run", "--load-seconds", "60"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(
        told.stdout.contains("the load: a compute kernel") && told.stdout.contains("60 s"),
        "{}",
        told.stdout
    );
}

pub(crate) fn append(node: &Node, line: &str) {
    let path = node.path("host/dev/kmsg");
    let before = fs::read_to_string(&path).unwrap();
    fs::write(path, before + line).unwrap();
}

/// Another boot, whose kernel log is empty.
pub(crate) fn boot(node: &Node, number: &str) {
    let id = format!("9f1b2c3d-0000-4000-8000-00000000000{number}\n");
    write(&node.path(""), "host/proc/sys/kernel/random/boot_id", &id);
    fs::write(node.path("host/dev/kmsg"), BOOTED).unwrap();
}
