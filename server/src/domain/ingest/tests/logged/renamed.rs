//! Records that were renamed, and policies that name them by one id or the other.

use super::*;
use crate::feed::samples::renamed;

const XID_31: (&str, &str) = (
    include_str!("../../../../../../kb-seed/xid/31-mmu-fault.json"),
    include_str!("../../../../../../kb-seed/xid/31-mmu-fault.ext.json"),
);
const PAGE_FAULT: &str = "[  5.0] NVRM: Xid (PCI:0000:01:00): 31, pid=12, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE \
     GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f1c_3e000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ";
const LOST: &str =
    "[  5.0] NVRM: Xid (PCI:0000:01:00): 79, pid=12, name=python3, GPU has fallen off the bus.";

fn rule(code: &str, is: &str) -> String {
    format!("[[rule]]\ncode = \"{code}\"\nis = \"{is}\"\nreason = \"ours\"\n")
}

#[tokio::test]
async fn a_rule_is_about_its_record_under_each_id_that_it_has_or_had() {
    let (old, new) = ("xid/31-mmu-fault", "xid/31-renamed");
    for records in [[owned(XID_31)], [renamed(XID_31, new)]] {
        for code in [old, new, "xid 31"] {
            let is_known = code != new || records != [owned(XID_31)];
            let door = door_by(&records, &rule(code, "fault"), &[old, new]).await;
            let expected = if is_known {
                Verdict::Broken
            } else {
                Verdict::Healthy
            };
            let of_log = with_line("log", 10, ("before", PAGE_FAULT));
            assert_eq!(door.send(&of_log).await.unwrap().verdict, expected, "log, {code}");
            // Ledgers have the id that agents know.
            let mut of_ledger = run("ledger", 10, &[0, 1], false);
            of_ledger["node"]["id"] = json!("another");
            of_ledger["health"] = json!({ "verdict": "no_fault_seen", "open": [{
                "id": "xid-31@0000:01:00.0", "cause": "xid", "nature": "event", "bearing": "event", "device": "0000:01:00.0",
                "number": 31, "record": old, "count": 1, "first_at": "2026-11-21T07:00:00Z",
                "last_at": "2026-11-21T07:00:00Z", "text": "x" }] });
            assert_eq!(
                door.send(&of_ledger).await.unwrap().verdict,
                expected,
                "ledger, {code}"
            );
        }
    }
}

/// It was taken before the record was renamed.
#[tokio::test]
async fn no_rule_makes_less_of_a_lost_gpu_whatever_its_record_is_called() {
    let (old, new) = ("xid/79-gpu-has-fallen-off-the-bus", "xid/79-renamed");
    // One of its own, of which only the code tells what it is.
    let mut own: Value = serde_json::from_str(XID_79.0).unwrap();
    own["id"] = json!(new);
    let own = (own.to_string(), XID_79.1.to_owned());
    for record in [renamed(XID_79, new), own] {
        for is in ["ignore", "event", "warning"] {
            let door = door_by(std::slice::from_ref(&record), &rule(new, is), &[old, new]).await;
            let accepted = door.send(&with_line("told", 10, ("before", LOST))).await.unwrap();
            assert_eq!(accepted.verdict, Verdict::Broken, "{is}");
        }
    }
}
