//! What a run found in the kernel log is in the ledger, as if a look had found it.

use std::fs;

use fake_gpu::Scenario;
use fake_gpu::scenario::Condition;

use crate::node::{Node, Run};
use crate::passive::{GPU, daemon, looked, metrics, node, xid};
use crate::tree::{device, write};
use crate::unkept::{FAULT, assert_fault, bare, log, run};

const BOOT: &str = "host/proc/sys/kernel/random/boot_id";
const OTHER: &str = "0000:00:09.0";

/// A node that has been looked at, whose kernel has then written a line.
fn behind(message: &str) -> Node {
    let node = node(Condition::default());
    assert_eq!(daemon(&node, &[]).code, 0);
    log(&node, 1, message);
    node
}

fn lost() -> Node {
    behind(&xid(79, "GPU has fallen off the bus."))
}

fn status(node: &Node) -> Run {
    bare(node, "status", &["--passive"])
}

fn count_of(node: &Node, id: &str) -> u64 {
    let health = looked(node).health.unwrap();
    let entry = health.open.iter().find(|entry| entry.id == id);
    entry.map_or(0, |entry| entry.count)
}

#[test]
fn what_a_run_found_in_the_log_is_told_everywhere_and_once() {
    let sxid = "nvidia-nvswitch2: SXid (PCI:0000:c5:00.0): 20034, Fatal, Link 30 LTSSM Fault Up".to_owned();
    let fatal =
        format!("pcieport 0000:00:01.0: AER: Uncorrectable (Fatal) error message received from {GPU}");
    for (verb, arguments, line, id) in [
        (
            "probe",
            &[][..],
            xid(79, "GPU has fallen off the bus."),
            FAULT.to_owned(),
        ),
        ("probe", &["--devices", "0"], xid(79, "x"), FAULT.to_owned()),
        ("report", &["--print"], sxid, "sxid-20034@0000:c5:00.0".to_owned()),
        (
            "probe",
            &[],
            fatal,
            format!("kernel_message-aer-uncorrected@{GPU}"),
        ),
    ] {
        let node = behind(&line);
        let made = run(&node, verb, arguments);
        assert_eq!(made.code, 2, "{verb} {line}: {}", made.stderr);
        let told = status(&node);
        assert!(
            told.code == 2 && told.stdout.contains(&id),
            "{verb}: {}",
            told.stdout
        );
        assert_eq!(bare(&node, "gate", &["condition"]).code, 1, "{verb}");
        let look = daemon(&node, &[]);
        assert!(
            look.code == 2 && look.stderr.contains(&id),
            "{verb}: {}",
            look.stderr
        );
        assert_eq!(count_of(&node, &id), 1, "{verb}");
        assert!(
            metrics(&node).contains("peerless_agent_fault{"),
            "{}",
            metrics(&node)
        );
        // Whoever looks again finds the same.
        assert_eq!(run(&node, verb, arguments).code, 2);
        assert_eq!(daemon(&node, &[]).code, 2);
        assert_eq!(count_of(&node, &id), 1, "{verb}");
    }
}

#[test]
fn what_a_run_found_outlives_a_boot_before_the_next_look() {
    let node = lost();
    assert_fault(&run(&node, "probe", &[]), "probe");
    write(&node.path(""), BOOT, "9f1b2c3d-0000-4000-8000-000000000002\n");
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    let look = daemon(&node, &[]);
    assert_fault(&look, "look");
    assert!(look.stderr.contains("never proven here"), "{}", look.stderr);
    assert_fault(&status(&node), "status");
    assert_fault(&run(&node, "probe", &[]), "probe");
}

#[test]
fn what_a_run_found_outlives_the_line_in_the_log() {
    let node = lost();
    assert_fault(&run(&node, "probe", &[]), "probe");
    log(&node, 2, "hello");
    assert_fault(&run(&node, "probe", &[]), "second probe");
    assert_fault(&daemon(&node, &[]), "look");
    let open = looked(&node).health.unwrap().open;
    assert!(open.iter().all(|entry| entry.cause == "xid"), "{open:?}");
}

/// A cleared fault is not read again: the run has moved the place in the log.
#[test]
fn what_was_cleared_behind_a_run_stays_cleared() {
    let node = lost();
    assert_fault(&run(&node, "probe", &[]), "probe");
    let clear = bare(&node, "clear", &["xid", "--reason", "exchanged", "--by", "anna"]);
    assert_eq!(clear.code, 0, "{}", clear.stderr);
    assert_eq!(daemon(&node, &[]).code, 0);
    assert_eq!(run(&node, "probe", &[]).code, 0);
    let told = status(&node);
    assert_eq!(told.stdout, "no fault seen: last proof 0 min ago\n");
}

/// A run over some GPUs reads the line about a bridge of another one.
#[test]
fn a_fatal_line_about_a_gpu_that_a_run_was_not_about_is_noted() {
    let bridge = "0000:00:01.0";
    let node = Node::with(&Scenario::healthy(4));
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    let host = node.path("host");
    device(&host, &[bridge, OTHER]);
    assert_eq!(daemon(&node, &[]).code, 0);
    log(
        &node,
        1,
        &format!("pcieport 0000:00:00.1: AER: Uncorrectable (Fatal) error message received from {bridge}"),
    );
    let made = run(&node, "probe", &["--devices", "0,1"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let id = format!("kernel_message-aer-uncorrected@{OTHER}");
    assert!(status(&node).stdout.contains(&id), "{}", status(&node).stdout);
    assert_eq!(daemon(&node, &[]).code, 2);
    assert_eq!(count_of(&node, &id), 1);
}

/// A log of syslog's, which is put aside between the look and the run.
#[test]
fn a_run_goes_on_in_a_log_that_was_rotated() {
    let node = node(Condition::default());
    fs::remove_file(node.path("host/dev/kmsg")).unwrap();
    let root = node.path("");
    let first = "Nov 24 10:00:00 gpu-17 kernel: [    0.000000] Linux version 6.8.0\n";
    write(&root, "host/var/log/kern.log", first);
    assert_eq!(daemon(&node, &[]).code, 0);
    let fault = format!("Nov 24 10:01:00 gpu-17 kernel: [   60.000000] {}\n", xid(79, "x"));
    let log = node.path("host/var/log/kern.log");
    fs::write(&log, format!("{first}{fault}")).unwrap();
    fs::rename(&log, node.path("host/var/log/kern.log.1")).unwrap();
    let next = "Nov 24 10:02:00 gpu-17 kernel: [  120.000000] hello\n";
    write(&root, "host/var/log/kern.log", next);
    assert_fault(&run(&node, "probe", &[]), "probe");
    assert_fault(&daemon(&node, &[]), "look");
    assert_eq!(count_of(&node, FAULT), 1);
    let open = looked(&node).health.unwrap().open;
    assert!(open.iter().all(|entry| entry.cause == "xid"), "{open:?}");
}
