//! What a report's content says for and against its verdict.

mod states;

use serde_json::{Value, json};

use super::*;
use crate::domain::correlate::samples::{pair, proven, report};

fn of(report: &Value) -> (Verdict, String) {
    let claim = told(
        &serde_json::from_value(report.clone()).unwrap(),
        &Policy::default(),
    );
    (claim.verdict, claim.reason)
}

#[test]
fn health_is_what_checks_of_all_pairs_show() {
    let whole = report(2, &[proven(0, 1)]);
    assert_eq!(of(&whole).0, Verdict::Healthy);
    let mut with_failure = whole.clone();
    with_failure["failures"] =
        json!([{ "step": "cuInit", "code": 802, "code_name": null, "message": "not ready" }]);
    let mut one_rung = whole.clone();
    for direction in 0..2 {
        let checks = &mut one_rung["pairs"][0]["directions"][direction]["checks"];
        *checks = json!([checks[1]]);
    }
    let mut of_today = report(2, &[proven(0, 1)]);
    of_today["schema"]["minor"] = json!(1);
    for direction in 0..2 {
        let checks = of_today["pairs"][0]["directions"][direction]["checks"].as_array_mut();
        checks.unwrap().truncate(2);
    }
    let mut of_old = of_today.clone();
    of_old["schema"]["minor"] = json!(0);
    assert_eq!(of(&of_old).0, Verdict::Healthy, "it had two rungs");
    for (name, claim, why) in [
        ("nothing", report(0, &[]), "no GPU"),
        ("one GPU", report(1, &[]), "one GPU"),
        ("no pair", report(2, &[]), "GPU 0 and GPU 1 were not tried"),
        (
            "a pair too few",
            report(3, &[proven(0, 1)]),
            "GPU 0 and GPU 2 were not tried",
        ),
        ("no check", report(2, &[pair(0, 1, "OK", 0)]), "rung 3"),
        ("one rung", one_rung, "rung 3"),
        ("two rungs", of_today, "rung 5"),
        ("a failure", with_failure, "not ready"),
    ] {
        let (verdict, reason) = of(&claim);
        assert_eq!(verdict, Verdict::Unknown, "{name}");
        assert!(reason.contains(why), "{name}: {reason}");
    }
}

/// A report of two GPUs that says healthy, changed.
fn changed(change: impl Fn(&mut Value)) -> (Verdict, String) {
    let mut whole = report(2, &[proven(0, 1)]);
    change(&mut whole);
    of(&whole)
}

/// The same with one fact of GPU 0.
fn fact(name: &str, value: &Value) -> (Verdict, String) {
    changed(|report| report["gpus"][0]["facts"] = json!({ name: { "value": value, "source": "test" } }))
}

#[test]
fn a_fact_of_the_wrong_type_says_nothing() {
    for (name, value) in [
        ("remapped_rows.failure", json!("yes")),
        ("remapped_rows.pending", json!(1)),
        ("ecc.sram_threshold_exceeded", json!("true")),
        ("fabric.health", json!("unhealthy")),
        ("fabric.health", json!([{ "is": "unhealthy" }])),
        ("fabric.state", json!(["in_progress"])),
        ("recovery.action", json!(5)),
        ("ecc.volatile_uncorrected", json!("3")),
        ("during.ecc.volatile_uncorrected", json!("3")),
        ("during.nvlink.replay_errors", json!(-3)),
        ("throttle.reasons", json!("hw_slowdown")),
        ("nvlink.links_active", json!("0")),
    ] {
        let (verdict, reason) = fact(name, &value);
        assert_eq!(verdict, Verdict::Unknown, "{name}: {reason}");
        assert!(reason.contains(name), "{reason}");
    }
}

/// Facts of a GPU below this port.
fn way(port: &str) -> Value {
    let path = json!([{ "address": port }, { "address": "0000:00:06.0" }]);
    json!({ "pci.path": { "value": path, "source": "test" } })
}

#[test]
fn a_port_that_is_above_no_gpu_says_nothing_and_one_that_may_be_leaves_it_unknown() {
    for line in [
        "pcieport 0000:3a:00.0: pciehp: Slot(12): Card not present",
        "pcieport 0000:3a:00.0: DPC: containment event, status:0x1f01 source:0x0000",
        "pcieport 0000:3a:00.0: DPC: unmasked uncorrectable error detected",
    ] {
        let log = json!([{ "source": "kmsg", "when": "during", "text": line }]);
        let (verdict, reason) = changed(|report| report["logs"] = log.clone());
        assert_eq!(verdict, Verdict::Unknown, "{reason}");
        let (verdict, reason) = changed(|report| {
            report["logs"] = log.clone();
            for gpu in 0..2 {
                report["gpus"][gpu]["facts"] = way("0000:00:01.0");
            }
        });
        assert_eq!(verdict, Verdict::Healthy, "{reason}");
    }
}

#[test]
fn content_that_speaks_against_health_is_told() {
    let log = |when: &str, text: &str| {
        let text = format!("[  10.000000] NVRM: {text}");
        changed(|report| report["logs"] = json!([{ "source": "kmsg", "when": when, "text": text }]))
    };
    let pair = |verdict: &str| changed(|report| report["pairs"][0]["verdict"]["verdict"] = json!(verdict));
    let open = json!({
        "verdict": "broken",
        "open": [{
            "id": "xid-79@node", "cause": "xid", "nature": "event", "bearing": "fault", "device": "node", "count": 1,
            "first_at": "2026-11-21T07:00:00Z", "last_at": "2026-11-21T07:00:00Z", "text": "it fell off",
        }],
    });
    let xid_79 = "Xid (PCI:0000:00:06): 79, pid=1, GPU has fallen off the bus.";
    for ((verdict, reason), why) in [
        (fact("recovery.action", &json!("reset")), "reset"),
        (
            fact("recovery.action", &json!("unrecognised (9)")),
            "unrecognised",
        ),
        (fact("remapped_rows.failure", &json!(true)), "remapped"),
        (fact("ecc.sram_threshold_exceeded", &json!(true)), "SRAM"),
        (
            fact("during.ecc.volatile_uncorrected", &json!(3)),
            "3 uncorrected",
        ),
        (fact("ecc.volatile_uncorrected", &json!(3)), "since its boot"),
        (
            changed(|report| report["health"] = json!({ "verdict": "broken", "open": [] })),
            "section on health",
        ),
        (log("during", xid_79), "fallen off the bus"),
        (log("later", xid_79), "fallen off the bus"),
        (log("during", "Xid (PCI:0000:00:06): 48, pid=1, DBE"), "48"),
        (pair("broken"), "broken"),
        (
            changed(|report| report["conclusion"]["exit_code"] = json!(2)),
            "exit code is 2",
        ),
        (
            changed(|report| report["conclusion"]["expect"] = json!("p2p=auto,gpus=8")),
            "2 GPUs of 8 expected",
        ),
        (
            changed(|report| report["pairs"][0]["directions"][0]["checks"][0]["outcome"] = json!("fail")),
            "1 pair broken",
        ),
        (changed(|report| report["health"] = open.clone()), "it fell off"),
    ] {
        assert_eq!(verdict, Verdict::Broken, "{why}: {reason}");
        assert!(
            reason.contains(why) && reason.contains("shows otherwise"),
            "{why}: {reason}"
        );
    }
    let refused = changed(|report| {
        report["pairs"][0]["directions"][0]["can_access_peer"]["value"] = json!(false);
    });
    assert_eq!(refused.0, Verdict::Refused, "{}", refused.1);
    assert_eq!(pair("degraded").0, Verdict::Degraded);
    let exit_3 = changed(|report| report["conclusion"]["exit_code"] = json!(3));
    assert_eq!(exit_3.0, Verdict::Unknown);
    for unread in ["gpus=many", "p2p=bogus", "p2p=auto,gpus=2,and more"] {
        let unread = changed(|report| report["conclusion"]["expect"] = json!(unread));
        assert_eq!(unread.0, Verdict::Unknown, "{}", unread.1);
    }
    let by_nobody = changed(|report| {
        report["pairs"][0]["directions"][0]["checks"][0]["checked_by"] = json!("nobody");
    });
    assert_eq!(by_nobody.0, Verdict::Unknown, "{}", by_nobody.1);
    for (verdict, reason) in [
        fact("recovery.action", &json!("none")),
        fact("during.ecc.volatile_uncorrected", &json!(0)),
        fact("ecc.volatile_uncorrected", &json!(0)),
        // Cleared: the ledger knows of the errors and holds none of them open.
        changed(|report| {
            report["gpus"][0]["facts"] =
                json!({ "ecc.volatile_uncorrected": { "value": 3, "source": "test" } });
            report["health"] = json!({ "verdict": "no_fault_seen", "open": [] });
        }),
        log("before", xid_79),
        log(
            "during",
            "Xid (PCI:0000:99:00): 79, pid=1, GPU has fallen off the bus.",
        ),
        log("during", "Xid (PCI:0000:00:06): 31, pid=1, MMU Fault"),
        changed(|report| report["conclusion"]["expect"] = json!("p2p=auto,gpus=2")),
    ] {
        assert_eq!(verdict, Verdict::Healthy, "{reason}");
    }
}

#[test]
fn what_a_slot_or_the_watchdog_says_of_a_gpu_is_a_fault() {
    let log_of = |text: &str| {
        changed(|report| {
            report["gpus"][0]["facts"] = way("0000:00:01.0");
            report["logs"] = json!([{ "source": "kmsg", "when": "during", "text": text }]);
        })
    };
    for ((verdict, reason), why) in [
        (
            log_of("NVRM: krcWatchdog_IMPL: RC watchdog: GPU is probably locked!  Notify Timeout Seconds: 7"),
            "locked",
        ),
        (
            log_of("pcieport 0000:00:01.0: pciehp: Slot(12): Card not present"),
            "Card not present",
        ),
        (
            log_of("pcieport 0000:00:01.0: DPC: containment event, status:0x1f01 source:0x0000"),
            "containment",
        ),
        (
            log_of("pcieport 0000:00:01.0: DPC: unmasked uncorrectable error detected"),
            "unmasked",
        ),
        (
            changed(|report| report["pairs"][0]["verdict"]["cause"] = json!("gpu_lost")),
            "gpu_lost",
        ),
    ] {
        assert_eq!(verdict, Verdict::Broken, "{why}: {reason}");
        assert!(reason.contains(why), "{why}: {reason}");
    }
}

#[test]
fn fewer_gpus_than_the_operator_expects_are_a_fault() {
    let expecting = |value: Value| {
        changed(|report| {
            report["host"] = json!({ "expected.gpus": { "value": value, "source": "--expect" } });
        })
    };
    assert_eq!(expecting(json!(8)).0, Verdict::Broken);
    assert_eq!(expecting(json!("8")).0, Verdict::Unknown, "nobody can read it");
    assert_eq!(expecting(json!(2)).0, Verdict::Healthy);
}

#[test]
fn a_broken_pair_is_told_whatever_the_conclusion_says() {
    for claimed in [
        "unknown",
        "no_fault_seen",
        "a_word_of_tomorrow",
        "healthy",
        "degraded",
    ] {
        for change in [
            |pair: &mut Value| pair["verdict"]["verdict"] = json!("broken"),
            |pair: &mut Value| {
                pair["verdict"] =
                    json!({ "verdict": "unknown", "cause": "data_mismatch", "reason": "x", "evidence": [] });
            },
            |pair: &mut Value| {
                pair["verdict"] =
                    json!({ "verdict": "unknown", "cause": "gpu_lost", "reason": "x", "evidence": [] });
            },
            |pair: &mut Value| pair["directions"][0]["checks"][0]["outcome"] = json!("fail"),
            |pair: &mut Value| {
                let check = &mut pair["directions"][0]["checks"][0];
                check["outcome"] = json!("mismatch");
                check["mismatch"] = json!({ "first_offset": 0, "words": 5 });
            },
            |pair: &mut Value| {
                let check = &mut pair["directions"][0]["checks"][0];
                check["mismatch"] = json!({ "first_offset": 0, "words": 5 });
            },
            |pair: &mut Value| {
                for (place, words) in [(0, 0), (1, 5)] {
                    let check = &mut pair["directions"][0]["checks"][place];
                    check["mismatch"] = json!({ "first_offset": 0, "words": words });
                }
            },
        ] {
            let (verdict, reason) = changed(|report| {
                report["conclusion"]["verdict"] = json!(claimed);
                change(&mut report["pairs"][0]);
            });
            assert_eq!(verdict, Verdict::Broken, "{claimed}: {reason}");
        }
    }
}

#[test]
fn a_look_that_says_no_fault_seen_shows_none() {
    let mut look = report(1, &[]);
    look["conclusion"]["verdict"] = json!("no_fault_seen");
    look["gpus"][0]["facts"] = json!({ "recovery.action": { "value": "reboot", "source": "test" } });
    let (verdict, reason) = of(&look);
    assert_eq!(verdict, Verdict::Broken);
    assert!(reason.contains("reboot"), "{reason}");
}

#[test]
fn a_refusal_that_is_expected_is_no_lack_of_health() {
    let mut refused = pair(0, 1, "GNS", 0);
    refused["verdict"]["information"] = json!(true);
    let mut expected = report(2, &[refused]);
    expected["conclusion"]["verdict"] = json!("healthy");
    assert_eq!(of(&expected).0, Verdict::Healthy);
    for (expect, told) in [
        ("p2p=none", Verdict::Healthy),
        ("p2p=auto", Verdict::Healthy),
        ("p2p=all", Verdict::Refused),
    ] {
        expected["conclusion"]["expect"] = json!(expect);
        assert_eq!(of(&expected).0, told, "{expect}");
    }
    let mut excused = pair(0, 1, "CNS", 0);
    excused["verdict"]["information"] = json!(true);
    let mut excused = report(2, &[excused]);
    excused["conclusion"]["verdict"] = json!("healthy");
    assert_eq!(
        of(&excused).0,
        Verdict::Refused,
        "the pair alone says that it is expected"
    );
}

#[test]
fn a_look_at_nothing_sees_no_absence_of_faults() {
    let mut nothing = report(0, &[]);
    nothing["conclusion"]["verdict"] = json!("no_fault_seen");
    assert_eq!(of(&nothing).0, Verdict::Unknown);
    let mut look = report(1, &[]);
    look["conclusion"]["verdict"] = json!("no_fault_seen");
    assert_eq!(of(&look).0, Verdict::NoFaultSeen);
}
