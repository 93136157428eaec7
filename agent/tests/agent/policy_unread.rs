//! A policy whose file is damaged while no server can give another one: what it made a fault stays one, and the node says so.

use std::fs;

use fake_gpu::scenario::Condition;
use serde_json::json;

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
        assert!(run.stderr.contains("the policy cannot be read"), "{}", run.stderr);
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
