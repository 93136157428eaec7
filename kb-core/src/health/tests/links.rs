//! NVLinks that were up earlier in a boot.

use super::*;
use crate::report::Verdict;

/// A look at two GPUs of which each has so many links up, by a driver that calls all others not valid.
fn up(boot: &str, links: [u64; 2]) -> Report {
    let mut report = looked(boot);
    for (gpu, links) in links.into_iter().enumerate() {
        set(&mut report, gpu, "nvlink.links_active", json!(links));
        set(&mut report, gpu, "nvlink.links_expected", json!(links));
    }
    report
}

#[test]
fn links_that_were_up_in_this_boot_should_be_up() {
    for now in [0, 1, 9, 17] {
        let mut ledger = Ledger::default();
        assert_eq!(
            look(&mut ledger, &up("a", [18, 18]), &[]).verdict,
            Verdict::NoFaultSeen
        );
        let health = look(&mut ledger, &up("a", [now, now]), &[]);
        assert_eq!(health.verdict, Verdict::Degraded, "{now}");
        let entry = &health.open[0];
        assert_eq!(
            (entry.cause.as_str(), entry.device.as_str()),
            ("links_down", GPU_0)
        );
        assert_eq!(
            entry.text,
            format!("{now} of 18 NVLinks are up; 18 were earlier in this boot")
        );
        // From a file, and once more.
        let mut kept = Ledger::from_json(&ledger.to_json().unwrap()).unwrap();
        let health = look(&mut kept, &up("a", [now, now]), &[]);
        assert_eq!((health.open.len(), health.open[0].count), (2, 2));
        let health = look(&mut kept, &up("a", [18, 18]), &[]);
        assert_eq!(health.open, []);
    }
}

#[test]
fn a_warning_about_links_is_not_closed_by_more_links_that_go_down() {
    let mut ledger = Ledger::default();
    look(&mut ledger, &looked("a"), &[]);
    let mut half = looked("a");
    set(&mut half, 0, "nvlink.links_active", json!(9));
    let first = look(&mut ledger, &half, &[]);
    assert_eq!(only(&first).text, "9 of 18 NVLinks are up");
    // None is expected where all are down and no NVSwitch is seen: the look does not judge them.
    let mut none = up("a", [0, 18]);
    gap(
        &mut none,
        0,
        "nvlink.links_expected",
        GapKind::NotVisible,
        "no bridge is seen",
    );
    for (report, count) in [(up("a", [1, 18]), 2), (none, 3)] {
        let health = look(&mut ledger, &report, &[]);
        assert_eq!(
            (only(&health).cause.as_str(), only(&health).count),
            ("links_down", count)
        );
    }
}

#[test]
fn another_boot_mig_and_a_clear_begin_anew() {
    let mut ledger = Ledger::default();
    look(&mut ledger, &up("a", [18, 12]), &[]);
    let health = look(&mut ledger, &up("b", [0, 12]), &[]);
    assert_eq!(health.verdict, Verdict::NoFaultSeen, "a bridge can be taken out");

    look(&mut ledger, &up("b", [18, 12]), &[]);
    let mut split = up("b", [0, 12]);
    set(&mut split, 0, "mig.mode", json!("enabled"));
    let health = look(&mut ledger, &split, &[]);
    assert_eq!(health.verdict, Verdict::NoFaultSeen, "MIG switches links off");

    assert_eq!(
        look(&mut ledger, &up("b", [0, 12]), &[]).verdict,
        Verdict::Degraded
    );
    ledger
        .clear("links_down", "switched off", "me", "2026-11-24T10:00:00Z")
        .unwrap();
    let health = look(&mut ledger, &up("b", [0, 12]), &[]);
    assert_eq!(health.verdict, Verdict::NoFaultSeen, "a person says so");
}

#[test]
fn a_ledger_of_an_older_agent_is_read() {
    let mut ledger = Ledger::default();
    look(&mut ledger, &up("a", [18, 18]), &[]);
    let mut old: Value = serde_json::from_slice(&ledger.to_json().unwrap()).unwrap();
    let fields = old.as_object_mut().unwrap();
    assert!(fields.remove("links").is_some() && fields.remove("links_boot").is_some());
    let mut ledger = Ledger::from_json(old.to_string().as_bytes()).unwrap();
    assert_eq!(
        look(&mut ledger, &up("a", [9, 9]), &[]).verdict,
        Verdict::NoFaultSeen
    );
}
