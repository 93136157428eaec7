//! `admit` on a node that no daemon has looked at: the kernel log of this boot counts as it would after a look.

use std::fs;

use fake_gpu::Scenario;
use kb_core::report::{Clear, Entry};

use crate::admit::{SHORT, admit, append, boot, healthy, node};
use crate::node::{Node, Run};
use crate::tree::write;

const XID_79: &str = "NVRM: Xid (PCI:0000:00:06): 79, pid=<unknown>, GPU has fallen off the bus.";
const XID_79_ID: &str = "xid-79@0000:00:06.0";

fn with_line(line: &str) -> Node {
    let node = node(healthy);
    log(&node, 9, line);
    node
}

fn log(node: &Node, number: u64, line: &str) {
    append(node, &format!("3,{number},{number}000000,-;{line}\n"));
}

fn with_state(node: &Node, verb: &str, arguments: &[&str]) -> Run {
    let state = node.path("state");
    let state = ["--state", state.to_str().unwrap()];
    node.run(verb, &[&state[..], arguments].concat())
}

fn look(node: &Node) -> Run {
    with_state(node, "daemon", &["--once"])
}

fn ids(open: &[Entry]) -> Vec<&str> {
    open.iter().map(|entry| entry.id.as_str()).collect()
}

fn ended(clears: &[Clear]) -> Vec<&str> {
    let ended = clears.iter().flat_map(|clear| &clear.entries);
    ended.map(String::as_str).collect()
}

#[test]
fn a_fault_that_asks_for_a_boot_holds_the_node_back_until_then() {
    for (line, id) in [
        (XID_79, XID_79_ID),
        (
            "NVRM: GPU 0000:00:06.0: RmInitAdapter failed! (0x62:0x55:2454)",
            "kernel_message@0000:00:06.0",
        ),
    ] {
        let node = with_line(line);
        let (report, run) = admit(&node);
        assert_eq!(run.code, 2, "{line}: {}", run.stderr);
        assert!(run.stderr.contains("not admitted: "), "{}", run.stderr);
        assert_eq!(ids(&report.health.unwrap().open), [id]);
        // The look goes on where the run has read to.
        let look = look(&node);
        assert_eq!(look.code, 2, "{line}: {}", look.stderr);
        let (report, run) = admit(&node);
        assert_eq!(run.code, 2, "{line}: {}", run.stderr);
        assert_eq!(report.health.unwrap().open[0].count, 1, "{line}");
        boot(&node, "2");
        let (report, run) = admit(&node);
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
        let health = report.health.unwrap();
        assert_eq!((ids(&health.open), ended(&health.clears)), (vec![], vec![id]));
        assert_eq!(self::look(&node).code, 0, "{line}");
    }
}

/// The first lines of a boot may have told of a fault, and the kernel keeps only the last ones.
#[test]
fn lines_that_are_gone_hold_the_node_back_until_they_are_cleared() {
    let node = node(healthy);
    let later = "6,5000,900000000,-;usb 1-1: new high-speed USB device number 2 using xhci_hcd\n";
    fs::write(node.path("host/dev/kmsg"), later).unwrap();
    let (_, run) = admit(&node);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(
        run.stderr.contains("whether they tell of a fault is not known"),
        "{}",
        run.stderr
    );
    assert_eq!(look(&node).code, 0, "an agent that came late is no fault");
    let by = [
        "log_missed@node",
        "--reason",
        "read in the journal",
        "--by",
        "test",
    ];
    let mut clear = node.bare("clear");
    let cleared = Run::of(
        &clear
            .args(by)
            .arg("--state")
            .arg(node.path("state"))
            .output()
            .unwrap(),
    );
    assert_eq!(cleared.code, 0, "{}", cleared.stderr);
    assert_eq!(admit(&node).1.code, 0);
}

/// What a reset mends may have been mended in this boot, which the run shows. It is told that there was something.
#[test]
fn what_a_reset_mends_is_ended_by_the_run_and_counts_no_more() {
    for (line, id) in [
        (
            "NVRM: Xid (PCI:0000:00:06): 48, pid=<unknown>, x",
            "xid-48@0000:00:06.0",
        ),
        (
            "NVRM: Xid (PCI:0000:00:06): 95, pid=<unknown>, x",
            "xid-95@0000:00:06.0",
        ),
        (
            "nvidia-nvswitch0: SXid (PCI:0000:01:00.0): 20034, Fatal, Link 30",
            "sxid-20034@0000:01:00.0",
        ),
    ] {
        let node = with_line(line);
        let (report, run) = admit(&node);
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
        let health = report.health.unwrap();
        assert_eq!((ids(&health.open), ended(&health.clears)), (vec![], vec![id]));
        let look = look(&node);
        assert_eq!(look.code, 0, "{line}: {}", look.stderr);
        let (_, run) = admit(&node);
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
    }
}

/// Syslog's file holds what was before the repair, too.
#[test]
fn a_fault_of_an_earlier_boot_holds_no_repaired_node_back() {
    let node = node(healthy);
    let earlier = format!(
        "Nov 24 09:00:00 gpu-17 kernel: [    0.000000] Linux version 6.8.0\n\
         Nov 24 09:10:00 gpu-17 kernel: [  600.000000] {XID_79}\n"
    );
    let now = "Nov 24 10:00:00 gpu-17 kernel: [    0.000000] Linux version 6.8.0\n";
    fs::remove_file(node.path("host/dev/kmsg")).unwrap();
    write(&node.path(""), "host/var/log/kern.log", &(earlier.clone() + now));
    let (report, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(report.health.unwrap().open, []);
    assert_eq!(look(&node).code, 0);

    // The same line behind the new boot's first is of this boot.
    let node = self::node(healthy);
    fs::remove_file(node.path("host/dev/kmsg")).unwrap();
    let later = format!("Nov 24 10:10:00 gpu-17 kernel: [  600.000000] {XID_79}\n");
    write(&node.path(""), "host/var/log/kern.log", &(earlier + now + &later));
    let (report, run) = admit(&node);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert_eq!(ids(&report.health.unwrap().open), [XID_79_ID]);
}

/// What is the matter with another GPU of the node is not forgotten by a run that it is not part of.
#[test]
fn a_run_over_some_of_the_gpus_keeps_what_is_said_of_the_others() {
    for was_looked_at in [true, false] {
        let node = with_line(XID_79);
        if was_looked_at {
            assert_eq!(look(&node).code, 2);
        }
        let run = with_state(&node, "admit", &[&["--devices", "1"][..], &SHORT].concat());
        assert_eq!(run.code, 2, "{was_looked_at}: {}", run.stderr);
        assert!(run.stderr.contains(XID_79_ID), "{}", run.stderr);
        assert_eq!(look(&node).code, 2, "{was_looked_at}");
    }
}

/// A node without a daemon stays one on which a run of these knows of no earlier line.
#[test]
fn a_probe_begins_no_ledger() {
    let node = Node::with(&Scenario::healthy(2));
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    log(&node, 9, XID_79);
    let probe = with_state(&node, "probe", &[]);
    assert_eq!(probe.code, 0, "{}", probe.stderr);
    assert!(!node.path("state/ledger.json").try_exists().unwrap());
}
