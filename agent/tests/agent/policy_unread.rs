//! A policy whose file is damaged while no server can give another one: what it made a fault stays one, and the node says so.

use std::fs;

use fake_gpu::scenario::Condition;
use serde_json::{Value, json};

use crate::node::{Node, Run};
use crate::passive::{daemon, log, looked, node, xid};
use crate::policy::{bare, keep, rules, status};

const REMAPPED: &str = "Row Remapper: New row marked for remapping";
const DOUBT: &str = "warning: the site's policy (policy.json) cannot be read";

/// A node whose policy makes a fault of a warning, and one harmless of a fault.
fn judged() -> Node {
    let node = node(Condition::default());
    let policy = rules(&json!([
        { "number": 1, "code": "xid 48", "is": "ignore", "reason": "x" },
        { "number": 2, "code": "xid 63", "is": "fault", "reason": "rows are exchanged here" },
    ]));
    keep(&node, &policy);
    assert_eq!(daemon(&node, &[]).code, 0);
    node
}

fn damage(node: &Node) {
    fs::write(node.path("state/policy.json"), "{").unwrap();
}

fn condition(node: &Node) -> Run {
    bare(node, "gate", &["condition"])
}

#[test]
fn a_fault_of_the_policy_stays_open_when_the_policy_cannot_be_read() {
    let node = judged();
    log(&node, 1, &xid(63, REMAPPED));
    assert_eq!(daemon(&node, &[]).code, 2);
    damage(&node);
    // Before the next look, and after it.
    for _ in 0..2 {
        let told = status(&node);
        assert_eq!(told.code, 2, "{}", told.stdout);
        assert!(told.stdout.contains(DOUBT), "{}", told.stdout);
        let asked = condition(&node);
        assert_eq!(asked.code, 1, "{}", asked.stdout);
        assert!(asked.stdout.contains(DOUBT), "{}", asked.stdout);
        let run = daemon(&node, &[]);
        assert_eq!(run.code, 2, "{}", run.stderr);
        // It is read once in a look.
        let said = run.stderr.matches("the policy cannot be read").count();
        assert_eq!(said, 1, "{}", run.stderr);
        assert_eq!(
            looked(&node).host["policy.version"].value,
            Some("unreadable".into())
        );
    }
    // One that comes meanwhile is a fault, too, and what the policy passed over is one again.
    let node = judged();
    damage(&node);
    log(&node, 1, &xid(63, REMAPPED));
    assert_eq!(daemon(&node, &[]).code, 2);
    let node = judged();
    damage(&node);
    log(&node, 1, &xid(48, "An uncorrectable double bit error"));
    assert_eq!(daemon(&node, &[]).code, 2);
}

#[test]
fn rules_with_a_count_and_exceptions_make_no_other_thing_of_it() {
    let of = |policy: &[serde_json::Value], number: u32, text: &str| {
        let node = node(Condition::default());
        keep(&node, &rules(&json!(policy)));
        assert_eq!(daemon(&node, &[]).code, 0);
        damage(&node);
        log(&node, 1, &xid(number, text));
        daemon(&node, &[]).code
    };
    // One of it is a fault by its record, and the rule's count is not reached.
    let counted = json!({ "number": 1, "code": "xid 48", "is": "fault", "count": 3, "window_seconds": 86400, "reason": "x" });
    assert_eq!(of(&[counted], 48, "An uncorrectable double bit error"), 2);
    // This model is excepted.
    let excepted = json!({ "number": 1, "code": "xid 63", "model": "*", "is": "event", "reason": "x" });
    let all = json!({ "number": 2, "code": "xid 63", "is": "fault", "reason": "x" });
    assert_ne!(of(&[excepted, all], 63, REMAPPED), 2);
}

#[test]
fn without_a_fault_a_policy_that_cannot_be_read_is_a_warning() {
    let node = judged();
    damage(&node);
    let run = daemon(&node, &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("the policy cannot be read"), "{}", run.stderr);
    let told = status(&node);
    assert_eq!(told.code, 0, "{}", told.stdout);
    assert!(told.stdout.contains(DOUBT), "{}", told.stdout);
    let asked = condition(&node);
    assert_eq!(asked.code, 0, "{}", asked.stdout);
    assert!(asked.stdout.contains(DOUBT), "{}", asked.stdout);
    // One that is gone is none, and one that can be read again is used.
    fs::remove_file(node.path("state/policy.json")).unwrap();
    assert!(!status(&node).stdout.contains(DOUBT));
}

fn change(node: &Node, file: &str, change: impl FnOnce(&mut Value)) {
    let path = node.path(file);
    let mut json: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut json);
    fs::write(path, json.to_string()).unwrap();
}

/// Without a server nobody asks for another one.
#[test]
fn a_policy_that_was_given_to_another_node_decides_nothing_here() {
    let other = "the-node-of-the-image";
    let node = judged();
    change(&node, "state/policy.json", |kept| kept["node"] = json!(other));
    let last = fs::read(node.path("state/policy.last.json")).unwrap();
    log(&node, 1, &xid(48, "An uncorrectable double bit error"));
    let run = daemon(&node, &[]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    let said = format!("policy.json: it is of the node {other}, and is not used");
    assert!(run.stderr.contains(&said), "{}", run.stderr);
    assert_eq!(looked(&node).host["policy.version"].value, Some("foreign".into()));
    let told = status(&node).stdout;
    assert!(told.contains("(policy.json) was given to another node"), "{told}");
    assert_eq!(fs::read(node.path("state/policy.last.json")).unwrap(), last);
}

/// Only a ledger of this node tells that it is not called so.
#[test]
fn what_may_be_a_fault_by_this_nodes_policy_stays_one_without_a_ledger() {
    for (file, is_damaged) in [("policy.json", false), ("policy.last.json", true)] {
        let node = judged();
        change(&node, &format!("state/{file}"), |kept| {
            kept["node"] = json!("the-node-of-the-image");
        });
        if is_damaged {
            damage(&node);
        }
        fs::remove_file(node.path("state/ledger.json")).unwrap();
        log(&node, 1, &xid(63, REMAPPED));
        let run = daemon(&node, &[]);
        assert_eq!(run.code, 2, "{file}: {}", run.stderr);
    }
}

/// `clear` asks for no node, so that the policy's is held against none.
#[test]
fn a_policy_whose_node_was_not_compared_is_not_kept_as_this_nodes() {
    let node = judged();
    log(&node, 1, &xid(63, REMAPPED));
    assert_eq!(daemon(&node, &[]).code, 2);
    let last = fs::read(node.path("state/policy.last.json")).unwrap();
    change(&node, "state/policy.json", |kept| {
        kept["node"] = json!("the-node-of-the-image");
    });
    let cleared = bare(&node, "clear", &["xid", "--reason", "seen", "--by", "anna"]);
    assert_eq!(cleared.code, 0, "{}", cleared.stderr);
    assert_eq!(fs::read(node.path("state/policy.last.json")).unwrap(), last);
}

/// The folder came with the copy of another node's disk.
#[test]
fn what_was_a_fault_by_the_policy_of_another_node_is_none_here() {
    let other = "the-node-of-the-image";
    let copied = || {
        let node = judged();
        change(&node, "state/policy.last.json", |last| {
            last["node"] = json!(other);
        });
        damage(&node);
        log(&node, 1, &xid(63, REMAPPED));
        node
    };
    let node = copied();
    let run = daemon(&node, &[]);
    assert_ne!(run.code, 2, "{}", run.stderr);
    assert!(
        run.stderr
            .contains(&format!("policy.last.json: it is of the node {other}")),
        "{}",
        run.stderr
    );
    assert!(status(&node).stdout.contains(DOUBT));
    // A name under which the ledger knows this node: an agent in a container calls it so.
    let node = copied();
    change(&node, "state/ledger.json", |ledger| {
        ledger["nodes"].as_array_mut().unwrap().insert(0, json!(other));
    });
    let run = daemon(&node, &[]);
    assert_eq!(run.code, 2, "{}", run.stderr);
}
