//! Processes that end before their time, and what a process takes with it: worker, partner and agent, killed at
//! chosen moments and at any.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use fake_gpu::Scenario;
use kb_core::verdict::Verdict;

use crate::node::{Node, Run};

/// Processes whose parent is `pid`.
fn children(pid: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    listed
        .split_whitespace()
        .map(|child| child.parse().unwrap())
        .collect()
}

/// Looks until `found` is there, for at most ten seconds.
fn until<T>(what: &str, found: impl Fn() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "waited in vain for {what}"
        );
        std::thread::yield_now();
    }
}

/// Waits until nobody holds the node's lock. A process that the agent had just forked when it was killed holds what
/// its parent held until it runs its own program, a moment later.
fn lock_is_free(node: &Node) {
    until("the lock", || {
        let lock = fs::File::open(node.path("lock")).unwrap();
        lock.try_lock().ok()
    });
}

fn maps(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default()
}

#[test]
fn the_parent_opens_no_driver_library_and_takes_its_worker_with_it() {
    let node = Node::with(&Scenario::hang_in("cuInit"));
    let mut agent = node
        .command("probe")
        .env("PEERLESS_TOKEN", "secret-token")
        .env("CUDA_LAUNCH_BLOCKING", "1")
        .env("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1")
        .env("NVTX_INJECTION64_PATH", "/nowhere")
        .env("COMPUTE_PROFILE", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let worker = until("a worker that has opened the driver", || {
        let workers = children(agent.id());
        workers
            .into_iter()
            .find(|worker| maps(*worker).contains("libfake_gpu"))
    });
    assert!(!maps(agent.id()).contains("libfake_gpu"));
    let environment = fs::read(format!("/proc/{worker}/environ")).unwrap();
    let environment = String::from_utf8_lossy(&environment);
    assert!(environment.contains("FAKE_GPU_SCENARIO"));
    for dropped in [
        "secret-token",
        "CUDA_LAUNCH_BLOCKING",
        "COREDUMP",
        "INJECTION",
        "PROFILE",
    ] {
        assert!(!environment.contains(dropped), "{dropped} reached the worker");
    }
    let limits = fs::read_to_string(format!("/proc/{worker}/limits")).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"))
        .unwrap();
    assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    let status = fs::read_to_string(format!("/proc/{}/status", agent.id())).unwrap();
    let most = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let most_kib: u64 = most.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(most_kib < 20 * 1024, "the parent took {most_kib} KiB");

    agent.kill().unwrap();
    agent.wait().unwrap();
    until("the end of the worker", || {
        let status = fs::read_to_string(format!("/proc/{worker}/status")).unwrap_or_default();
        let gone = status.is_empty() || status.contains("State:\tZ");
        gone.then_some(())
    });
    // Nor is the lock left behind.
    lock_is_free(&node);
}

#[test]
fn a_worker_killed_at_any_moment_loses_neither_report_nor_lock() {
    let node = Node::with(&Scenario::healthy(2));
    for moment in 0..20 {
        let mut command = node.command("probe");
        let agent = command
            .arg("--json")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let worker = until("a worker", || children(agent.id()).first().copied());
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(4 * moment) {
            std::thread::yield_now();
        }
        // It may have ended by itself in the meantime.
        let pid = rustix::process::Pid::from_raw(i32::try_from(worker).unwrap()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        let run = Run::of(&agent.wait_with_output().unwrap());
        let report = run.report();
        assert_eq!(report.pairs.len(), 1, "{}", run.stderr);
        assert!(
            report.conclusion.verdict <= Verdict::Degraded,
            "moment {moment}: {}",
            run.stderr
        );
        lock_is_free(&node);
    }
}

#[test]
fn a_worker_does_not_outlive_a_parent_that_is_not_its_own() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_peerless-agent"));
    let output = command
        .args(["worker", "--trace-fd=2", "--parent=1"])
        .output()
        .unwrap();
    let run = Run::of(&output);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (0, ""),
        "it did not get that far"
    );
    assert_eq!(run.stdout, "", "it served a stranger");
}

/// Numbers that look random and are the same in every run (Knuth's MMIX generator).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn kill(pid: u32) {
    // It may have ended by itself in the meantime.
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

fn is_gone(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.is_empty() || status.contains("State:\tZ")
}

/// Runs that are killed at; in every fifth one the agent itself goes in the end.
const KILLED_RUNS: u64 = 25;
/// Kills of a run.
const KILLS: u64 = 8;

/// Two hundred kills of the worker, the partner and the agent, at moments nobody chose.
#[test]
fn whoever_is_killed_nothing_is_left_behind_and_no_report_is_lost() {
    let node = Node::with(&Scenario::healthy(2));
    let mut dice = Dice(42);
    for run in 0..KILLED_RUNS {
        let mut agent = node
            .command("probe")
            .args(["--json", "--timeout", "8"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..KILLS {
            let found = until("a process of the run or its end", || {
                let found = children(agent.id());
                (!found.is_empty() || is_gone(agent.id())).then_some(found)
            });
            seen.extend(&found);
            let start = Instant::now();
            let moment = Duration::from_micros(dice.below(20_000));
            while start.elapsed() < moment {
                std::thread::yield_now();
            }
            let now = children(agent.id());
            seen.extend(&now);
            if !now.is_empty() {
                kill(now[usize::try_from(dice.below(now.len() as u64)).unwrap()]);
            }
        }
        let parent_goes = run % 5 == 4;
        if parent_goes {
            seen.extend(children(agent.id()));
            agent.kill().unwrap();
        }
        let output = agent.wait_with_output().unwrap();
        if parent_goes && output.status.code().is_none() {
            assert!(!output.status.success());
        } else {
            let run = Run::of(&output);
            let report = run.report();
            assert!((0..=3).contains(&run.code), "{}", run.stderr);
            assert!(
                report.pairs.len() == 1 || !report.failures.is_empty(),
                "{}",
                run.stdout
            );
        }
        for child in seen {
            until("the end of a child", || is_gone(child).then_some(()));
        }
        lock_is_free(&node);
    }
    assert_eq!(node.probe(&[]).1.code, 0, "the node works as before");
}
