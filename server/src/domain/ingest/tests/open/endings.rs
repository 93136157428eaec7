//! Each thing that is open ends by its own rule: an event by its ledger, a state by a look, what a run met by a run.

use serde_json::{Value, json};

use super::super::looks::{as_look, as_run};
use super::super::order::orders;
use super::super::warned::{all, measured};
use super::super::{Door, Verdict, run, standing};
use super::{health, look, open_findings, sent, told, with_event, with_few_links};

const EVENT: &str = "xid-79@0000:00:00.0";
const WARNING: &str = "xid-63@0000:00:00.0";

fn warning() -> Value {
    json!({
        "id": WARNING, "cause": "xid", "nature": "event", "bearing": "warning", "device": "0000:00:00.0",
        "number": 63, "count": 1, "first_at": "2026-11-21T07:00:00Z", "last_at": "2026-11-21T07:00:00Z",
        "boot_id": "a", "text": "Xid 63",
    })
}

/// With this open in the agent's ledger, which stands beside what the report says.
fn with_open(mut report: Value, open: &[Value]) -> Value {
    report["node"]["boot_id"] = json!("a");
    report["health"] = json!({ "verdict": "degraded", "open": open, "whole_node": true });
    report
}

fn degraded(mut look: Value) -> Value {
    look["conclusion"] = json!({ "verdict": "degraded", "exit_code": 1, "reason": "Xid 63" });
    look
}

/// A look whose ledger tells that a person has ended these.
fn cleared(minute: u8, at: &str, entries: &[&str]) -> Value {
    let mut look = with_open(look("cleared", minute), &[]);
    look["health"]["verdict"] = json!("no_fault_seen");
    look["health"]["clears"] = json!([{ "at": at, "by": "ops", "reason": "seen to", "entries": entries }]);
    look
}

async fn verdict_after(reports: &[Value]) -> Verdict {
    told(reports).await.2
}

#[tokio::test]
async fn a_good_run_ends_no_warning_that_its_own_ledger_holds_open() {
    for code in [0, 1] {
        let door = Door::open().await;
        sent(&door, &[health("before", 5)]).await;
        let mut ladder = with_open(health("ladder", 20), &[warning()]);
        ladder["conclusion"]["exit_code"] = json!(code);
        for report in [
            degraded(with_open(look("first", 10), &[warning()])),
            ladder,
            degraded(with_open(look("again", 30), &[warning()])),
        ] {
            sent(&door, std::slice::from_ref(&report)).await;
            let (id, verdict, reason) = standing(&door).await;
            assert_eq!(verdict, Verdict::Degraded, "{id}: {reason}");
        }
        sent(&door, &[cleared(40, "2026-11-21T07:35:00Z", &[WARNING])]).await;
        assert_eq!(standing(&door).await.1, Verdict::Healthy);
        assert_eq!(open_findings(&door).await, [""; 0]);
    }
}

#[tokio::test]
async fn a_clear_ends_what_the_ledger_held_open_whichever_report_told_it() {
    let at = "2026-11-21T07:25:00Z";
    let alarm = || {
        let mut run = with_event(health("alarm", 20));
        run["conclusion"] = json!({ "verdict": "unknown", "exit_code": 2, "reason": "a GPU was in use" });
        for direction in run["pairs"][0]["directions"].as_array_mut().unwrap() {
            direction["checks"] = json!([]);
        }
        run
    };
    let mut ladder = with_event(health("ladder", 20));
    ladder["conclusion"] = json!({ "verdict": "healthy", "exit_code": 2, "reason": "1 pair proven" });
    for fault in [ladder, alarm(), with_event(look("look", 20))] {
        let before = health("before", 5);
        let (door, id, verdict) = told(&[before.clone(), fault.clone()]).await;
        assert_eq!((id == "before", verdict), (false, Verdict::Broken));
        // Of before the event, and of something else.
        for (minute, at, entry) in [
            (31, "2026-11-21T06:00:00Z", EVENT),
            (32, at, "xid-48@0000:00:00.0"),
        ] {
            let mut other = cleared(minute, at, &[entry]);
            other["report_id"] = json!(format!("other-{minute}"));
            sent(&door, &[other]).await;
            assert_eq!(standing(&door).await.1, Verdict::Broken, "{fault}");
        }
        sent(&door, &[cleared(40, at, &[EVENT])]).await;
        assert_eq!(standing(&door).await.1, Verdict::Healthy, "{fault}");
        assert_eq!(open_findings(&door).await, [""; 0], "{fault}");
        // A spool that is drained late.
        let (door, _, verdict) = told(&[before, cleared(40, at, &[EVENT]), fault.clone()]).await;
        assert_eq!(verdict, Verdict::Healthy, "{fault}");
        assert_eq!(open_findings(&door).await, [""; 0], "{fault}");
    }
    // What the run itself met ends by a run.
    let mut broken = as_run(run("broken", 20, &[0, 1], true));
    broken["health"] = with_event(health("x", 20))["health"].clone();
    let cleared = cleared(40, at, &[EVENT]);
    assert_eq!(verdict_after(&[broken, cleared]).await, Verdict::Broken);
}

/// The node's clock was set back between the event and the clear.
#[tokio::test]
async fn a_clear_is_held_against_an_event_by_the_order_of_the_ledger() {
    let order = |number: u32| json!({ "ledger": "one", "number": number });
    let mut fault = with_event(look("fault", 20));
    fault["health"]["open"][0]["order"] = order(7);
    for (number, at, expected) in [
        (8, "2026-11-21T03:00:00Z", Verdict::NoFaultSeen),
        (6, "2026-11-21T07:25:00Z", Verdict::Broken),
    ] {
        let mut later = cleared(40, at, &[EVENT]);
        later["health"]["clears"][0]["order"] = order(number);
        assert_eq!(verdict_after(&[fault.clone(), later]).await, expected, "{number}");
    }
}

fn with_uuids(mut report: Value, boot: &str, name: &str) -> Value {
    report["node"]["boot_id"] = json!(boot);
    for (place, gpu) in report["gpus"].as_array_mut().unwrap().iter_mut().enumerate() {
        gpu["uuid"]["value"] = json!(format!("GPU-{name}-{place}"));
    }
    report
}

fn with_links(mut look: Value, up: u32) -> Value {
    look["gpus"][0]["facts"]["nvlink.links_active"] = json!({ "value": up, "source": "test" });
    look["gpus"][0]["facts"]["nvlink.links_expected"] = json!({ "value": 18, "source": "test" });
    look
}

#[tokio::test]
async fn a_warning_leaves_the_node_with_all_its_gpus() {
    let few = with_uuids(with_few_links(with_links(look("few", 10), 3)), "a", "old");
    let new = |gpus: &[u32]| with_uuids(as_look(run("new", 20, gpus, false)), "b", "new");
    assert_eq!(
        verdict_after(&[few.clone(), new(&[0, 1])]).await,
        Verdict::NoFaultSeen
    );
    assert_eq!(
        verdict_after(&[few.clone(), new(&[0, 1, 2])]).await,
        Verdict::NoFaultSeen
    );
    let mut unnamed = new(&[0, 1]);
    unnamed["gpus"][1]["uuid"] = json!({ "source": "test", "gap": { "kind": "failed", "reason": "test" } });
    let mut part = new(&[0, 1]);
    part["host"] = json!({ "gpus.view": { "value": "0a0a", "source": "test" } });
    let same_boot = with_uuids(new(&[0, 1]), "a", "new");
    for other in [unnamed, part, same_boot] {
        assert_eq!(
            verdict_after(&[few.clone(), other.clone()]).await,
            Verdict::Degraded,
            "{other}"
        );
    }
    assert_ne!(
        verdict_after(&[few.clone(), new(&[0])]).await,
        Verdict::NoFaultSeen,
        "one is lost"
    );
    // An event is the ledger's to end, and a fault does not go with its part.
    let event = degraded(with_open(with_uuids(look("event", 10), "a", "old"), &[warning()]));
    let mut beside = new(&[0, 1]);
    beside["health"] = json!({ "verdict": "no_fault_seen", "open": [] });
    assert_eq!(
        verdict_after(&[event.clone(), beside.clone()]).await,
        Verdict::Degraded
    );
    // A proof that another ledger tells of may be another machine's.
    beside["health"]["last_proof"] = json!({
        "at": "2026-11-21T07:15:00Z", "verdict": "healthy", "reason": "proven", "report": "proof", "boot_id": "b",
    });
    assert_eq!(verdict_after(&[event, beside]).await, Verdict::Degraded);
    let mut fault = with_uuids(look("fault", 10), "a", "old");
    fault["gpus"][0]["facts"]["remapped_rows.failure"] = json!({ "value": true, "source": "test" });
    fault["conclusion"] = json!({ "verdict": "broken", "exit_code": 2, "reason": "remap failed" });
    let mut good = new(&[0, 1]);
    good["gpus"][0]["facts"]["remapped_rows.failure"] = json!({ "value": false, "source": "test" });
    assert_eq!(verdict_after(&[fault, good]).await, Verdict::Broken);
}

#[tokio::test]
async fn what_a_run_measured_slow_leaves_the_node_with_all_its_gpus() {
    let slow = with_uuids(measured("slow", 10, &all(), Some((1, 2))), "a", "old");
    let new = with_uuids(as_run(run("new", 20, &[0, 1, 2, 3], false)), "b", "new");
    assert_eq!(verdict_after(&[slow.clone(), new]).await, Verdict::Healthy);
    let fewer = with_uuids(as_run(run("fewer", 20, &[0, 1, 2], false)), "b", "new");
    assert_eq!(verdict_after(&[slow, fewer]).await, Verdict::Degraded);
}

/// A run in which one pair fails and another is slow.
fn broken_and_slow(minute: u8) -> Value {
    let mut run = measured("both", minute, &all(), Some((1, 2)));
    run["conclusion"] = json!({ "verdict": "broken", "exit_code": 2, "reason": "wrong data" });
    run["pairs"][0]["verdict"]["verdict"] = json!("broken");
    run["pairs"][0]["directions"][0]["checks"][0]["outcome"] = json!("fail");
    run
}

#[tokio::test]
async fn a_warning_outlives_the_fault_that_stood_beside_it() {
    let plain = || as_run(run("plain", 20, &[0, 1, 2, 3], false));
    for order in [[broken_and_slow(10), plain()], [plain(), broken_and_slow(10)]] {
        let (door, id, verdict) = told(&order).await;
        assert_eq!((id.as_str(), verdict), ("both", Verdict::Degraded));
        let reason = standing(&door).await.2;
        assert!(reason.contains("was not measured again"), "{reason}");
        assert_eq!(open_findings(&door).await, ["rule:verdict/degraded"]);
        let listed = door.store.report(None, &"both".parse().unwrap()).await.unwrap();
        assert_eq!(listed.unwrap().listing.verdict, Verdict::Broken, "it was");
        let plain = door.store.report(None, &"plain".parse().unwrap()).await.unwrap();
        assert_eq!(plain.unwrap().listing.verdict, Verdict::Healthy);
        sent(&door, &[measured("good", 30, &all(), None)]).await;
        assert_eq!(standing(&door).await.0, "good");
        assert_eq!(open_findings(&door).await, [""; 0]);
    }
}

/// With a check of NCCL that passes in each pair.
fn with_nccl(mut run: Value) -> Value {
    for pair in run["pairs"].as_array_mut().unwrap() {
        for direction in pair["directions"].as_array_mut().unwrap() {
            let checks = direction["checks"].as_array_mut().unwrap();
            let mut check = checks[0].clone();
            check["rung"] = json!(7);
            check["name"] = json!("nccl_all_reduce");
            checks.push(check);
        }
    }
    run
}

#[tokio::test]
async fn a_fault_and_the_warning_beside_it_may_end_by_two_runs_in_each_order() {
    let mut fault = with_nccl(measured("fault", 10, &all(), Some((1, 2))));
    fault["conclusion"] = json!({ "verdict": "broken", "exit_code": 2, "reason": "NCCL" });
    fault["pairs"][0]["verdict"]["verdict"] = json!("broken");
    fault["pairs"][0]["directions"][0]["checks"][4]["outcome"] = json!("fail");
    let with_nccl = with_nccl(as_run(run("with-nccl", 20, &[0, 1, 2, 3], false)));
    let measured = measured("measured", 30, &all(), None);
    let reports = [fault, with_nccl, measured];
    for order in orders(reports.len()) {
        // Beside a fault that was not over when one of them came, the run without NCCL is no proof.
        let is_refuted = order.last() == Some(&1);
        let expected = if is_refuted {
            ("fault", Verdict::Degraded)
        } else {
            ("measured", Verdict::Healthy)
        };
        let sent: Vec<Value> = order.iter().map(|place| reports[*place].clone()).collect();
        let (_, id, verdict) = told(&sent).await;
        assert_eq!((id.as_str(), verdict), expected, "{order:?}");
    }
}

#[tokio::test]
async fn a_run_that_could_not_tell_opens_what_it_warns_of() {
    let mut doubtful = measured("doubtful", 20, &all(), None);
    doubtful["pairs"][0]["verdict"] = json!({
        "verdict": "unknown", "cause": "gpu_busy", "beside": ["slow_pair"], "reason": "in use",
        "evidence": ["/measurements/0"],
    });
    doubtful["conclusion"] = json!({ "verdict": "unknown", "exit_code": 3, "reason": "in use" });
    let gpus = [0, 1, 2, 3];
    let before = || as_run(run("before", 5, &gpus, false));
    let plain = || as_run(run("plain", 30, &gpus, false));
    for order in [
        vec![before(), doubtful.clone(), plain()],
        vec![plain(), doubtful.clone(), before()],
        vec![before(), doubtful.clone(), as_look(plain())],
    ] {
        let (door, id, verdict) = told(&order).await;
        assert_eq!((id.as_str(), verdict), ("doubtful", Verdict::Degraded));
        sent(&door, &[measured("good", 40, &all(), None)]).await;
        assert_eq!(standing(&door).await.0, "good");
    }
    // Of a look that could not read all, as of any other.
    let mut unread = degraded(with_open(look("unread", 20), &[warning()]));
    unread["health"]["verdict"] = json!("unknown");
    unread["health"]["unread"] = json!([{ "what": "kernel_log", "why": "permission denied" }]);
    unread["conclusion"] = json!({ "verdict": "unknown", "exit_code": 3, "reason": "kernel_log" });
    let (door, _, verdict) = told(&[health("before", 5), unread]).await;
    assert_eq!(verdict, Verdict::Degraded);
    sent(&door, &[cleared(40, "2026-11-21T07:35:00Z", &[WARNING])]).await;
    assert_eq!(standing(&door).await.1, Verdict::Healthy);
}

#[tokio::test]
async fn a_warning_that_is_only_concluded_ends_by_no_look() {
    let concluded = degraded(look("concluded", 10));
    assert_eq!(
        verdict_after(&[concluded.clone(), look("good", 20)]).await,
        Verdict::Degraded
    );
    assert_eq!(
        verdict_after(&[look("good", 20), concluded.clone()]).await,
        Verdict::Degraded
    );
    assert_eq!(
        verdict_after(&[concluded, health("proof", 20)]).await,
        Verdict::Healthy
    );
}

#[tokio::test]
async fn an_admission_of_some_gpus_ends_no_warning_of_the_others() {
    let loaded = |gpu: u32| {
        json!({
            "gpu": gpu, "launches": 9, "copies": 9, "checks": 9, "wrong_checksums": 0, "wrong_copies": 0, "samples": 9,
            "throttled": {}, "counters": {}, "figures": {},
        })
    };
    let gap = json!({ "source": "test", "gap": { "kind": "skipped", "reason": "test" } });
    let mut part = as_run(run("part", 20, &[0, 1], false));
    part["host"] = json!({ "kernel_log.readable": { "value": true, "source": "test" } });
    part["load"] = json!({ "asked_seconds": 60.0, "seconds": 60.0, "steps": 9, "earlier": gap, "findings": [],
        "gpus": [loaded(0), loaded(1)] });
    let slow = measured("slow", 10, &all(), Some((1, 2)));
    let plain = as_run(run("plain", 30, &[0, 1, 2, 3], false));
    for boot in [json!("a"), json!("b")] {
        let mut slow = slow.clone();
        slow["node"]["boot_id"] = json!("a");
        part["node"]["boot_id"] = boot.clone();
        let mut plain = plain.clone();
        plain["node"]["boot_id"] = boot;
        assert_eq!(
            verdict_after(&[slow, part.clone(), plain]).await,
            Verdict::Degraded
        );
    }
}
