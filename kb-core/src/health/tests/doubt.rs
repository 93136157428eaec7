//! Lines of the kernel log that may be of this boot or of an earlier one.

use super::super::{
    Bearing, Health, Ledger, Look, Missed, Occurrence, health_by, needs_admission, read_line,
};
use super::{GPU_0, looked, only, xid};
use crate::policy::Policy;
use crate::policy::tests::rule;
use crate::report::{Meaning, Report};

fn look(ledger: &mut Ledger, report: &Report, line: &str, is_in_doubt: bool) -> Health {
    let mut look = Look::of_all(report);
    look.events = vec![Occurrence {
        event: read_line(line).unwrap(),
        at: report.finished_at.clone(),
        boot_id: report.node.boot_id.clone(),
        is_in_doubt,
    }];
    ledger.look(&look);
    ledger.health(look.unread)
}

#[test]
fn an_xid_whose_boot_is_in_doubt_stays_open_and_is_a_fault_once_one_is_certain() {
    let (mut ledger, report) = (Ledger::default(), looked("a"));
    let line = xid(GPU_0, "79, x");
    let bearing = |health: &Health| only(health).bearing;
    assert_eq!(
        bearing(&look(&mut ledger, &report, &line, true)),
        Bearing::Unknown
    );
    assert_eq!(bearing(&look(&mut ledger, &report, &line, false)), Bearing::Fault);
    assert_eq!(bearing(&look(&mut ledger, &report, &line, true)), Bearing::Fault);
}

#[test]
fn a_recovery_action_whose_boot_is_in_doubt_ends_none() {
    let (mut ledger, report) = (Ledger::default(), looked("a"));
    let to = |change: &str| {
        let message = format!("154, GPU recovery action changed from {change}");
        xid(GPU_0, &message)
    };
    let unknown = to("0x0 (None) to 0x5 (Recover IMEX Domain)");
    let none = to("0x5 (Recover IMEX Domain) to 0x0 (None)");
    let open = look(&mut ledger, &report, &unknown, false).open.len();
    assert!(open > 0);
    assert_eq!(look(&mut ledger, &report, &none, true).open.len(), open);
    assert!(look(&mut ledger, &report, &none, false).open.is_empty());
}

#[test]
fn a_fault_of_the_hardware_in_doubt_ends_as_one_that_is_certain() {
    let (mut ledger, report) = (Ledger::default(), looked("a"));
    let open = look(&mut ledger, &report, &xid(GPU_0, "79, x"), true);
    assert!(needs_admission(only(&open)));
    let mut ledger = Ledger::default();
    let open = look(&mut ledger, &report, &xid(GPU_0, "31, x"), true);
    assert!(
        open.open.iter().all(|entry| !needs_admission(entry)),
        "an application's"
    );
}

#[test]
fn a_line_in_doubt_moves_no_open_fault_into_another_boot() {
    let mut ledger = Ledger::default();
    let line = xid(GPU_0, "79, x");
    look(&mut ledger, &looked("a"), &line, false);
    let open = look(&mut ledger, &looked("b"), &line, true);
    let entry = only(&open);
    assert_eq!((entry.boot_id.as_deref(), entry.count), (Some("a"), 1));
}

#[test]
fn no_line_in_doubt_moves_what_says_as_much() {
    let action = xid(
        GPU_0,
        "154, GPU recovery action changed from 0x0 (None) to 0x5 (Recover IMEX Domain)",
    );
    for line in [xid(GPU_0, "63, x"), xid(GPU_0, "31, x"), action] {
        let mut ledger = Ledger::default();
        let before = look(&mut ledger, &looked("a"), &line, false);
        let after = look(&mut ledger, &looked("b"), &line, true);
        assert_eq!(of_line(&after), of_line(&before), "{line}");
    }
}

/// Boot and count of what a line opened.
fn of_line(health: &Health) -> Vec<(String, Option<String>, u64)> {
    let open = health.open.iter();
    open.map(|entry| (entry.id.clone(), entry.boot_id.clone(), entry.count))
        .collect()
}

#[test]
fn a_policy_judges_a_fault_in_doubt_as_one_that_is_certain() {
    let (mut ledger, report) = (Ledger::default(), looked("a"));
    let open = look(&mut ledger, &report, &xid(GPU_0, "48, x"), true);
    for (is, expected) in [
        (Meaning::Event, Bearing::Event),
        (Meaning::Fault, Bearing::Unknown),
    ] {
        let policy = Policy::of(vec![rule("xid 48", is)]);
        let judged = health_by(&policy, open.clone(), &report.gpus);
        assert_eq!(only(&judged).bearing, expected, "{is:?}");
        let records = health_by(&Policy::default(), judged, &report.gpus);
        assert_eq!(only(&records).bearing, Bearing::Unknown, "{is:?}");
    }
}

#[test]
fn what_was_missed_in_an_earlier_boot_is_of_that_boot() {
    let (mut ledger, report) = (Ledger::default(), looked("b"));
    let mut look = Look::of_all(&report);
    look.missed = Missed::InEarlierBoot(Some("a".to_owned()));
    ledger.look(&look);
    let health = ledger.health(look.unread);
    assert_eq!(only(&health).boot_id.as_deref(), Some("a"));
}

#[test]
fn lines_in_doubt_of_one_boot_are_counted() {
    let (mut ledger, report) = (Ledger::default(), looked("a"));
    let line = xid(GPU_0, "79, x");
    look(&mut ledger, &report, &line, true);
    let open = look(&mut ledger, &report, &line, true);
    assert_eq!((only(&open).count, only(&open).bearing), (2, Bearing::Unknown));
}
