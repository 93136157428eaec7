//! What the kernel log of a report says beside its verdict.

mod counts;
mod meanwhile;
mod renamed;
mod rules;
mod unread;
mod unrecorded;

use serde_json::json;

use super::*;
use crate::domain::policy::{Stages, file};

const GSP_MESSAGES: (&str, &str) = (
    include_str!("../../../../../kb-seed/driver/gsp-messages-corrupt.json"),
    include_str!("../../../../../kb-seed/driver/gsp-messages-corrupt.ext.json"),
);

const XID_63: (&str, &str) = (
    include_str!("../../../../../kb-seed/xid/63-row-remapping-event.json"),
    include_str!("../../../../../kb-seed/xid/63-row-remapping-event.ext.json"),
);
const XID_79: (&str, &str) = (
    include_str!("../../../../../kb-seed/xid/79-gpu-has-fallen-off-the-bus.json"),
    include_str!("../../../../../kb-seed/xid/79-gpu-has-fallen-off-the-bus.ext.json"),
);

/// A door that knows these records.
async fn door_with(records: &[(&str, &str)]) -> Door {
    let mut door = Door::open().await;
    let texts: Vec<(String, String)> = records
        .iter()
        .map(|(document, annex)| ((*document).to_owned(), (*annex).to_owned()))
        .collect();
    door.generation = generation_of(&texts);
    door
}

/// The same by this policy, which may name these records.
async fn door_by(texts: &[(String, String)], policy: &str, names: &[&str]) -> Door {
    let mut door = Door::open().await;
    door.generation = generation_of(texts);
    door.correlator = Arc::new(Correlator::by(Arc::new(Stages {
        current: file::read(policy, names).unwrap(),
        candidate: None,
    })));
    door
}

fn owned((document, annex): (&str, &str)) -> (String, String) {
    (document.to_owned(), annex.to_owned())
}

/// A run that could read the kernel log.
fn readable(mut run: Value) -> Value {
    run["host"] = json!({ "kernel_log.readable": { "value": true, "source": "kmsg" } });
    run
}

/// A run that says healthy, with this line in its log.
fn with_line(id: &str, minute: u8, (when, line): (&str, &str)) -> Value {
    let mut run = run(id, minute, &[0, 1], false);
    run["logs"] = json!([{ "source": "kmsg", "when": when, "text": line }]);
    run
}

#[tokio::test]
async fn the_verdict_is_the_worst_that_a_report_without_a_ledger_shows() {
    let lost = "[  9.0] NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";
    let remapped = "[  9.0] NVRM: Xid (PCI:0000:01:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping";
    let harmless = "[  9.0] usb 1-1: new high-speed USB device number 2";
    for (when, line, verdict) in [
        ("before", lost, Verdict::Broken),
        ("during", lost, Verdict::Broken),
        ("before", remapped, Verdict::Degraded),
        ("during", remapped, Verdict::Degraded),
        ("during", harmless, Verdict::Healthy),
    ] {
        let door = door_with(&[XID_63, XID_79]).await;
        let accepted = door.send(&with_line("told", 10, (when, line))).await.unwrap();
        assert_eq!(accepted.verdict, verdict, "{when} {line}");
        let nodes = door.store.nodes(&NodeQuery::first(1)).await.unwrap();
        let node = &nodes[0];
        assert_eq!(
            (node.summary.verdict, node.latest.verdict),
            (verdict, verdict),
            "{when} {line}"
        );
        // A good run that could read its log, which tells nothing of it, ends it.
        let after = readable(run("after", 20, &[0, 1], false));
        assert_eq!(
            door.send(&after).await.unwrap().verdict,
            Verdict::Healthy,
            "{when} {line}"
        );
        assert_eq!(standing(&door).await.0, "after", "{when} {line}");
    }
}

#[tokio::test]
async fn a_ledger_decides_what_is_open_of_what_was_logged() {
    let lost = "[  9.0] NVRM: Xid (PCI:0000:01:00): 79, pid=7, name=x, GPU has fallen off the bus.";
    let door = door_with(&[XID_79]).await;
    let mut cleared = with_line("cleared", 10, ("before", lost));
    cleared["health"] = json!({ "verdict": "no_fault_seen", "open": [], "whole_node": true });
    assert_eq!(door.send(&cleared).await.unwrap().verdict, Verdict::Healthy);
}

#[tokio::test]
async fn health_beside_a_fault_in_its_own_kernel_log_is_none() {
    let mut door = Door::open().await;
    door.generation = generation_of(&[(GSP_MESSAGES.0.to_owned(), GSP_MESSAGES.1.to_owned())]);
    let healthy = report(2, &[proven(0, 1)]);
    let with_log = |when: &str, line: &str, id: &str| {
        let mut report = healthy.clone();
        report["report_id"] = json!(id);
        report["logs"] = json!([{ "source": "kmsg", "when": when, "text": line }]);
        report
    };
    let line = "NVRM: GPU0 GspMsgQueueReceiveStatus: Bad checksum.";
    for (when, line, id, expected) in [
        (
            "before",
            line,
            "00000000-0000-4000-8000-0000000000a1",
            Verdict::Broken,
        ),
        (
            "during",
            line,
            "00000000-0000-4000-8000-0000000000a3",
            Verdict::Broken,
        ),
    ] {
        let accepted = door.send(&with_log(when, line, id)).await.unwrap();
        assert_eq!(accepted.verdict, expected, "{when} {line}");
    }
}
