//! What else holds a node back that comes to `admit`: a run that cannot be kept, GPUs that did not come back.

use std::fs;
use std::path::Path;

use fake_gpu::Scenario;
use kb_core::verdict::not_admitted;

use crate::admit::{SHORT, admit, append, boot, healthy, node};
use crate::node::{Node, Run};

/// The fault stays open in the file that the daemon and the gates go by.
#[test]
fn a_run_that_cannot_be_kept_admits_nothing() {
    let node = node(healthy);
    let state = node.path("state");
    let look = || {
        node.run("daemon", &["--once", "--state", state.to_str().unwrap()])
            .code
    };
    assert_eq!(look(), 0);
    append(
        &node,
        "3,9,9000,-;NVRM: Xid (PCI:0000:00:06): 79, GPU has fallen off the bus.\n",
    );
    assert_eq!(look(), 2);
    boot(&node, "2");
    let held = fs::File::options()
        .write(true)
        .open(state.join("ledger.lock"))
        .unwrap();
    held.lock().unwrap();
    let (_, run) = admit(&node);
    assert_eq!(run.code, 3, "{}", run.stderr);
    let said = run.stderr.lines().find(|line| line.contains("not admitted: "));
    let said = said.unwrap_or_else(|| panic!("{}", run.stderr));
    assert!(
        said.contains("ledger.lock") && said.contains("admit` again"),
        "{said}"
    );
    drop(held);
    assert_eq!(look(), 2, "it is still open");
    let (_, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(look(), 0);
}

fn with_gpus(gpus: usize) -> Scenario {
    let mut scenario = healthy(Path::new(""));
    let more = Scenario::healthy(gpus);
    let model = scenario.gpus[0].clone();
    scenario.pairs = more.pairs;
    scenario.gpus = more.gpus;
    for gpu in &mut scenario.gpus {
        gpu.multiprocessors = model.multiprocessors;
    }
    scenario
}

/// Nothing of it is on the bus: it failed so that the board does not show it, or was not put back.
#[test]
fn a_node_that_comes_back_a_gpu_short_is_not_admitted_unless_fewer_are_meant() {
    for was_admitted in [true, false] {
        let node = node(|_| with_gpus(3));
        let state = node.path("state");
        let state = state.to_str().unwrap();
        let look = || node.run("daemon", &["--once", "--state", state]).code;
        if was_admitted {
            let (_, run) = admit(&node);
            assert_eq!(run.code, 0, "{}", run.stderr);
        }
        assert_eq!(look(), 0);
        boot(&node, "2");
        node.becomes(&with_gpus(2));
        assert_eq!(look(), 2);
        let (report, run) = admit(&node);
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(not_admitted(&report).is_some());
        let third = if was_admitted {
            "GPU-fa4e0000-0000-4000-8000-000000000002"
        } else {
            "0000:00:08.0"
        };
        for words in [third, "--expect gpus=2", "not admitted"] {
            assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
        }
        let meant = ["--json", "--state", state, "--expect", "gpus=2"];
        let run = node.run("admit", &[&meant[..], &SHORT].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        // That is what it has from now on.
        let (_, run) = admit(&node);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
}

#[test]
fn a_gpu_that_was_exchanged_holds_no_node_back() {
    let node = node(healthy);
    let (_, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
    boot(&node, "2");
    let mut exchanged = healthy(Path::new(""));
    exchanged.gpus[1] = Scenario::healthy(3).gpus[2].clone();
    exchanged.gpus[1].multiprocessors = 1;
    node.becomes(&exchanged);
    let (_, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

const THIRD: &str = "0000:00:08.0";

/// A node that was looked at with three GPUs, and comes back from a boot with two.
fn comes_back_short() -> Node {
    let node = node(|_| with_gpus(3));
    assert_eq!(with_state(&node, "daemon", &["--once"]).code, 0);
    boot(&node, "2");
    node.becomes(&with_gpus(2));
    node
}

fn with_state(node: &Node, verb: &str, arguments: &[&str]) -> Run {
    let state = node.path("state");
    node.run(verb, &[arguments, &["--state", state.to_str().unwrap()]].concat())
}

fn bare(node: &Node, verb: &str, arguments: &[&str]) -> Run {
    let mut command = node.bare(verb);
    command.arg("--state").arg(node.path("state"));
    Run::of(&command.args(arguments).output().unwrap())
}

#[test]
fn every_look_and_run_tells_of_a_gpu_that_an_earlier_boot_had() {
    let node = comes_back_short();
    for (verb, arguments) in [
        ("probe", &[][..]),
        ("daemon", &["--once"]),
        ("probe", &["--devices", "0,1"]),
    ] {
        let run = with_state(&node, verb, arguments);
        assert_eq!(run.code, 2, "{verb} {arguments:?}: {}", run.stderr);
        for words in ["device_missing@node", THIRD, "--expect gpus=2"] {
            assert!(run.stderr.contains(words), "{verb} {words}: {}", run.stderr);
        }
    }
    let status = bare(&node, "status", &["--passive", "--fail-on", "unknown"]);
    assert_eq!(status.code, 2, "{}{}", status.stdout, status.stderr);
    // One boot more changes nothing, until it is listed again.
    boot(&node, "3");
    assert_eq!(with_state(&node, "daemon", &["--once"]).code, 2);
    boot(&node, "4");
    node.becomes(&with_gpus(3));
    let run = with_state(&node, "daemon", &["--once"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn a_missing_gpu_ends_where_fewer_are_meant() {
    let node = comes_back_short();
    let look = |more: &[&str]| with_state(&node, "daemon", &[more, &["--once"]].concat()).code;
    assert_eq!(look(&[]), 2);
    assert_eq!(look(&["--expect", "gpus=2"]), 0);
    assert_eq!(look(&["--expect", "gpus=3"]), 2);
    assert_eq!(look(&[]), 2);
    let said = ["device_missing", "--reason", "sent in", "--by", "somebody"];
    let cleared = bare(&node, "clear", &said);
    assert_eq!(cleared.code, 0, "{}", cleared.stderr);
    assert_eq!(look(&[]), 0);
    boot(&node, "3");
    assert_eq!(look(&[]), 0);
}

/// The others may have been granted to somebody else.
#[test]
fn an_agent_that_may_not_see_all_misses_no_gpu_of_an_earlier_boot() {
    let node = comes_back_short();
    let mut command = node.command("daemon");
    command.arg("--once").arg("--state").arg(node.path("state"));
    let output = command.env("NVIDIA_VISIBLE_DEVICES", "0,1").output().unwrap();
    let run = Run::of(&output);
    assert_eq!(run.code, 0, "{}", run.stderr);
}
