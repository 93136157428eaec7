//! A vote from a node, with what is known of the node.

use std::fs;

use fake_gpu::Scenario;
use serde_json::Value;

use crate::finding::Server;
use crate::node::{Node, Run};

const RECORD: &str = "cuda/peer-access-unsupported-by-hardware";

fn feedback(node: &Node, server: &Server, arguments: &[&str], token: Option<&str>) -> Run {
    let mut command = node.bare("feedback");
    command.args(["--server", &server.address]);
    command.arg("--host-root").arg(node.path("host"));
    if let Some(token) = token {
        command.env("PEERLESS_TOKEN", token);
    }
    Run::of(&command.args(arguments).output().unwrap())
}

#[test]
fn a_vote_says_where_it_was_tried() {
    let server = Server::start_with(&["--anonymous-writing"]);
    let node = Node::with(&Scenario::healthy(2));
    let gpu = node.path("host/proc/driver/nvidia/gpus/0000:3b:00.0");
    fs::create_dir_all(&gpu).unwrap();
    fs::write(
        gpu.join("information"),
        "Model: \t\t NVIDIA H200\nIRQ:   \t\t 1\n",
    )
    .unwrap();
    fs::write(
        node.path("host/proc/driver/nvidia/version"),
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\n",
    )
    .unwrap();
    let sent = feedback(&node, &server, &[RECORD, "/workarounds/0", "worked"], None);
    assert_eq!(sent.code, 0, "{}", sent.stderr);
    assert!(sent.stdout.contains("waits for an editor"), "{}", sent.stdout);
    let token = server.token_with(&["--scope", "edit", "--scope", "report"]);
    let queue: Value = reqwest::blocking::Client::new()
        .get(format!("{}/api/v1/feedback", server.address))
        .bearer_auth(&token)
        .send()
        .unwrap()
        .json()
        .unwrap();
    let body = &queue["entries"][0]["body"];
    assert_eq!(body["environment"]["driver"], "550.54.14", "{queue}");
    assert_eq!(body["environment"]["gpu_model"], "NVIDIA H200", "{queue}");

    let sent = feedback(
        &node,
        &server,
        &[RECORD, "/workarounds/0", "came-back"],
        Some(&token),
    );
    assert_eq!(sent.stdout, "the vote is added\n", "{}", sent.stderr);
    let refused = feedback(
        &node,
        &server,
        &[RECORD, "/workarounds/99", "worked"],
        Some(&token),
    );
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("is no action"), "{}", refused.stderr);
}
