//! What an admission ends that no other run does.

use super::super::{Health, Ledger, still_open};
use super::{GPU_0, admitted, look, looked, only, proven, xid};
use crate::policy::Policy;
use crate::report::{Clear, Failure, Report};
use crate::verdict::Verdict;

/// A reset of the GPU is a repair that needs no boot; a GPU that fell off the bus needs a power cycle.
#[test]
fn an_admission_in_the_same_boot_ends_what_a_reset_mends() {
    let mut ledger = Ledger::default();
    look(
        &mut ledger,
        &looked("a"),
        &[&xid(GPU_0, "46, x"), &xid(GPU_0, "79, x")],
    );
    ledger.proof(&proven("a"), &Policy::default());
    assert_eq!(ledger.health(Vec::new()).open.len(), 2);
    ledger.proof(&admitted("a"), &Policy::default());
    assert_eq!(only(&ledger.health(Vec::new())).number, Some(79));
    ledger.proof(&admitted("b"), &Policy::default());
    assert_eq!(ledger.health(Vec::new()).open, []);
}

#[test]
fn a_load_that_found_something_ends_nothing() {
    let mut ledger = Ledger::default();
    look(&mut ledger, &looked("a"), &[&xid(GPU_0, "48, x")]);
    let mut run = admitted("b");
    run.load.as_mut().unwrap().gpus[1].wrong_checksums = 1;
    run.load.as_mut().unwrap().findings.clear();
    ledger.proof(&run, &Policy::default());
    let open = ledger.health(Vec::new()).open;
    assert_eq!(open.first().and_then(|entry| entry.number), Some(48));
}

/// A probe computes nothing, so that it says nothing of what a load found.
#[test]
fn what_a_load_found_stays_open_until_a_load_passes() {
    let mut ledger = Ledger::default();
    look(&mut ledger, &looked("a"), &[]);
    let mut run = admitted("a");
    let load = run.load.as_mut().unwrap();
    load.gpus[0].wrong_checksums = 1;
    load.gpus[0].wrong_copies = 1;
    crate::verdict::judge(&mut run, crate::verdict::Expect::Auto);
    ledger.proof(&run, &Policy::default());
    for boot in ["a", "b"] {
        ledger.proof(&proven(boot), &Policy::default());
        let health = ledger.health(Vec::new());
        assert_eq!(only(&health).id, format!("load_fault@{GPU_0}"), "{boot}");
        assert!(only(&health).text.starts_with("wrong_arithmetic: "));
        assert!(only(&health).text.contains("; data_mismatch: "));
        assert_eq!(health.verdict, Verdict::Broken);
    }
    ledger.proof(&admitted("b"), &Policy::default());
    assert_eq!(ledger.health(Vec::new()).open, []);
    // In the same boot, too: it is the same test.
    ledger.proof(&run, &Policy::default());
    ledger.proof(&admitted("a"), &Policy::default());
    assert_eq!(ledger.health(Vec::new()).verdict.word(), "no_fault_seen");
}

/// A worker that was killed may have lacked memory, and what falls short of a fault drains no node.
#[test]
fn a_load_that_failed_for_another_reason_opens_nothing() {
    let (mut killed, mut hot, mut hung) = (admitted("a"), admitted("a"), admitted("a"));
    let mut failure = Failure::new("load the GPUs", "it ended");
    failure.cause = Some(crate::verdict::cause::PROCESS_DIES.to_owned());
    killed.load.as_mut().unwrap().ended = Some(failure.clone());
    let throttled = &mut hot.load.as_mut().unwrap().gpus[0].throttled;
    throttled.insert("hw_thermal_slowdown".to_owned(), 9);
    let mut ledger = Ledger::default();
    ledger.proof(&killed, &Policy::default());
    ledger.proof(&hot, &Policy::default());
    assert_eq!(ledger.health(Vec::new()).open, []);
    failure.cause = Some(crate::verdict::cause::HANG.to_owned());
    hung.load.as_mut().unwrap().ended = Some(failure);
    ledger.proof(&hung, &Policy::default());
    assert_eq!(only(&ledger.health(Vec::new())).id, "load_fault@node");
}

/// An event that is no fault needs no load, and a GPU without a peer has no other proof than its load.
#[test]
fn a_proof_ends_warnings_and_an_admission_faults_of_a_single_gpu() {
    let mut ledger = Ledger::default();
    look(&mut ledger, &looked("a"), &[&xid(GPU_0, "61, x")]);
    ledger.proof(&proven("b"), &Policy::default());
    assert_eq!(ledger.health(Vec::new()).open, []);

    let single = |report: Report| {
        let mut report = report;
        report.gpus.truncate(1);
        report.pairs.clear();
        report.measurements.clear();
        report.load.iter_mut().for_each(|load| load.gpus.truncate(1));
        crate::verdict::judge(&mut report, crate::verdict::Expect::Auto);
        report
    };
    look(&mut ledger, &single(looked("c")), &[&xid(GPU_0, "48, x")]);
    ledger.proof(&single(proven("d")), &Policy::default());
    assert_eq!(only(&ledger.health(Vec::new())).number, Some(48));
    let run = single(admitted("d"));
    assert_eq!(
        run.conclusion.verdict,
        Verdict::NoFaultSeen,
        "{:?}",
        run.conclusion
    );
    ledger.proof(&run, &Policy::default());
    assert_eq!(ledger.health(Vec::new()).open, []);
}

/// A newer agent has kept it: what is not known may be of the hardware.
#[test]
fn a_fault_of_a_cause_that_is_not_known_ends_as_one_of_the_hardware_does() {
    let of_newer_agent = |line: &str| {
        let mut ledger = Ledger::default();
        look(&mut ledger, &looked("a"), &[&xid(GPU_0, line)]);
        let json = String::from_utf8(ledger.to_json().unwrap()).unwrap();
        let newer = json.replace("\"cause\":\"xid\"", "\"cause\":\"of_a_newer_agent\"");
        assert_ne!(newer, json);
        Ledger::from_json(newer.as_bytes()).unwrap()
    };
    let mut ledger = of_newer_agent("79, x");
    ledger.proof(&proven("b"), &Policy::default());
    let health = ledger.health(Vec::new());
    assert_eq!(only(&health).cause, "of_a_newer_agent");
    assert_eq!(health.verdict, Verdict::Broken);
    let mut cleared = ledger.clone();
    cleared
        .clear("of_a_newer_agent", "exchanged", "alice", "2026-11-25T10:00:00Z")
        .unwrap();
    assert_eq!(cleared.health(Vec::new()).open, []);
    ledger.proof(&admitted("b"), &Policy::default());
    assert_eq!(ledger.health(Vec::new()).open, []);
    // A warning ends by a proof.
    let mut ledger = of_newer_agent("61, x");
    ledger.proof(&proven("b"), &Policy::default());
    assert_eq!(ledger.health(Vec::new()).open, []);
}

#[test]
fn an_open_fault_is_over_for_a_later_report_that_admits_or_tells_of_its_end() {
    let mut ledger = Ledger::default();
    let mut earlier = looked("a");
    let health = look(&mut ledger, &earlier, &[&xid(GPU_0, "48, x")]);
    earlier.health = Some(health.clone());
    let mut later = proven("b");
    assert!(still_open(&earlier, &later).is_some(), "nobody kept a ledger");
    later.health = Some(health);
    assert!(still_open(&earlier, &later).is_some());
    let now = later.health.as_mut().unwrap();
    let entries = std::mem::take(&mut now.open).into_iter().map(|entry| entry.id);
    now.clears.push(Clear {
        at: "2026-11-24T12:00:00Z".to_owned(),
        by: "ops".to_owned(),
        reason: "new GPU".to_owned(),
        entries: entries.collect(),
        order: None,
    });
    assert!(still_open(&earlier, &later).is_none());
    let mut before = later.clone();
    "2026-11-01T00:00:00Z".clone_into(&mut before.health.as_mut().unwrap().clears[0].at);
    assert!(
        still_open(&earlier, &before).is_some(),
        "it was cleared before it came again"
    );
    // One that the ledger had then says nothing of what was open all the same.
    earlier.health.as_mut().unwrap().clears = later.health.as_ref().unwrap().clears.clone();
    assert!(still_open(&earlier, &later).is_some());
    earlier.health.as_mut().unwrap().clears.clear();
    later.health.as_mut().unwrap().clears.clear();
    assert!(
        still_open(&earlier, &later).is_some(),
        "it may be lost with the ledger"
    );
    assert!(still_open(&earlier, &admitted("b")).is_none());
    assert!(still_open(&proven("a"), &proven("b")).is_none());
}

/// A clock that is set back moves no clear before the event that it ended, and one that ran ahead none behind a later event.
#[test]
fn a_clear_ends_what_the_ledger_had_noted_before_whatever_the_clock_says() {
    let line = xid(GPU_0, "48, x");
    for (at, named) in [
        ("2026-11-24T08:00:00Z", true),
        ("2026-11-24T23:00:00Z", true),
        ("2026-11-24T23:00:00Z", false),
    ] {
        let mut ledger = Ledger::default();
        if named {
            ledger.name("one");
        }
        let with = |health: &Health| Report {
            health: Some(health.clone()),
            ..looked("a")
        };
        let first = with(&look(&mut ledger, &looked("a"), &[&line]));
        ledger.clear("xid", "new GPU", "ops", at).unwrap();
        let cleared = with(&ledger.health(Vec::new()));
        assert!(still_open(&first, &cleared).is_none(), "{at}");
        // It comes again after the clear, in a report that tells of no clear.
        let mut again = with(&look(&mut ledger, &looked("a"), &[&line]));
        again.health.as_mut().unwrap().clears.clear();
        let is_open = still_open(&again, &cleared).is_some();
        assert_eq!(is_open, named, "{at}");
    }
}

/// The order of another ledger says nothing of this one.
#[test]
fn a_ledger_that_was_begun_anew_goes_by_the_clock() {
    let mut earlier = looked("a");
    let mut ledger = Ledger::default();
    ledger.name("one");
    let line = xid(GPU_0, "48, x");
    for _ in 0..9 {
        earlier.health = Some(look(&mut ledger, &looked("a"), &[&line]));
    }
    let mut other = Ledger::default();
    other.name("two");
    look(&mut other, &looked("a"), &[&line]);
    let mut later = looked("a");
    let mut before = looked("a");
    other
        .clear("xid", "new GPU", "ops", "2026-11-24T12:00:00Z")
        .unwrap();
    later.health = Some(other.health(Vec::new()));
    assert!(still_open(&earlier, &later).is_none());
    look(&mut other, &looked("a"), &[&line]);
    other
        .clear("xid", "new GPU", "ops", "2026-11-24T09:00:00Z")
        .unwrap();
    before.health = Some(other.health(Vec::new()));
    before.health.as_mut().unwrap().clears.remove(0);
    assert!(still_open(&earlier, &before).is_some());
}

/// A report may have told of a clear before that was kept.
#[test]
fn a_clear_that_was_told_without_its_place_is_no_new_one_later() {
    let mut ledger = Ledger::default();
    ledger.name("one");
    let line = xid(GPU_0, "48, x");
    look(&mut ledger, &looked("a"), &[&line]);
    ledger
        .clear("xid", "new GPU", "ops", "2026-11-24T12:00:00Z")
        .unwrap();
    let (mut earlier, mut later) = (looked("a"), looked("a"));
    later.health = Some(ledger.health(Vec::new()));
    let again = look(&mut ledger, &looked("a"), &[&line]);
    earlier.health = Some(again.without_places_after(None));
    assert!(still_open(&earlier, &later).is_some());
}

/// What could not be kept may have been told, with its places.
#[test]
fn places_that_were_given_and_not_kept_are_not_given_again() {
    let mut base = Ledger::default();
    base.name("one");
    let mut unkept = base.clone();
    let mut earlier = looked("a");
    for _ in 0..9 {
        earlier.health = Some(look(&mut unkept, &looked("a"), &[&xid(GPU_0, "48, x")]));
    }
    let mut ledger = base.clone();
    look(&mut ledger, &looked("a"), &[&xid(GPU_0, "79, x")]);
    ledger.add_unkept(&unkept, &base);
    // The clock was set back.
    ledger
        .clear("xid", "new GPU", "ops", "2026-11-24T08:00:00Z")
        .unwrap();
    let mut later = looked("a");
    later.health = Some(ledger.health(Vec::new()));
    assert!(still_open(&earlier, &later).is_none());
}

/// Where the later report has no ledger, the ledger's own rule decides: boots, and the GPUs that were loaded.
#[test]
fn an_admission_without_a_ledger_ends_what_a_ledger_would_end() {
    let with = |line: &str| {
        let mut ledger = Ledger::default();
        let mut earlier = looked("a");
        earlier.health = Some(look(&mut ledger, &earlier, &[&xid(GPU_0, line)]));
        earlier
    };
    let is_open = |line: &str, later: &Report| still_open(&with(line), later).is_some();
    assert!(is_open("79, x", &admitted("a")), "it asks for a power cycle");
    assert!(!is_open("79, x", &admitted("b")));
    assert!(!is_open("46, x", &admitted("a")), "it asks for a reset");

    let mut others = admitted("b");
    others.gpus[0].pci_address.value = Some("00000000:99:00.0".to_owned());
    assert_eq!(crate::verdict::not_admitted(&others), None);
    assert!(is_open("79, x", &others), "its GPU was not loaded");
    let mut nameless = admitted("b");
    nameless.node.boot_id = None;
    assert!(is_open("46, x", &nameless), "it is not known of which boot it is");
}
