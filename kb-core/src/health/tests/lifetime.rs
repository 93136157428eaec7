//! Uncorrected errors by the count of the GPU's life, which neither the driver nor a boot sets back.

use serde_json::{Value, json};

use super::super::{Health, Ledger};
use super::{GPU_0, gap, look, looked, only, set};
use crate::report::GapKind;
use crate::verdict::Verdict;

const UUID: &str = "GPU-00000000-0000-4000-8000-000000000009";

/// A look at GPU 0 with the driver's count and its own, by a ledger that was in its file meanwhile.
fn counted(ledger: &mut Ledger, boot: &str, driver: u64, life: Option<u64>) -> Health {
    counted_of(ledger, boot, driver, life, None)
}

fn counted_of(ledger: &mut Ledger, boot: &str, driver: u64, life: Option<u64>, uuid: Option<&str>) -> Health {
    *ledger = Ledger::from_json(&ledger.to_json().unwrap()).unwrap();
    let mut report = looked(boot);
    if let Some(uuid) = uuid {
        report.gpus[0].uuid.value = Some(uuid.to_owned());
    }
    set(&mut report, 0, "ecc.volatile_uncorrected", json!(driver));
    match life {
        Some(life) => set(&mut report, 0, "ecc.aggregate_uncorrected", json!(life)),
        None => gap(
            &mut report,
            0,
            "ecc.aggregate_uncorrected",
            GapKind::Failed,
            "NVML said no",
        ),
    }
    look(ledger, &report, &[])
}

fn clear(ledger: &mut Ledger) {
    ledger.clear("ecc_uncorrected", "seen", "anna", "now").unwrap();
}

/// A ledger that has told one error, which a person has cleared.
fn cleared() -> Ledger {
    let mut ledger = Ledger::default();
    assert_eq!(
        counted(&mut ledger, "a", 0, Some(4)).open,
        [],
        "errors of earlier years"
    );
    assert_eq!(only(&counted(&mut ledger, "a", 1, Some(5))).count, 1);
    clear(&mut ledger);
    assert_eq!(counted(&mut ledger, "a", 1, Some(5)).open, []);
    ledger
}

#[test]
fn an_error_that_brings_a_reloaded_drivers_count_to_what_it_was_is_told() {
    let mut ledger = cleared();
    let health = counted(&mut ledger, "a", 1, Some(6));
    assert_eq!((only(&health).count, health.verdict), (1, Verdict::Broken));
    assert_eq!(only(&health).id, format!("ecc_uncorrected@{GPU_0}"));
    clear(&mut ledger);
    assert_eq!(counted(&mut ledger, "a", 1, Some(6)).open, []);
    // Three more, of which the driver's count shows one.
    assert_eq!(only(&counted(&mut ledger, "a", 2, Some(9))).count, 3);
}

#[test]
fn an_error_that_both_counts_show_is_one() {
    let mut ledger = cleared();
    assert_eq!(only(&counted(&mut ledger, "a", 2, Some(6))).count, 1);
    assert_eq!(only(&counted(&mut ledger, "a", 4, Some(8))).count, 3);
    // A driver that was reloaded, and one that was booted.
    assert_eq!(only(&counted(&mut ledger, "a", 1, Some(9))).count, 4);
    assert_eq!(only(&counted(&mut ledger, "b", 1, Some(10))).count, 5);
}

#[test]
fn an_error_that_the_life_shows_a_look_later_is_told_once() {
    let mut ledger = cleared();
    assert_eq!(only(&counted(&mut ledger, "a", 2, Some(5))).count, 1);
    clear(&mut ledger);
    assert_eq!(counted(&mut ledger, "a", 2, Some(6)).open, []);
    assert_eq!(only(&counted(&mut ledger, "a", 2, Some(7))).count, 1);
}

#[test]
fn an_error_between_two_boots_is_an_event_of_the_second() {
    let mut ledger = cleared();
    let health = counted(&mut ledger, "b", 0, Some(6));
    assert_eq!(
        (only(&health).count, only(&health).boot_id.as_deref()),
        (1, Some("b"))
    );
    clear(&mut ledger);
    assert_eq!(counted(&mut ledger, "c", 0, Some(6)).open, []);
}

#[test]
fn a_ledger_of_an_older_agent_knows_nothing_of_the_life_and_tells_nothing() {
    let ledger = cleared();
    let mut kept: Value = serde_json::from_slice(&ledger.to_json().unwrap()).unwrap();
    assert!(kept.as_object_mut().unwrap().remove("lifetimes").is_some());
    for boot in ["a", "b"] {
        let mut ledger = Ledger::from_json(kept.to_string().as_bytes()).unwrap();
        let driver = u64::from(boot == "a");
        assert_eq!(counted(&mut ledger, boot, driver, Some(9)).open, []);
        assert_eq!(only(&counted(&mut ledger, boot, driver, Some(10))).count, 1);
    }
    // As an older agent reads what this one has kept.
    kept["of_next_year"] = json!({ "GPU": { "errors": 1 } });
    assert!(Ledger::from_json(kept.to_string().as_bytes()).is_ok());
}

#[test]
fn a_life_that_fell_counts_nothing_and_goes_on_from_there() {
    let mut ledger = cleared();
    assert_eq!(counted(&mut ledger, "a", 1, Some(0)).open, []);
    assert_eq!(only(&counted(&mut ledger, "a", 1, Some(1))).count, 1);
    // The driver's count counts beside it as ever.
    assert_eq!(only(&counted(&mut ledger, "a", 2, Some(0))).count, 2);
}

#[test]
fn a_life_that_cannot_be_read_keeps_what_was_known() {
    let mut ledger = cleared();
    let health = counted(&mut ledger, "a", 1, None);
    assert_eq!((health.open.len(), health.unread.len()), (0, 0));
    assert_eq!(only(&counted(&mut ledger, "a", 1, Some(6))).count, 1);
    clear(&mut ledger);
    // One that the driver told meanwhile is not told again.
    assert_eq!(only(&counted(&mut ledger, "a", 2, None)).count, 1);
    clear(&mut ledger);
    assert_eq!(counted(&mut ledger, "a", 2, Some(7)).open, []);
    // Nothing was known at all.
    let mut ledger = Ledger::default();
    assert_eq!(counted(&mut ledger, "a", 0, None).open, []);
    assert_eq!(counted(&mut ledger, "a", 0, Some(3)).open, []);
}

#[test]
fn another_gpu_at_the_address_has_a_life_of_its_own() {
    let mut ledger = cleared();
    assert_eq!(
        counted_of(&mut ledger, "b", 0, Some(40), Some(UUID)).open,
        [],
        "its errors came elsewhere"
    );
    let health = counted_of(&mut ledger, "b", 0, Some(41), Some(UUID));
    assert_eq!(only(&health).count, 1);
    clear(&mut ledger);
    // The first one is back.
    assert_eq!(counted(&mut ledger, "c", 0, Some(5)).open, []);
    assert_eq!(only(&counted(&mut ledger, "c", 0, Some(6))).count, 1);
}

#[test]
fn a_uuid_that_two_gpus_give_tells_of_neither() {
    let second = looked("a").gpus[1].uuid.value.clone();
    let mut ledger = Ledger::default();
    for life in [7, 8] {
        let health = counted_of(&mut ledger, "a", 0, Some(life), second.as_deref());
        assert_eq!(health.open, []);
    }
}
