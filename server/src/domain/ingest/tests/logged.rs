//! What the kernel log of a report says beside its verdict.

use serde_json::json;

use super::*;
use crate::domain::policy::{Stages, file};

const GSP_MESSAGES: (&str, &str) = (
    include_str!("../../../../../kb-seed/driver/gsp-messages-corrupt.json"),
    include_str!("../../../../../kb-seed/driver/gsp-messages-corrupt.ext.json"),
);

#[tokio::test]
async fn health_beside_a_fault_in_its_own_kernel_log_is_unknown() {
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
            Verdict::Healthy,
        ),
        (
            "during",
            "usb 1-1: GspMsgQueueReceiveStatus: Bad checksum.",
            "00000000-0000-4000-8000-0000000000a2",
            Verdict::Healthy,
        ),
        (
            "during",
            line,
            "00000000-0000-4000-8000-0000000000a3",
            Verdict::Unknown,
        ),
    ] {
        let accepted = door.send(&with_log(when, line, id)).await.unwrap();
        assert_eq!(accepted.verdict, expected, "{when} {line}");
    }
}

/// One line of the record is a fault from the third time; the report's ledger says how often it was seen.
#[tokio::test]
async fn a_rule_with_a_count_is_reached_where_the_reports_ledger_says_so() {
    const RECORD: &str = "driver/gsp-messages-corrupt";
    let text = format!(
        "[[rule]]\ncode = \"{RECORD}\"\nis = \"fault\"\ncount = 3\nwindow = \"24h\"\nreason = \"ours\"\n"
    );
    let mut door = Door::open().await;
    door.generation = generation_of(&[(GSP_MESSAGES.0.to_owned(), GSP_MESSAGES.1.to_owned())]);
    door.correlator = Arc::new(Correlator::by(Arc::new(Stages {
        current: file::read(&text, &[RECORD]).unwrap(),
        candidate: None,
    })));
    let mut told = report(2, &[proven(0, 1)]);
    told["logs"] = json!([{ "source": "kmsg", "when": "during",
        "text": "NVRM: GPU0 GspMsgQueueReceiveStatus: Bad checksum." }]);
    for (with_ledger, expected) in [(true, Verdict::Healthy), (false, Verdict::Unknown)] {
        let mut told = told.clone();
        told["report_id"] = json!(format!("ledger-{with_ledger}"));
        if with_ledger {
            told["health"] = json!({ "verdict": "no_fault_seen", "open": [{
                "id": "kernel_message@node", "cause": "kernel_message", "nature": "event", "bearing": "event",
                "device": "node", "record": RECORD, "count": 1, "first_at": "2026-11-21T07:00:00Z",
                "last_at": "2026-11-21T07:00:00Z", "text": "x", "times": ["2026-11-21T07:00:00Z"],
                "by_policy": { "rule": 1, "is": "event", "was": "fault", "reason": "ours" } }] });
        }
        let accepted = door.send(&told).await.unwrap();
        assert_eq!(accepted.verdict, expected, "ledger: {with_ledger}");
    }
}
