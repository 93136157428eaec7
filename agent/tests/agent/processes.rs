//! Hangs, deaths, locks and exit codes: what one process does to the others. Those that are killed are in `killed`.

use std::fs;
use std::time::{Duration, Instant};

use fake_gpu::Scenario;
use fake_gpu::scenario::{CallEffect, CallFault, Counted};
use kb_core::report::Outcome;
use kb_core::verdict::{Verdict, cause};

use crate::node::{Node, Run};

fn once(call: &str, effect: CallEffect) -> Scenario {
    let mut scenario = Scenario::healthy(2);
    scenario.call_faults.push(CallFault {
        call: call.to_owned(),
        after: 0,
        times: Some(1),
        counted: Counted::Machine,
        effect,
    });
    scenario
}

#[test]
fn a_hang_names_its_call_and_the_agent_ends_in_time() {
    let node = Node::with(&Scenario::hang_in("cuCtxEnablePeerAccess"));
    let start = Instant::now();
    let run = node.run("probe", &["--json", "--step-timeout", "0.5"]);
    let elapsed = start.elapsed();
    let report = run.report();
    let verdict = &report.pairs[0].verdict;
    assert_eq!(
        (verdict.verdict, verdict.cause.as_deref()),
        (Verdict::Broken, Some(cause::HANG))
    );
    assert_eq!(run.code, 2);
    let check = &report.pairs[0].directions[0].checks[0];
    assert_eq!((check.outcome, check.rerun), (Outcome::Hang, true));
    assert_eq!(check.call.as_deref(), Some("cuCtxEnablePeerAccess"));
    // Two directions, twice each, at half a second and the grace.
    assert!(elapsed < Duration::from_secs(20), "{elapsed:?}");
}

#[test]
fn a_hang_while_opening_is_unknown_and_names_its_call() {
    let node = Node::with(&Scenario::hang_in("cuInit"));
    let run = node.run("probe", &["--json", "--step-timeout", "0.2"]);
    let report = run.report();
    assert_eq!((report.conclusion.verdict, run.code), (Verdict::Unknown, 3));
    assert_eq!(report.failures[0].step, "cuInit");
    assert!(
        report.failures[0].message.contains("did not return within"),
        "{:?}",
        report.failures
    );
}

/// Half a minute, twice, in two fresh processes: that is no driver that starts slowly.
#[test]
fn a_driver_that_does_not_answer_for_half_a_minute_twice_is_a_fault() {
    let node = Node::with(&Scenario::hang_in("cuInit"));
    let run = node.run("probe", &["--json", "--step-timeout", "10"]);
    let report = run.report();
    assert_eq!((report.conclusion.verdict, run.code), (Verdict::Broken, 2));
    assert_eq!(
        report.failures[0].cause.as_deref(),
        Some(cause::DRIVER_UNRESPONSIVE)
    );
    assert!(report.failures[0].record.is_some());
}

#[test]
fn a_worker_that_dies_once_is_replaced_and_the_pair_is_degraded() {
    let node = Node::with(&once("cuMemcpyAsync", CallEffect::Abort));
    let (report, run) = node.probe(&[]);
    let verdict = &report.pairs[0].verdict;
    let expected = (Verdict::Degraded, Some(cause::FAILS_ONLY_TOGETHER));
    assert_eq!(
        (verdict.verdict, verdict.cause.as_deref()),
        expected,
        "{verdict:?}"
    );
    assert_eq!(run.code, 1);
    let check = &report.pairs[0].directions[0].checks[1];
    assert_eq!((check.outcome, check.rerun), (Outcome::PassAlone, true));
    assert_eq!(check.call.as_deref(), Some("cuMemcpyAsync"));
    // The rest went on in a fresh worker.
    assert!(
        report.pairs[0].directions[1]
            .checks
            .iter()
            .all(|check| check.outcome == Outcome::Pass)
    );
}

#[test]
fn a_worker_that_always_dies_breaks_its_pair_and_names_the_call() {
    let mut scenario = once("cuMemcpyAsync", CallEffect::Abort);
    scenario.call_faults[0].times = None;
    let (report, run) = Node::with(&scenario).probe(&[]);
    let verdict = &report.pairs[0].verdict;
    assert_eq!(
        (verdict.verdict, verdict.cause.as_deref()),
        (Verdict::Broken, Some(cause::PROCESS_DIES))
    );
    assert_eq!(run.code, 2);
    assert!(
        verdict.reason.contains("ended in cuMemcpyAsync"),
        "{}",
        verdict.reason
    );
}

#[test]
fn a_library_that_prints_does_not_garble_the_answers() {
    let mut scenario = once("cuInit", CallEffect::Print);
    let launch = once("cuLaunchKernel", CallEffect::Print).call_faults.remove(0);
    scenario.call_faults.push(CallFault {
        times: None,
        ..launch
    });
    let (report, run) = Node::with(&scenario).probe(&[]);
    assert_eq!(
        (report.conclusion.verdict, run.code),
        (Verdict::Healthy, 0),
        "{}",
        run.stderr
    );
}

#[test]
fn a_death_while_opening_is_tried_again() {
    let (report, run) = Node::with(&once("cuInit", CallEffect::Abort)).probe(&[]);
    assert_eq!(
        (report.conclusion.verdict, run.code),
        (Verdict::Healthy, 0),
        "{}",
        run.stderr
    );
}

#[test]
fn a_sticky_error_costs_one_worker_and_not_the_run() {
    let (report, run) = Node::with(&once("cuLaunchKernel", CallEffect::Return(700))).probe(&[]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(
        report.pairs[0].verdict.cause.as_deref(),
        Some(cause::FAILS_ONLY_TOGETHER)
    );
}

#[test]
fn a_spent_run_skips_the_rest_and_cannot_tell() {
    let node = Node::with(&Scenario::hang_in("cuMemcpyAsync"));
    let run = node.run("probe", &["--json", "--step-timeout", "60", "--timeout", "5"]);
    let report = run.report();
    // A few seconds are no hang where a step may take sixty.
    assert_eq!((report.conclusion.verdict, run.code), (Verdict::Unknown, 3));
    let copy = &report.pairs[0].directions[0].checks[1];
    assert_eq!(
        (copy.outcome, copy.rerun),
        (Outcome::Inconclusive, false),
        "{copy:?}"
    );
    assert!(copy.reason.as_ref().unwrap().contains("--timeout"), "{copy:?}");
    let last = report.pairs[0].directions[1].checks.last().unwrap();
    assert_eq!(last.outcome, Outcome::Skipped);
}

#[test]
fn a_spent_run_asks_nothing_about_the_pairs_that_are_left() {
    let mut scenario = Scenario::healthy(8);
    scenario.call_faults = Scenario::hang_in("cuDeviceCanAccessPeer").call_faults;
    let node = Node::with(&scenario);
    let start = Instant::now();
    let run = node.run("probe", &["--json", "--step-timeout", "0.5", "--timeout", "4"]);
    let elapsed = start.elapsed();
    let report = run.report();
    assert_eq!((report.pairs.len(), run.code), (28, 3));
    let gap = report.pairs[27].nvlinks.gap.as_ref().unwrap();
    assert!(gap.reason.contains("--timeout"), "{gap:?}");
    // A worker for each pair that is left would take half a minute more.
    assert!(elapsed < Duration::from_secs(20), "{elapsed:?}");
}

/// The repetition fails before it has accessed anything: no context is to be had.
#[test]
fn what_was_seen_stands_where_repeating_it_shows_nothing() {
    let mut scenario = Scenario::writes_dropped();
    scenario.call_faults.push(CallFault {
        call: "cuDevicePrimaryCtxRetain".to_owned(),
        after: 2,
        times: None,
        counted: Counted::Machine,
        effect: CallEffect::Return(46),
    });
    let (report, run) = Node::with(&scenario).probe(&[]);
    let verdict = &report.pairs[0].verdict;
    let expected = (Verdict::Broken, Some(cause::WRITES_DROPPED));
    assert_eq!(
        (verdict.verdict, verdict.cause.as_deref()),
        expected,
        "{verdict:?}"
    );
    assert_eq!(run.code, 2);
    let push = &report.pairs[0].directions[0].checks[1];
    assert_eq!((push.outcome, push.rerun), (Outcome::Fail, false));
    assert!(
        push.reason
            .as_ref()
            .unwrap()
            .contains("repeating it alone showed nothing")
    );
}

#[test]
fn a_second_agent_is_told_who_holds_the_node() {
    let node = Node::with(&Scenario::healthy(2));
    fs::write(node.path("lock"), "4711\n").unwrap();
    let held = fs::File::open(node.path("lock")).unwrap();
    held.lock().unwrap();
    let (report, run) = node.probe(&["--timeout", "0.2"]);
    assert_eq!((report.conclusion.verdict, run.code), (Verdict::Unknown, 3));
    assert!(run.stderr.contains("process 4711"), "{}", run.stderr);
    held.unlock().unwrap();
    assert_eq!(node.probe(&[]).1.code, 0);
}

#[test]
fn fail_on_maps_what_the_caller_does_not_mind_to_0() {
    let refused = Node::with(&Scenario::refused_gns());
    let expected = ["-q", "--fail-on", "fault", "--expect", "p2p=all"];
    assert_eq!(refused.run("probe", &expected).code, 2);
    let missing = Node::with(&Scenario::library_missing());
    for (fail_on, code) in [
        ("fault", 0),
        ("warning", 0),
        ("unknown", 3),
        ("fault,unknown", 3),
        ("fault,warning", 0),
    ] {
        let run = missing.run("probe", &["-q", "--fail-on", fail_on]);
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{fail_on}");
    }
    // `peerless-agent probe && train` must not go on where nothing could be looked at.
    for verb in ["probe", "bench"] {
        let mut command = missing.bare(verb);
        command.arg("--host-root").arg(missing.path("host"));
        command.arg("--lock-file").arg(missing.path("lock"));
        assert_eq!(Run::of(&command.output().unwrap()).code, 3, "{verb}");
    }
}

#[test]
fn usage_errors_are_64() {
    let node = Node::with(&Scenario::library_missing());
    for arguments in [
        &["--frob"][..],
        &["--timeout", "0"],
        &["--fail-on", "x"],
        &["--expect", "all"],
        &["--json", "-q"],
    ] {
        assert_eq!(node.run("probe", arguments).code, 64, "{arguments:?}");
    }
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_peerless-agent"))
        .arg("--help")
        .output();
    let help = Run::of(&help.unwrap());
    assert_eq!(help.code, 0);
    assert!(!help.stdout.contains("worker"), "{}", help.stdout);
}
