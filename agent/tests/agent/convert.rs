//! `convert`: files of other tools.

use std::fs;
use std::path::PathBuf;

use fake_gpu::Scenario;

use crate::node::{Node, Run};

fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../kb-core/tests/data/tools")
        .join(name)
}

fn convert(node: &Node, arguments: &[&str]) -> Run {
    let mut command = node.bare("convert");
    command.arg("--host-root").arg(node.path("host"));
    Run::of(&command.args(arguments).output().unwrap())
}

#[test]
fn output_becomes_a_report_without_touching_the_gpus() {
    let node = Node::with(&Scenario::healthy(2));
    let file = sample("nvbandwidth-x2.txt");
    let arguments = [
        file.to_str().unwrap(),
        "--node",
        "node-7",
        "--taken-at",
        "2026-11-21T08:21:49+01:00",
    ];
    let run = convert(&node, &arguments);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report = run.report();
    assert_eq!(report.node.id.as_str(), "node-7");
    assert_eq!(report.finished_at, "2026-11-21T07:21:49Z");
    assert_eq!(report.measurements.len(), 37);
    assert!(
        run.stderr.contains("512 MiB, its default, is assumed"),
        "{}",
        run.stderr
    );
    assert!(node.installed.calls().unwrap().is_empty());
    let again = convert(&node, &arguments).report();
    assert_eq!(again, report, "the same file is the same report");
}

#[test]
fn what_cannot_be_converted_is_a_matter_of_the_caller() {
    let node = Node::with(&Scenario::healthy(2));
    let text = fs::read_to_string(sample("topo-x4.txt")).unwrap();
    let cut = node.path("cut");
    fs::write(&cut, text.split_once("GPU2\tNV18").unwrap().0).unwrap();
    let other = sample("nccl-tests-x2.txt");
    for (arguments, expected) in [
        (
            vec![cut.to_str().unwrap()],
            "the output ends within the table of nvidia-smi topo -m",
        ),
        (
            vec![other.to_str().unwrap()],
            "this is of host vm, and here is gpu-17",
        ),
        (vec!["/nonexistent"], "/nonexistent: No such file"),
        (vec![cut.to_str().unwrap(), "--format", "pdf"], "possible values"),
    ] {
        let run = convert(&node, &arguments);
        assert_eq!(run.code, 64, "{}", run.stderr);
        assert!(
            run.stderr.contains(expected),
            "{expected:?} is not in {}",
            run.stderr
        );
        assert!(run.stdout.is_empty());
    }
}

/// The host is what the output says; this machine's only where no other node is named.
#[test]
fn the_host_of_another_node_is_not_this_machine() {
    let node = Node::with(&Scenario::healthy(2));
    let host = |tool: &str, arguments: &[&str]| {
        let file = sample(tool);
        let run = convert(&node, &[&[file.to_str().unwrap()], arguments].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.report().node.hostname
    };
    let named = ["--node-id", "node-7"];
    assert_eq!(host("topo-x4.txt", &[]).as_deref(), Some("gpu-17"));
    assert_eq!(host("topo-x4.txt", &named), None);
    assert_eq!(host("nvbandwidth-x2.txt", &named).as_deref(), Some("vm"));
}

/// What was converted is shown, and nobody is told to run a probe that never ran.
#[test]
fn a_converted_report_shows_its_matrices() {
    let node = Node::with(&Scenario::healthy(2));
    let report = node.path("report.json");
    let shown = |tool: &str| {
        let made = convert(
            &node,
            &[
                sample(tool).to_str().unwrap(),
                "--node-id",
                "node-7",
                "-o",
                report.to_str().unwrap(),
            ],
        );
        assert_eq!(made.code, 0, "{}", made.stderr);
        let mut command = node.bare("report");
        command.args(["--server", "http://127.0.0.1:9", "--retry-for", "0.1"]);
        command
            .arg("--spool")
            .arg(node.path("spool"))
            .arg("--from")
            .arg(&report);
        Run::of(&command.output().unwrap())
    };
    let bandwidth = shown("nvbandwidth-x2.txt");
    assert!(
        bandwidth.stdout.starts_with("converted from nvbandwidth: "),
        "{}",
        bandwidth.stdout
    );
    assert!(
        bandwidth
            .stdout
            .contains("GPU to GPU, copy engine, push, 512 MiB, GB/s"),
        "{}",
        bandwidth.stdout
    );
    assert!(
        !bandwidth.stdout.contains("run the probe again"),
        "{}",
        bandwidth.stdout
    );
    // It could not be sent, which is all that went wrong.
    assert_eq!(bandwidth.code, 1, "{}", bandwidth.stderr);
    let topology = shown("topo-x4.txt");
    assert!(topology.stdout.contains("NV18"), "{}", topology.stdout);
}
