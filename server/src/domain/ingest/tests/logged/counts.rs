//! Rules with a count, and reports that tell how often.

use super::*;

const RECORD: &str = "driver/gsp-messages-corrupt";

/// A fault from three in a day on.
fn from_three(code: &str) -> String {
    format!("[[rule]]\ncode = \"{code}\"\nis = \"fault\"\ncount = 3\nwindow = \"24h\"\nreason = \"ours\"\n")
}

/// A run with this message in its log, once at each of these seconds.
fn with_lines(id: &str, (when, seconds, message): (&str, &[u32], &str)) -> Value {
    let lines = seconds
        .iter()
        .map(|second| format!("[{second:5}.000000] {message}"));
    let lines: Vec<String> = lines.collect();
    with_line(id, 10, (when, &lines.join("\n")))
}

/// One line of the record is a fault from the third time: the report's ledger says how often it was seen, and else its log.
#[tokio::test]
async fn a_rule_with_a_count_is_reached_where_the_reports_ledger_or_its_log_says_so() {
    let message = "NVRM: GPU0 GspMsgQueueReceiveStatus: Bad checksum.";
    let door = door_by(&[owned(GSP_MESSAGES)], &from_three(RECORD), &[RECORD]).await;
    for (with_ledger, seconds, expected) in [
        (true, &[5][..], Verdict::Healthy),
        (true, &[5, 6, 7][..], Verdict::Healthy),
        (false, &[5][..], Verdict::Healthy),
        (false, &[5, 6, 7][..], Verdict::Broken),
    ] {
        let id = format!("ledger-{with_ledger}-{}", seconds.len());
        let mut told = with_lines(&id, ("during", seconds, message));
        if with_ledger {
            told["health"] = json!({ "verdict": "no_fault_seen", "open": [{
                "id": "kernel_message@node", "cause": "kernel_message", "nature": "event", "bearing": "event",
                "device": "node", "record": RECORD, "count": 1, "first_at": "2026-11-21T07:00:00Z",
                "last_at": "2026-11-21T07:00:00Z", "text": "x", "times": ["2026-11-21T07:00:00Z"],
                "by_policy": { "rule": 1, "is": "event", "was": "fault", "reason": "ours" } }] });
        }
        let accepted = door.send(&told).await.unwrap();
        assert_eq!(accepted.verdict, expected, "ledger: {with_ledger}, {seconds:?}");
    }
}

#[tokio::test]
async fn below_its_count_a_line_of_the_log_is_an_event() {
    let message = "NVRM: Xid (PCI:0000:01:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping";
    for when in ["before", "during"] {
        for (seconds, expected) in [
            (&[5][..], Verdict::Healthy),
            (&[5, 15][..], Verdict::Healthy),
            (&[5, 15, 25][..], Verdict::Broken),
            (&[5, 15, 90_000][..], Verdict::Healthy),
        ] {
            let door = door_by(&[owned(XID_63)], &from_three("xid 63"), &[]).await;
            let told = with_lines("told", (when, seconds, message));
            let accepted = door.send(&told).await.unwrap();
            assert_eq!(accepted.verdict, expected, "{when} {seconds:?}");
        }
    }
}
