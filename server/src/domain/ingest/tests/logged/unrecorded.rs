//! Xids and SXids that no record has, in reports without a ledger.

use super::*;
use crate::feed::samples::document;

const UNCORRECTABLE: &str =
    "[    5.0] NVRM: Xid (PCI:0000:01:00): 180, Uncorrectable fatal error, GPU requires reset";
const FATAL: &str = "[    5.0] NVRM: Xid (PCI:0000:01:00): 999, NETIR Fatal XC0";
const SWITCH: &str =
    "[    5.0] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 29999, Fatal, Link 24 something new";
const MILD_SWITCH: &str =
    "[    5.0] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 29999, Non-fatal, Link 24 something new";

fn rules(accepted: &Accepted) -> Vec<&str> {
    let findings = accepted.findings.iter();
    findings.map(|stored| stored.finding.rule.as_str()).collect()
}

#[tokio::test]
async fn one_before_the_run_is_a_warning_and_a_fault_where_the_driver_calls_it_fatal() {
    for (line, rule, verdict) in [
        (UNCORRECTABLE, "xid/unknown-180", Verdict::Degraded),
        (FATAL, "xid/unknown-999", Verdict::Broken),
        (SWITCH, "sxid/unknown-29999", Verdict::Broken),
        (MILD_SWITCH, "sxid/unknown-29999", Verdict::Degraded),
    ] {
        let door = door_with(&[XID_79]).await;
        let accepted = door.send(&with_line("told", 10, ("before", line))).await.unwrap();
        assert_eq!(accepted.verdict, verdict, "{line}");
        assert_eq!(rules(&accepted), [rule], "{line}");
        let finding = &accepted.findings[0].finding;
        assert!(finding.title.contains("Xid (PCI:"), "{}", finding.title);
        // A run that could not read the log does not end it, and one that could does.
        door.send(&run("unread", 20, &[0, 1], false)).await.unwrap();
        let (id, standing_verdict, _) = standing(&door).await;
        assert_eq!((id.as_str(), standing_verdict), ("told", verdict), "{line}");
        door.send(&readable(run("read", 30, &[0, 1], false)))
            .await
            .unwrap();
        let (id, standing_verdict, _) = standing(&door).await;
        assert_eq!(
            (id.as_str(), standing_verdict),
            ("read", Verdict::Healthy),
            "{line}"
        );
    }
}

#[tokio::test]
async fn one_during_the_run_is_a_finding_too() {
    let door = door_with(&[XID_79]).await;
    let accepted = door
        .send(&with_line("told", 10, ("during", FATAL)))
        .await
        .unwrap();
    assert_eq!(accepted.verdict, Verdict::Broken);
    assert!(rules(&accepted).contains(&"xid/unknown-999"));
}

#[tokio::test]
async fn what_a_ledger_a_record_or_another_machine_tells_stays_as_it_is() {
    let door = door_with(&[XID_79]).await;
    let mut of_ledger = with_line("ledger", 10, ("before", FATAL));
    of_ledger["health"] = json!({ "verdict": "no_fault_seen", "open": [], "whole_node": true });
    let mut converted = with_line("converted", 20, ("before", FATAL));
    converted["host"] = json!({ "convert.tools": { "value": "nvbandwidth", "source": "the text" } });
    let of_application = "[    5.0] NVRM: Xid (PCI:0000:01:00): 31, pid=7, name=x, MMU Fault";
    for report in [
        of_ledger,
        converted,
        with_line("application", 30, ("before", of_application)),
    ] {
        let accepted = door.send(&report).await.unwrap();
        assert_eq!(rules(&accepted), [""; 0], "{}", report["report_id"]);
        assert_eq!(accepted.verdict, Verdict::Healthy, "{}", report["report_id"]);
    }
    // A record of the site is about it.
    let mut own = document("test/own-xid", "NETIR Fatal XC0");
    own["regex"] = json!("NETIR Fatal XC0");
    let annex = json!({ "schema_version": 1 });
    let mut door = Door::open().await;
    door.generation = generation_of(&[(own.to_string(), annex.to_string())]);
    let accepted = door
        .send(&with_line("known", 10, ("before", FATAL)))
        .await
        .unwrap();
    assert!(
        rules(&accepted).iter().all(|rule| !rule.contains("unknown-")),
        "{:?}",
        rules(&accepted)
    );
}

#[tokio::test]
async fn one_whose_record_is_not_published_here_is_told() {
    let door = door_with(&[XID_63]).await;
    let line = "[    5.0] NVRM: Xid (PCI:0000:01:00): 79, pid=7, GPU has fallen off the bus.";
    let accepted = door.send(&with_line("told", 10, ("before", line))).await.unwrap();
    assert_eq!(accepted.verdict, Verdict::Broken);
    assert_eq!(rules(&accepted), ["xid/unknown-79"]);
}
