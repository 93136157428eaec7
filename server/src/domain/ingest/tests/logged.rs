//! What the kernel log of a report says beside its verdict.

use serde_json::json;

use super::*;

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
