//! A state folder that came with the copy of another node's disk.

use std::fs;

use kb_core::health::Ledger;

use crate::node::{Node, Run, files_in};
use crate::passive::{daemon, metrics};
use crate::tree::write;
use crate::unkept::{assert_fault, bare, run, with_fault};

const MACHINE: &str = "host/etc/machine-id";
const BOOT: &str = "host/proc/sys/kernel/random/boot_id";

/// The state of a node with an open fault, on another machine.
fn copied() -> Node {
    let node = with_fault();
    write(&node.path(""), MACHINE, "fedcba9876543210fedcba9876543210\n");
    write(&node.path(""), BOOT, "9f1b2c3d-0000-4000-8000-00000000000f\n");
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    node
}

fn assert_could_not_tell(run: &Run, of: &str) {
    let told = run.stdout.clone() + &run.stderr;
    assert_eq!(run.code, 3, "{of}: {told}");
    assert!(!told.contains("xid-79"), "{of}: {told}");
}

/// The ledger that was put aside is whole.
fn assert_kept(node: &Node) {
    let files = files_in(&node.path("state"));
    let aside: Vec<_> = files
        .iter()
        .filter(|path| path.to_string_lossy().contains("ledger.of-another-node."))
        .collect();
    assert_eq!(aside.len(), 1, "{files:?}");
    let ledger = Ledger::from_json(&fs::read(aside[0]).unwrap()).unwrap();
    assert_eq!(ledger.health(Vec::new()).open[0].id, "xid-79@0000:00:06.0");
}

#[test]
fn a_ledger_of_another_node_tells_neither_faults_nor_proofs_and_is_kept() {
    let node = copied();
    // The result of the other node is removed, as the message about it says.
    fs::remove_file(node.path("state/last-passive.json")).unwrap();
    assert_could_not_tell(&bare(&node, "status", &["--passive"]), "status");
    assert_eq!(bare(&node, "gate", &["condition"]).code, 2);
    for _ in 0..2 {
        let look = daemon(&node, &[]);
        assert_could_not_tell(&look, "look");
        assert!(look.stderr.contains("it is of the node node-"), "{}", look.stderr);
        assert_kept(&node);
    }
    assert!(!metrics(&node).contains("cause=\"xid\""), "{}", metrics(&node));
    assert_could_not_tell(&run(&node, "probe", &[]), "probe");
    let clear = bare(
        &node,
        "clear",
        &["ledger_damaged", "--reason", "copied", "--by", "anna"],
    );
    assert_eq!(clear.code, 0, "{}", clear.stderr);
    assert_eq!(daemon(&node, &[]).code, 0);
    assert_eq!(run(&node, "probe", &[]).code, 0);
    assert_kept(&node);
}

#[test]
fn a_run_that_comes_first_puts_it_aside_as_well() {
    let node = copied();
    assert_could_not_tell(&run(&node, "probe", &[]), "probe");
    assert_kept(&node);
    assert_could_not_tell(&daemon(&node, &[]), "look");
}

/// One in a container may call the same node otherwise, in the same boot.
#[test]
fn a_node_of_two_names_is_one_node_also_after_a_boot() {
    let node = with_fault();
    let other = "fedcba9876543210fedcba9876543210\n";
    let own = fs::read(node.path(MACHINE)).unwrap();
    write(&node.path(""), MACHINE, other);
    assert_fault(&run(&node, "probe", &[]), "other name");
    write(&node.path(""), BOOT, "9f1b2c3d-0000-4000-8000-00000000000f\n");
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    assert_fault(&run(&node, "probe", &[]), "other name, other boot");
    write(&node.path(""), BOOT, "9f1b2c3d-0000-4000-8000-00000000000e\n");
    write(&node.path(""), MACHINE, own);
    assert_fault(&daemon(&node, &[]), "own name, third boot");
}

/// A node whose id is new in each boot puts its ledger aside each time: the newest of them are kept.
#[test]
fn of_the_ledgers_that_were_put_aside_the_newest_are_kept() {
    let node = copied();
    let old = |number: u32| {
        node.path(&format!(
            "state/ledger.of-another-node.{}.json",
            1_000_000_000_000_000_000_u64 + u64::from(number)
        ))
    };
    for number in 0..12 {
        fs::write(old(number), "{}").unwrap();
    }
    fs::remove_file(node.path("state/last-passive.json")).unwrap();
    daemon(&node, &[]);
    let files = files_in(&node.path("state"));
    let aside = files
        .iter()
        .filter(|path| path.to_string_lossy().contains("ledger.of-another-node."));
    assert_eq!(aside.count(), 8, "{files:?}");
    assert!(
        !old(4).try_exists().unwrap() && old(5).try_exists().unwrap(),
        "{files:?}"
    );
}
