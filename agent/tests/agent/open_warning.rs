//! A warning that the ledger holds open is told by a run that was good, as by every look.

use fake_gpu::Scenario;
use fake_gpu::scenario::Condition;

use crate::admit;
use crate::node::{Node, Run};
use crate::passive::{GPU, daemon, looked, metrics, node, xid};
use crate::tree::write;
use crate::unkept::{bare, log, run};
use kb_core::report::Report;
use kb_core::verdict::{Verdict, contradiction};

const TEXT: &str = "Row Remapper: New row marked for remapping.";

fn id() -> String {
    format!("xid-63@{GPU}")
}

/// A node whose kernel has told of a row that was remapped.
fn warned() -> Node {
    let node = node(Condition::default());
    assert_eq!(daemon(&node, &[]).code, 0);
    log(&node, 1, &xid(63, TEXT));
    assert_eq!(daemon(&node, &["--fail-on", "warning"]).code, 1);
    node
}

fn told(run: &Run, of: &str) {
    assert_eq!(run.code, 1, "{of}: {}{}", run.stdout, run.stderr);
    let all = run.stdout.clone() + &run.stderr;
    assert!(all.contains(TEXT) && all.contains(GPU), "{of}: {all}");
}

#[test]
fn a_good_run_of_the_same_boot_tells_the_warning_that_it_does_not_end() {
    let node = warned();
    let made = run(&node, "probe", &["--fail-on", "warning"]);
    told(&made, "probe");
    let line = format!("degraded: {}", id());
    assert!(made.stdout.contains(&line), "{}", made.stdout);
    let code = run(&node, "probe", &["--fail-on", "fault"]).code;
    assert_eq!(code, 0, "a warning fails no run that does not ask for it");
    let made = run(&node, "report", &["--print", "--fail-on", "unknown"]);
    told(&made, "report");
    let report: Report = serde_json::from_str(&made.stdout).unwrap();
    assert_eq!(
        (report.conclusion.verdict, report.conclusion.exit_code),
        (Verdict::Healthy, 1)
    );
    let (verdict, why) = contradiction(&report).unwrap();
    assert_eq!(verdict, Verdict::Degraded);
    assert!(why.contains("xid is open"), "{why}");
}

#[test]
fn a_run_over_other_gpus_does_not_meet_it() {
    let node = Node::with(&Scenario::healthy(4));
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    assert_eq!(daemon(&node, &[]).code, 0);
    log(&node, 1, &xid(63, TEXT));
    let other = run(&node, "probe", &["--devices", "2,3", "--fail-on", "warning"]);
    assert_eq!(other.code, 0, "{}{}", other.stdout, other.stderr);
    told(
        &run(&node, "probe", &["--devices", "0,1", "--fail-on", "warning"]),
        "probe",
    );
}

#[test]
fn daemon_status_and_textfile_tell_it_behind_a_proof() {
    let node = warned();
    let proof = daemon(
        &node,
        &[
            "--active",
            "--idle-minutes",
            "0",
            "--active-every",
            "0",
            "--fail-on",
            "warning",
        ],
    );
    told(&proof, "daemon");
    for arguments in [
        &["--fail-on", "warning"][..],
        &["--passive", "--fail-on", "warning"],
    ] {
        let status = bare(&node, "status", arguments);
        told(&status, "status");
        assert!(status.stdout.starts_with("degraded"), "{}", status.stdout);
    }
    assert!(
        metrics(&node).contains("peerless_agent_warning{cause=\"xid\","),
        "{}",
        metrics(&node)
    );
    assert_eq!(
        bare(&node, "clear", &["xid", "--reason", "seen", "--by", "anna"]).code,
        0
    );
    assert_eq!(daemon(&node, &["--fail-on", "warning"]).code, 0);
    assert_eq!(bare(&node, "status", &["--fail-on", "warning"]).code, 0);
    assert_eq!(run(&node, "probe", &["--fail-on", "warning"]).code, 0);
    assert!(looked(&node).health.unwrap().open.is_empty());
}

/// What the run did not meet keeps no node from its jobs, and is told.
#[test]
fn an_admission_tells_the_warning_that_it_does_not_end() {
    let node = admit::node(admit::healthy);
    assert_eq!(daemon(&node, &[]).code, 0);
    admit::append(&node, &format!("3,1,1,-;{}\n", xid(63, TEXT)));
    let (report, run) = admit::admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains(&format!("warning still open: {}", id())),
        "{}",
        run.stderr
    );
    assert_eq!(report.conclusion.exit_code, 1);
    assert_eq!(bare(&node, "status", &["--fail-on", "warning"]).code, 1);
}

/// Times of the clock may lie: the server holds a clear against an event by their places in the ledger.
#[test]
fn a_clear_stands_behind_the_event_in_the_order_of_the_ledger() {
    let node = warned();
    let event = looked(&node).health.unwrap().open[0].order.clone().unwrap();
    assert_eq!(
        bare(&node, "clear", &["xid", "--reason", "seen", "--by", "anna"]).code,
        0
    );
    assert_eq!(daemon(&node, &[]).code, 0);
    let clear = looked(&node).health.unwrap().clears[0].order.clone().unwrap();
    assert_eq!(clear.is_after(&event), Some(true), "{event:?} {clear:?}");
    log(&node, 2, &xid(63, TEXT));
    assert_eq!(daemon(&node, &["--fail-on", "warning"]).code, 1);
    let again = looked(&node).health.unwrap().open[0].order.clone().unwrap();
    assert_eq!(again.is_after(&clear), Some(true), "{clear:?} {again:?}");
}
