//! `status` believes a result only where it is this node's own, of this boot, and beside the ledger that it was kept with.

use std::fs;

use fake_gpu::Scenario;
use kb_core::report::Report;
use kb_core::verdict::Verdict;
use serde_json::{Value, json};

use crate::node::{Node, Run};

/// A node whose daemon has proven it.
fn proven() -> Node {
    let node = Node::with(&Scenario::healthy(2));
    let mut daemon = node.command("daemon");
    daemon.args(["--once", "--active", "--idle-minutes", "0", "--state"]);
    let run = Run::of(&daemon.arg(node.path("state")).output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
    node
}

fn status(node: &Node) -> Run {
    let mut command = node.bare("status");
    command.arg("--state").arg(node.path("state"));
    Run::of(&command.output().unwrap())
}

fn change(node: &Node, change: impl Fn(&mut Value)) {
    let file = node.path("state/last-active.json");
    let mut report: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    change(&mut report);
    fs::write(&file, report.to_string()).unwrap();
}

fn assert_told(node: &Node, why: &str) {
    let told = status(node);
    assert_eq!(
        (told.code, told.stdout.as_str()),
        (3, ""),
        "{why}: {}",
        told.stderr
    );
    assert!(told.stderr.contains(why), "{why}: {}", told.stderr);
}

#[test]
fn a_result_of_elsewhere_tells_nothing() {
    let node = proven();
    assert_eq!(status(&node).code, 0);
    let kept = fs::read(node.path("state/last-active.json")).unwrap();
    for (pointer, value, why) in [
        ("/node/id", json!("node-x"), "of the node node-x"),
        (
            "/node/boot_id",
            json!("11111111-de87-4d19-870b-34373cb7c1a3"),
            "was booted since",
        ),
        ("/schema/major", json!(2), "of version 2."),
        ("/schema/minor", json!(999), "999 of the report"),
    ] {
        change(&node, |report| {
            *report.pointer_mut(pointer).unwrap() = value.clone();
        });
        assert_told(&node, why);
        fs::write(node.path("state/last-active.json"), &kept).unwrap();
    }
    let mut command = node.bare("status");
    command.env_remove("PEERLESS_ALLOW_SIMULATED");
    let told = Run::of(&command.arg("--state").arg(node.path("state")).output().unwrap());
    assert_eq!(told.code, 3);
    assert!(told.stderr.contains("simulated"), "{}", told.stderr);
}

/// The clock was set back by the age of the result.
#[test]
fn a_result_is_as_old_as_the_time_since_the_boot_says() {
    let node = proven();
    let is_of = |boot: &'static str| {
        change(&node, |report| {
            report["seconds_since_boot"] = json!(-1_000_000_000);
            report["node"]["boot_id"] = json!(boot);
        });
    };
    is_of("9f1b2c3d-0000-4000-8000-000000000001");
    assert_told(&node, "hours old");
    // Of another boot the number says nothing.
    is_of("9f1b2c3d-0000-4000-8000-000000000002");
    assert_told(&node, "was booted since");
}

#[test]
fn a_fault_outlives_a_boot() {
    let node = proven();
    change(&node, |report| {
        report["node"]["boot_id"] = json!("11111111-de87-4d19-870b-34373cb7c1a3");
        report["conclusion"] = json!({"verdict": "broken", "exit_code": 2, "reason": "writes are dropped"});
    });
    let told = status(&node);
    assert_eq!(told.code, 2, "{}", told.stderr);
    assert!(told.stdout.contains("writes are dropped"), "{}", told.stdout);
}

#[test]
fn without_its_ledger_nobody_knows_what_is_open() {
    let node = proven();
    let ledger = node.path("state/ledger.json");
    let kept = fs::read(&ledger).unwrap();
    for damaged in [&b""[..], &[0; 300], b"{}", &kept[..kept.len() / 2]] {
        fs::write(&ledger, damaged).unwrap();
        assert_told(&node, "ledger");
    }
    fs::remove_file(&ledger).unwrap();
    assert_told(&node, "the ledger is not there any more");
}

#[test]
fn a_fault_that_the_ledger_holds_open_is_told() {
    let node = proven();
    let report: Report =
        serde_json::from_slice(&fs::read(node.path("state/last-active.json")).unwrap()).unwrap();
    assert_eq!(report.conclusion.verdict, Verdict::Healthy);
    let file = node.path("state/ledger.json");
    let mut ledger: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    ledger["open"] = json!([{
        "id": "xid-79@node", "cause": "xid", "nature": "event", "bearing": "fault", "device": "node", "count": 1,
        "first_at": "2026-11-21T07:00:00Z", "last_at": "2026-11-21T07:00:00Z", "text": "a GPU fell off the bus",
    }]);
    fs::write(&file, ledger.to_string()).unwrap();
    let told = status(&node);
    assert_eq!(told.code, 2, "{}", told.stderr);
    assert!(
        told.stdout.contains("broken: xid is open on node"),
        "{}",
        told.stdout
    );
}

#[test]
fn a_gate_believes_no_stand_in() {
    let node = proven();
    fs::create_dir_all(node.path("host/dev")).unwrap();
    fs::write(node.path("host/dev/kmsg"), "5,1,0,-;Linux version 6.8.0\n").unwrap();
    let mut daemon = node.command("daemon");
    let look = daemon.args(["--once", "--state"]).arg(node.path("state"));
    assert!(look.output().unwrap().status.code().is_some());
    for (is_allowed, code) in [(true, 0), (false, 1)] {
        let mut gate = node.bare("gate");
        gate.args(["ready", "--state"]).arg(node.path("state"));
        gate.arg("--host-root").arg(node.path("host"));
        if !is_allowed {
            gate.env_remove("PEERLESS_ALLOW_SIMULATED");
        }
        let told = Run::of(&gate.output().unwrap());
        assert_eq!(told.code, code, "{}{}", told.stdout, told.stderr);
        let said = told.stdout + &told.stderr;
        assert_eq!(said.contains("simulated"), !is_allowed, "{said}");
    }
}

/// A folder that the environment names by an empty text is a mistake, whichever verb is asked.
#[test]
fn an_empty_name_of_the_state_folder_is_refused_by_all() {
    let node = Node::with(&Scenario::healthy(2));
    let record = "cuda/out-of-memory";
    let server = ["--server", "http://127.0.0.1:9"];
    for (verb, arguments) in [
        ("probe", vec![]),
        ("bench", vec![]),
        ("report", vec!["--print"]),
        ("daemon", vec!["--once"]),
        ("status", vec!["--passive"]),
        ("gate", vec!["condition"]),
        ("clear", vec![record, "--reason", "x", "--by", "y"]),
        ("match", vec!["-"]),
        ("watch", vec!["--once"]),
        ("upload", server.to_vec()),
        ("enrol", [&server[..], &["--join-token-file", "x"]].concat()),
    ] {
        let mut command = node.bare(verb);
        let run = Run::of(
            &command
                .args(arguments)
                .env("PEERLESS_STATE", "")
                .output()
                .unwrap(),
        );
        assert_eq!(run.code, 64, "{verb}: {}", run.stderr);
        assert!(run.stderr.contains("--state"), "{verb}: {}", run.stderr);
    }
}
