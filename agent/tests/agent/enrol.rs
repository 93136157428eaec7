//! A node enrols with the real server, and uploads with what it got.

use std::fs;

use fake_gpu::Scenario;

use crate::finding::Server;
use crate::node::{Node, Run, mode};

fn enrol(node: &Node, server: &Server, join: &str, arguments: &[&str]) -> Run {
    let file = node.path("join");
    fs::write(&file, join).unwrap();
    let mut command = node.bare("enrol");
    command
        .args(["--server", &server.address])
        .arg("--join-token-file")
        .arg(&file);
    command.arg("--host-root").arg(node.path("host"));
    command.env("PEERLESS_STATE", node.path("state"));
    Run::of(&command.args(arguments).output().unwrap())
}

fn report(node: &Node, server: &Server, arguments: &[&str]) -> Run {
    let mut command = node.command("report");
    command.args(["--server", &server.address, "-q"]);
    command.arg("--spool").arg(node.path("spool"));
    command.env("PEERLESS_STATE", node.path("state"));
    Run::of(&command.args(arguments).output().unwrap())
}

fn daemon(node: &Node, address: &str, join: &str) -> Run {
    let file = node.path("join");
    fs::write(&file, join).unwrap();
    let mut command = node.command("daemon");
    command.args(["--once", "-q", "--server", address]);
    command.arg("--spool").arg(node.path("spool"));
    command.arg("--state").arg(node.path("state"));
    command.arg("--join-token-file").arg(&file);
    Run::of(&command.output().unwrap())
}

#[test]
fn a_daemon_with_a_join_token_enrols_by_itself() {
    let server = Server::start_with(&["--enrol-only"]);
    let join = server.token_with(&["--scope", "enrol", "--uses", "1"]);
    let node = Node::with(&Scenario::healthy(2));
    // Nobody answers: the report waits, and the next look tries again.
    let away = daemon(&node, "http://127.0.0.1:9", &join);
    assert!(
        away.stderr.contains("the report cannot be sent"),
        "{}",
        away.stderr
    );
    assert!(!node.path("state/credential").is_file());
    let waiting = || fs::read_dir(node.path("spool")).unwrap().count();
    assert_eq!(waiting(), 1);
    let first = daemon(&node, &server.address, &join);
    assert!(first.stderr.contains("enrolled as"), "{}", first.stderr);
    assert_eq!(mode(&node.path("state/credential")), 0o600);
    assert_eq!(waiting(), 0, "{}", first.stderr);
    let second = daemon(&node, &server.address, &join);
    assert!(!second.stderr.contains("enrolled"), "{}", second.stderr);
    assert_eq!(waiting(), 0, "{}", second.stderr);
    // The credential is that server's: another one does not get it.
    let other = Server::start_with(&["--enrol-only"]);
    let strange = daemon(&node, &other.address, &join);
    assert!(
        strange.stderr.contains("is not sent to another server"),
        "{}",
        strange.stderr
    );
    assert_eq!(waiting(), 1, "{}", strange.stderr);
}

#[test]
fn a_node_enrols_once_and_reports_with_its_own_credential() {
    let server = Server::start_with(&["--enrol-only"]);
    let join = server.token_with(&["--scope", "enrol", "--uses", "1"]);
    let node = Node::with(&Scenario::healthy(2));
    assert_eq!(
        report(&node, &server, &[]).code,
        1,
        "without a credential nothing is taken"
    );
    let first = enrol(&node, &server, &join, &[]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let file = node.path("state/credential");
    assert_eq!(mode(&file), 0o600);
    let credential = fs::read_to_string(&file).unwrap();
    assert!(!format!("{}{}", first.stdout, first.stderr).contains(credential.trim()));
    let sent = report(&node, &server, &[]);
    assert_eq!(sent.code, 0, "{}", sent.stderr);
    // It is there: nothing is asked of the server, whose join token is used up.
    assert_eq!(enrol(&node, &server, &join, &[]).code, 0);
    let second = Node::with(&Scenario::healthy(2));
    fs::write(
        second.path("host/etc/machine-id"),
        "another0123456789abcdef012345678\n",
    )
    .unwrap();
    let refused = enrol(&second, &server, &join, &[]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("has no enrolment left"),
        "{}",
        refused.stderr
    );
    // A folder that cannot be written is told before the server is asked.
    fs::write(second.path("file"), "").unwrap();
    let state = second.path("file").join("state");
    let lost = enrol(&second, &server, &join, &["--state", state.to_str().unwrap()]);
    assert!(lost.stderr.contains("write into"), "{}", lost.stderr);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        credential,
        "the old one stays"
    );
    // A report of another node is refused, and says whose credential it is.
    let other = report(&node, &server, &["--node-id", "node-x"]);
    assert_eq!(other.code, 1);
    assert!(other.stderr.contains("of node-x"), "{}", other.stderr);
}

#[test]
fn a_clone_is_told_apart() {
    let server = Server::start_with(&[]);
    let join = server.token_with(&["--scope", "enrol"]);
    let node = Node::with(&Scenario::healthy(2));
    assert_eq!(enrol(&node, &server, &join, &["--node-id", "gpu-17"]).code, 0);
    let again = enrol(&node, &server, &join, &["--node-id", "gpu-17", "--again"]);
    assert!(
        again.code == 0 && again.stdout.contains("is revoked"),
        "{}{}",
        again.stdout,
        again.stderr
    );
    let clone = Node::with(&Scenario::healthy(2));
    fs::write(
        clone.path("host/etc/machine-id"),
        "another0123456789abcdef012345678\n",
    )
    .unwrap();
    let refused = enrol(&clone, &server, &join, &["--node-id", "gpu-17"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("another machine is enrolled as gpu-17"),
        "{}",
        refused.stderr
    );
}
