//! A driver that does not answer once it is open: half a minute, twice, in two fresh processes, is a fault.

use std::thread;

use fake_gpu::Scenario;
use fake_gpu::scenario::{CallEffect, CallFault, Counted};
use kb_core::report::{Report, fact_name};
use kb_core::verdict::{Verdict, cause};

use crate::node::{Node, Run};
use crate::tree::write;

/// How NVML finds a GPU: once for each while opening, once more for each at the second reading.
const FIND: &str = "nvmlDeviceGetHandleByPciBusId_v2";

fn node(scenario: &Scenario) -> Node {
    let node = Node::with(scenario);
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    node
}

/// Its report, from where the verb leaves it.
fn look(node: &Node, verb: &str, arguments: &[&str]) -> (Report, Run) {
    let mut command = node.command(verb);
    command.args(arguments);
    if verb == "probe" {
        let run = Run::of(&command.arg("--json").output().unwrap());
        return (run.report(), run);
    }
    let (state, metrics) = (node.path("state"), node.path("peerless.prom"));
    command.args(["--once", "--state", state.to_str().unwrap()]);
    command.args(["--metrics-file", metrics.to_str().unwrap()]);
    let run = Run::of(&command.output().unwrap());
    let report = std::fs::read(node.path("state/last-passive.json")).unwrap();
    (serde_json::from_slice(&report).unwrap(), run)
}

/// After so many calls, of each process or of all, nothing is found any more.
fn hang_after(calls: u64, counted: Counted) -> Scenario {
    let mut scenario = Scenario::healthy(2);
    scenario.call_faults.push(CallFault {
        call: FIND.to_owned(),
        after: calls,
        times: None,
        counted,
        effect: CallEffect::Hang,
    });
    scenario
}

/// How often a run asks where the GPUs are before its second reading: as often as a look without one.
fn calls_before_the_second_reading() -> u64 {
    let node = node(&Scenario::healthy(2));
    assert_eq!(look(&node, "daemon", &[]).1.code, 0);
    let before = node.installed.calls().unwrap()[FIND];
    assert_eq!(look(&node, "probe", &[]).1.code, 0);
    assert!(node.installed.calls().unwrap()[FIND] > 2 * before);
    before
}

/// All at the same time: each waits a minute.
#[test]
fn nvml_that_does_not_answer_for_half_a_minute_twice_is_a_fault() {
    let listing = || Scenario::hang_in("nvmlDeviceGetCount_v2");
    let cases = [
        (listing(), "probe", "nvmlDeviceGetCount_v2"),
        (listing(), "daemon", "nvmlDeviceGetCount_v2"),
        (
            Scenario::hang_in("nvmlDeviceGetP2PStatus"),
            "daemon",
            "nvmlDeviceGetP2PStatus",
        ),
        (
            hang_after(calls_before_the_second_reading(), Counted::Machine),
            "probe",
            FIND,
        ),
    ];
    thread::scope(|scope| {
        for (scenario, verb, call) in cases {
            scope.spawn(move || {
                let node = node(&scenario);
                let (report, run) = look(&node, verb, &["--step-timeout", "10"]);
                let told = format!("{verb}, {call}: {:?}\n{}", report.conclusion, run.stderr);
                assert_eq!(
                    (report.conclusion.verdict, run.code),
                    (Verdict::Broken, 2),
                    "{told}"
                );
                let [failure] = report.failures.as_slice() else {
                    panic!("{told}: {:?}", report.failures)
                };
                let named = (failure.step.as_str(), failure.cause.as_deref());
                assert_eq!(named, (call, Some(cause::DRIVER_UNRESPONSIVE)), "{told}");
                assert!(failure.record.is_some(), "{told}");
                if verb == "daemon" {
                    let metrics = std::fs::read_to_string(node.path("peerless.prom")).unwrap();
                    let broken = "peerless_agent_verdict{run=\"passive\",verdict=\"broken\"} 1\n";
                    assert!(metrics.contains(broken), "{told}: {metrics}");
                }
            });
        }
    });
}

#[test]
fn nvml_that_hangs_for_less_is_no_fault_and_no_all_clear() {
    let node = node(&Scenario::hang_in("nvmlDeviceGetCount_v2"));
    let (report, run) = look(&node, "daemon", &["--step-timeout", "0.2"]);
    assert_eq!((report.conclusion.verdict, run.code), (Verdict::Unknown, 3));
    assert_eq!(report.failures, []);
}

/// The hang was that process's own.
#[test]
fn a_fresh_process_reads_what_the_one_with_the_checks_does_not_return_from() {
    let before = calls_before_the_second_reading();
    let node = node(&hang_after(before, Counted::Process));
    let (report, run) = look(&node, "probe", &["--step-timeout", "8"]);
    assert_eq!(
        (report.conclusion.verdict, run.code),
        (Verdict::Healthy, 0),
        "{}",
        run.stderr
    );
    for gpu in &report.gpus {
        let rise = &gpu.facts[&fact_name::during(fact_name::PCIE_REPLAYS)];
        assert_eq!(rise.value, Some(0.into()), "{rise:?}");
    }
}
