//! The gates beside settings that are made for other verbs.

use std::fs;

use fake_gpu::Scenario;

use super::{ARMED, Cluster, FRESH};
use crate::node::{Node, Run};
use crate::tree::write;
use crate::unkept::log;

/// A node of four GPUs whose last one has a fault, which the daemon knows. `top` stands above, and `below` behind what the node has already.
fn with_fault_of_the_last(top: &str, below: &str) -> Cluster {
    let cluster = Cluster::with(&Scenario::healthy(4), ARMED);
    let node = &cluster.node;
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    let state = node.path("state");
    let look = ["--once", "--state", state.to_str().unwrap()];
    assert_eq!(node.run("daemon", &look).code, 0);
    log(
        node,
        1,
        "NVRM: Xid (PCI:0000:00:09): 79, GPU has fallen off the bus.",
    );
    assert_eq!(node.run("daemon", &look).code, 2);
    log(node, 2, "hello");
    let settings = node.path("settings.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(settings, format!("{top}\n{text}\n{below}\n")).unwrap();
    cluster
}

#[test]
fn a_job_is_judged_by_its_own_gpus_whatever_the_daemon_looks_at() {
    let cluster = with_fault_of_the_last("devices = \"0,1\"", "");
    let run = Run::of(&cluster.script("slurm/prolog.sh", "2,3").output().unwrap());
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(cluster.own().contains("xid-79@0000:00:09.0"), "{}", cluster.own());
    let cluster = with_fault_of_the_last("", "");
    let run = Run::of(&cluster.script("slurm/prolog.sh", "0,1").output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn what_is_set_for_status_changes_no_answer_of_a_gate() {
    let cluster = with_fault_of_the_last("", "[status]\nnode-id = \"another\"");
    let run = cluster.run("slurm/healthcheck.sh");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(cluster.own().contains("DRAIN"), "{}", run.stderr);
    // The look is well, and the last proof is not.
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    cluster.looked(&Scenario::healthy(2), FRESH);
    let (broken, _) = Node::with(&Scenario::writes_dropped()).probe(&[]);
    cluster.write("last-active.json", &broken, FRESH);
    let settings = cluster.node.path("settings.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(settings, format!("{text}\n[status]\npassive = true\n")).unwrap();
    let run = cluster.run("slurm/healthcheck.sh");
    assert!(cluster.own().contains("DRAIN"), "{}", run.stderr);
    // A question, and no setting.
    let cluster = with_fault_of_the_last("", "[status]\nalive = true");
    let told = cluster.run("slurm/healthcheck.sh");
    assert!(
        told.stderr.contains("alive stands on the command line alone"),
        "{}",
        told.stderr
    );
}

#[test]
fn two_state_folders_in_one_file_are_refused() {
    let cluster = with_fault_of_the_last("", "[daemon]\nstate = \"/var/lib/other\"");
    let state = cluster.node.path("state");
    for verb in [
        &["daemon", "--once"][..],
        &["probe"],
        &["gate", "condition"],
        &["status"],
        &["clear", "xid"],
    ] {
        let mut command = cluster.node.bare(verb[0]);
        command
            .args(&verb[1..])
            .arg("--config")
            .arg(cluster.node.path("settings.toml"));
        let told = Run::of(&command.output().unwrap());
        assert_eq!(told.code, 64, "{verb:?}: {}", told.stderr);
        for part in [
            "/var/lib/other",
            state.to_str().unwrap(),
            "[daemon]",
            "at the top",
        ] {
            assert!(told.stderr.contains(part), "{verb:?}: {part}: {}", told.stderr);
        }
    }
    let run = cluster.run("slurm/prolog.sh");
    assert!(!run.stderr.contains("pass"), "{}", run.stderr);
}
