//! A node that has fewer GPUs than in an earlier boot.

use serde_json::json;

use super::{admitted, look, looked, only, take_in};
use crate::health::{Health, Ledger, Look, Scope};
use crate::policy::Policy;
use crate::report::{Absence, AbsentGpu, Fact, Report, Verdict};

/// A look of an agent that sees all.
fn seen(ledger: &mut Ledger, report: &Report) -> Health {
    let look = Look {
        sees_all: true,
        ..Look::of_all(report)
    };
    take_in(ledger, look, report, &[])
}

/// The same node in a boot, without its second GPU.
fn short(boot: &str) -> Report {
    let mut report = looked(boot);
    report.gpus.truncate(1);
    report.pairs.clear();
    report
}

/// The ledger of a node that had two GPUs in the boot `a`.
fn had_two() -> Ledger {
    let mut ledger = Ledger::default();
    assert_eq!(seen(&mut ledger, &looked("a")).open, []);
    ledger
}

#[test]
fn fewer_gpus_than_in_an_earlier_boot_are_a_fault_until_they_are_back() {
    let mut ledger = had_two();
    for boot in ["b", "b", "c"] {
        let health = seen(&mut ledger, &short(boot));
        assert_eq!(only(&health).id, "device_missing@node", "{boot}");
        assert_eq!(health.verdict, Verdict::Broken, "{boot}");
    }
    // A look at some tells nothing of the others.
    assert_eq!(
        only(&look(&mut ledger, &looked("c"), &[])).cause,
        "device_missing"
    );
    assert_eq!(seen(&mut ledger, &looked("d")).open, []);
}

#[test]
fn who_may_not_see_all_neither_opens_nor_ends_it() {
    let mut ledger = had_two();
    let confined = |ledger: &mut Ledger, report: &Report| {
        let look = Look::of_all(report);
        assert_eq!((look.scope, look.sees_all), (Scope::All, false));
        take_in(ledger, look, report, &[])
    };
    assert_eq!(confined(&mut ledger, &short("b")).open, []);
    seen(&mut ledger, &short("b"));
    assert_eq!(only(&confined(&mut ledger, &looked("c"))).cause, "device_missing");
}

#[test]
fn a_number_that_is_meant_a_clear_and_an_admission_end_it() {
    let expecting = |gpus: u64| {
        let mut report = short("b");
        let said = Fact::read(json!(gpus), "--expect");
        report.host.insert("expected.gpus".to_owned(), said);
        report
    };
    let mut ledger = had_two();
    seen(&mut ledger, &short("b"));
    let still = seen(&mut ledger, &expecting(2));
    assert_eq!(only(&still).cause, "device_missing");
    assert_eq!(seen(&mut ledger, &expecting(1)).open, []);
    seen(&mut ledger, &short("b"));
    ledger
        .clear("device_missing", "sent in", "somebody", "t")
        .unwrap();
    for boot in ["b", "c"] {
        assert_eq!(seen(&mut ledger, &short(boot)).open, [], "{boot}");
    }
    // Two are what it should have from their admission on.
    seen(&mut ledger, &looked("d"));
    ledger.proof(&admitted("d"), &Policy::default());
    assert_eq!(only(&seen(&mut ledger, &short("e"))).cause, "device_missing");
}

/// That one is lost, or not told, is said of it alone.
#[test]
fn a_gpu_that_is_told_otherwise_is_not_missing() {
    let left = looked("a").gpus[1].pci_address.value.clone();
    for (absence, address) in [
        (Absence::Lost, left.clone()),
        (Absence::WithoutDriver, left.clone()),
        (Absence::OtherDriver, left),
        (Absence::Lost, None),
        (Absence::NotLookedAt, None),
    ] {
        let mut report = short("b");
        report.absent.push(AbsentGpu {
            pci_address: address.clone(),
            ..AbsentGpu::new(absence, "told")
        });
        let open = seen(&mut had_two(), &report).open;
        let is_missing = open.iter().any(|entry| entry.cause == "device_missing");
        assert!(!is_missing, "{absence:?} {address:?}: {open:?}");
    }
}
