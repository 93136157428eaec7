//! Reports that could not read the log in which a fault or a warning was told.

use super::*;
use crate::domain::ingest::tests::looks::as_run;

const LOST: &str =
    "[  9.0] NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";
const REMAPPED: &str = "[  9.0] NVRM: Xid (PCI:0000:01:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping";

/// What the host facts of a report say that could not read the log, or does not say whether it could.
fn unread() -> [Value; 3] {
    [
        json!({}),
        json!({ "kernel_log.readable": { "value": false, "source": "kmsg" } }),
        json!({ "kernel_log.readable": { "source": "kmsg", "gap": { "kind": "not_visible", "reason": "Permission denied" } } }),
    ]
}

fn after(id: &str, minute: u8, host: &Value) -> Value {
    let mut after = run(id, minute, &[0, 1], false);
    after["host"] = host.clone();
    after
}

#[tokio::test]
async fn a_run_that_could_not_read_the_log_ends_no_fault_of_it() {
    for when in ["before", "during"] {
        for host in unread() {
            let told = readable(with_line("told", 10, (when, LOST)));
            let reports = [told, after("after", 20, &host)];
            for order in [[0, 1], [1, 0]] {
                let door = door_with(&[XID_79]).await;
                for place in order {
                    door.send(&reports[place]).await.unwrap();
                }
                let (id, verdict, _) = standing(&door).await;
                assert_eq!(
                    (id.as_str(), verdict),
                    ("told", Verdict::Broken),
                    "{when} {order:?} {host}"
                );
                // What is known at the door stands in the list of reports.
                if order == [0, 1] {
                    let good = door.store.report(None, &"after".parse().unwrap()).await.unwrap();
                    let listing = good.unwrap().listing;
                    assert_eq!(listing.verdict, Verdict::Unknown, "{when} {host}");
                    let told = "the kernel log, which told of it, was not read";
                    assert!(listing.reason.contains(told), "{}", listing.reason);
                }
                let read = readable(run("read", 30, &[0, 1], false));
                assert_eq!(door.send(&read).await.unwrap().verdict, Verdict::Healthy);
                assert_eq!(standing(&door).await.0, "read");
            }
        }
    }
}

#[tokio::test]
async fn a_warning_of_a_log_that_was_not_read_again_is_carried_on() {
    for host in unread() {
        let door = door_with(&[XID_63]).await;
        let told = readable(with_line("told", 10, ("before", REMAPPED)));
        assert_eq!(door.send(&told).await.unwrap().verdict, Verdict::Degraded);
        let accepted = door.send(&after("after", 20, &host)).await.unwrap();
        assert_eq!(accepted.verdict, Verdict::Healthy, "{host}");
        let (id, verdict, _) = standing(&door).await;
        assert_eq!((id.as_str(), verdict), ("told", Verdict::Degraded), "{host}");
    }
}

#[tokio::test]
async fn nor_does_a_run_over_the_one_gpu_of_a_node_end_it() {
    let of_one = |id: &str, minute: u8| {
        let mut one = as_run(run(id, minute, &[0], false));
        one["conclusion"] = json!({ "verdict": "no_fault_seen", "exit_code": 0, "reason": "no fault seen" });
        one
    };
    let door = door_with(&[XID_79]).await;
    let mut told = readable(of_one("told", 10));
    told["logs"] = json!([{ "source": "kmsg", "when": "before", "text": LOST }]);
    door.send(&told).await.unwrap();
    door.send(&of_one("after", 20)).await.unwrap();
    assert_eq!(standing(&door).await.1, Verdict::Broken);
    door.send(&readable(of_one("read", 30))).await.unwrap();
    assert_ne!(standing(&door).await.1, Verdict::Broken);
}
