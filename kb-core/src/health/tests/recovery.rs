//! Xid 154: what the driver wants done, and what ends it.

use serde_json::json;

use super::super::Ledger;
use super::{GPU_0, gap, look, looked, only, set, xid};
use crate::report::GapKind;
use crate::verdict::Verdict;

/// The line of an Xid 154.
fn to(action: &str) -> String {
    xid(
        GPU_0,
        &format!("154, GPU recovery action changed from 0x0 (None) to {action}"),
    )
}

#[test]
fn a_later_154_to_none_ends_an_earlier_154_only() {
    let mut ledger = Ledger::default();
    let mut report = looked("a");
    // A driver whose NVML does not tell it.
    gap(&mut report, 0, "recovery.action", GapKind::NotSupported, "no");
    let reset = to("0x1 (GPU Reset Required)");
    let none = to("0x0 (None)");
    let health = look(&mut ledger, &report, &[&none, &xid(GPU_0, "79, x"), &reset]);
    assert_eq!(health.open.len(), 2);
    let health = look(&mut ledger, &report, &[&none]);
    assert_eq!(only(&health).id, format!("xid-79@{GPU_0}"));
    let counted = health.counters.iter().find(|counter| counter.number == 154);
    assert_eq!(counted.unwrap().count, 3);
    // NVML's own word is newer than the log's.
    set(&mut report, 0, "recovery.action", json!("none"));
    assert_eq!(look(&mut ledger, &report, &[&reset]).open.len(), 1);
}

#[test]
fn a_recovery_action_that_is_not_known_stays_a_warning_whatever_nvml_says() {
    let mut ledger = Ledger::default();
    let mut report = looked("a");
    set(&mut report, 0, "recovery.action", json!("none"));
    let unknown = to("0x9 (Unknown)");
    let health = look(&mut ledger, &report, &[&unknown]);
    assert_eq!(health.verdict, Verdict::Degraded);
    assert_eq!(only(&health).id, format!("xid-154@{GPU_0}"));
    assert_eq!(look(&mut ledger, &report, &[]).verdict, Verdict::Degraded);
    // What NVML does not tell is a fault, as before.
    gap(&mut report, 0, "recovery.action", GapKind::NotSupported, "no");
    assert_eq!(look(&mut ledger, &report, &[&unknown]).verdict, Verdict::Broken);
    let health = look(&mut ledger, &report, &[&to("0x0 (None)")]);
    assert_eq!(health.verdict, Verdict::NoFaultSeen);
    // With a known action NVML's word is enough.
    set(&mut report, 0, "recovery.action", json!("none"));
    let known = look(&mut ledger, &report, &[&to("0x1 (GPU Reset Required)")]);
    assert_eq!(known.verdict, Verdict::NoFaultSeen);
}
