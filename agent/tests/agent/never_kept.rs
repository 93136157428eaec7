//! A state folder in which nobody could ever keep a ledger hides no fault from a run.

use std::fs;
use std::os::unix::fs::symlink;

use fake_gpu::scenario::Condition;

use crate::node::Node;
use crate::passive::{node, xid};
use crate::unkept::{assert_fault, log, run};

/// A node without a ledger, whose kernel has had a fault since the boot.
fn faulty(make_state: impl Fn(&Node)) -> Node {
    let node = node(Condition::default());
    log(&node, 0, &xid(79, "GPU has fallen off the bus."));
    make_state(&node);
    node
}

fn leads_nowhere(node: &Node) {
    symlink(node.path("nowhere"), node.path("state")).unwrap();
}

#[test]
fn a_run_reads_the_log_itself_where_nothing_could_be_kept() {
    let node = faulty(leads_nowhere);
    let probe = run(&node, "probe", &[]);
    assert_fault(&probe, "probe");
    assert!(
        probe.stderr.contains("does not know of this run"),
        "{}",
        probe.stderr
    );
    // A daemon that began and found no room.
    let begun = faulty(|node| {
        fs::create_dir(node.path("state")).unwrap();
        fs::write(node.path("state/ledger.lock"), "").unwrap();
    });
    assert_fault(&run(&begun, "probe", &[]), "probe");
    assert_fault(&run(&begun, "probe", &[]), "second probe");
}

#[test]
fn a_healthy_node_is_told_that_nothing_can_be_kept() {
    let node = node(Condition::default());
    leads_nowhere(&node);
    let probe = run(&node, "probe", &[]);
    assert_eq!(probe.code, 0, "{}", probe.stderr);
    assert!(
        probe.stderr.contains("does not know of this run"),
        "{}",
        probe.stderr
    );
    // Nor does the log tell what was before.
    fs::remove_file(node.path("host/dev/kmsg")).unwrap();
    let probe = run(&node, "probe", &[]);
    assert_eq!(probe.code, 3, "{}", probe.stderr);
}

/// Others are told before the ledger is written, for which there may be no room then.
#[test]
fn what_others_were_told_counts_where_the_ledger_was_never_written() {
    let node = faulty(|node| fs::create_dir(node.path("state")).unwrap());
    fs::write(node.path("state/ledger.lock"), "").unwrap();
    assert_fault(&run(&node, "probe", &[]), "probe");
    fs::remove_file(node.path("state/ledger.json")).unwrap();
    log(&node, 1, "hello");
    assert_fault(&run(&node, "probe", &[]), "probe");
    fs::remove_file(node.path("state/ledger.json")).unwrap();
    fs::write(node.path("state/open.json"), "{").unwrap();
    let probe = run(&node, "probe", &[]);
    assert_eq!(probe.code, 3, "{}", probe.stderr);
}
