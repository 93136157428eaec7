//! GPUs that were listed earlier in this boot and are listed no more.

use fake_gpu::Scenario;

use crate::node::{Node, Run};
use crate::tree::write;

/// Where the GPUs of the scenario are.
const SECOND: &str = "0000:00:07.0";

/// Four GPUs that a look has seen.
fn looked_at() -> Node {
    let node = Node::with(&Scenario::healthy(4));
    write(&node.path(""), "host/dev/kmsg", "5,1,0,-;Linux version 6.8.0\n");
    assert_eq!(look(&node).code, 0);
    node
}

fn look(node: &Node) -> Run {
    with_state(node, "daemon", &["--once"])
}

fn with_state(node: &Node, verb: &str, arguments: &[&str]) -> Run {
    let state = node.path("state");
    node.run(verb, &[arguments, &["--state", state.to_str().unwrap()]].concat())
}

/// NVML and CUDA list the others, as behind a removal.
fn without(gpus: usize, lost: usize) -> Scenario {
    let mut scenario = Scenario::healthy(gpus - 1);
    let mut left = Scenario::healthy(gpus).gpus;
    left.remove(lost);
    scenario.gpus = left;
    scenario
}

/// Only the ledger knows of it until the daemon looks again.
#[test]
fn a_run_by_number_behind_it_is_of_other_gpus_than_meant() {
    for asked in ["1,2", "2"] {
        let node = looked_at();
        node.becomes(&without(4, 1));
        let run = with_state(&node, "probe", &["--devices", asked]);
        assert_eq!(run.code, 2, "{asked}: {}", run.stderr);
        assert!(run.stderr.contains("gpu_lost"), "{asked}: {}", run.stderr);
        assert!(run.stderr.contains(SECOND), "{asked}: {}", run.stderr);
        // The health check and the next job go by it.
        let ledger = std::fs::read_to_string(node.path("state/ledger.json")).unwrap();
        assert!(ledger.contains(&format!("gpu_lost@{SECOND}")), "{ledger}");
    }
    let node = looked_at();
    node.becomes(&without(4, 1));
    let mut command = node.command("probe");
    command.arg("--state").arg(node.path("state"));
    let run = Run::of(&command.env("CUDA_VISIBLE_DEVICES", "1,2").output().unwrap());
    assert_eq!(run.code, 2, "{}", run.stderr);
}

#[test]
fn numbers_in_front_of_it_and_names_are_what_they_were() {
    let node = looked_at();
    node.becomes(&without(4, 1));
    let names: Vec<String> = node
        .probe(&[])
        .0
        .gpus
        .iter()
        .map(|gpu| gpu.uuid.value.clone().unwrap())
        .collect();
    for asked in ["0", &names[1..].join(",")] {
        let run = with_state(&node, "probe", &["--devices", asked]);
        assert_eq!(run.code, 0, "{asked}: {}", run.stderr);
    }
}

/// GPUs may be taken out between two boots.
#[test]
fn in_a_new_boot_numbers_begin_anew() {
    let node = looked_at();
    node.becomes(&without(4, 1));
    let boot = "9f1b2c3d-0000-4000-8000-000000000002\n";
    write(&node.path("host"), "proc/sys/kernel/random/boot_id", boot);
    let run = with_state(&node, "probe", &["--devices", "1,2"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}
