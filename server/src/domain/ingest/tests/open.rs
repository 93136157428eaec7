//! What stands open of a node is a set: each fault ends by its own rule, in whatever order the reports come.

mod endings;

use serde_json::{Value, json};

use super::super::open::settle;
use super::looks::{as_look, as_run};
use super::{AT, Arrival, Door, Past, Site, Verdict, parse, prepare, run, standing};
use crate::store::{Judged, NodeFinding};

const GPUS: &[u32] = &[0, 1];

fn health(id: &str, minute: u8) -> Value {
    as_run(run(id, minute, GPUS, false))
}

fn look(id: &str, minute: u8) -> Value {
    as_look(run(id, minute, GPUS, false))
}

/// With rows of GPU 0 that could be remapped, or not.
fn with_rows(mut report: Value, have_failed: bool) -> Value {
    report["gpus"][0]["facts"]["remapped_rows.failure"] = json!({ "value": have_failed, "source": "test" });
    if have_failed {
        report["conclusion"] = json!({ "verdict": "broken", "exit_code": 2, "reason": "remap failed" });
    }
    report
}

/// With an Xid that the agent's ledger holds open.
fn with_event(mut report: Value) -> Value {
    report["health"] = json!({ "verdict": "broken", "open": [{
        "id": "xid-79@0000:00:00.0", "cause": "xid", "nature": "event", "bearing": "fault", "device": "0000:00:00.0",
        "number": 79, "count": 1, "first_at": "2026-11-21T07:00:00Z", "last_at": "2026-11-21T07:00:00Z", "text": "Xid 79",
    }] });
    report["conclusion"] = json!({ "verdict": "broken", "exit_code": 2, "reason": "Xid 79" });
    report
}

/// A warning that each look tells anew.
fn with_few_links(mut report: Value) -> Value {
    report["gpus"][0]["facts"]["nvlink.links_active"] = json!({ "value": 3, "source": "test" });
    report["conclusion"] = json!({ "verdict": "degraded", "exit_code": 1, "reason": "3 of 18 links" });
    report
}

/// A run in which access that the driver grants was refused.
fn refused(id: &str, minute: u8) -> Value {
    let mut refused = health(id, minute);
    refused["pairs"][0]["verdict"] = json!({ "verdict": "refused", "reason": "refused", "evidence": [] });
    refused["conclusion"] = json!({ "verdict": "refused", "exit_code": 2, "reason": "refused" });
    refused
}

/// Sends reports whose senders tell what their clocks say.
async fn sent(door: &Door, reports: &[Value]) {
    let arrival = Arrival {
        received_at: AT,
        sent_at: Some(AT),
    };
    for report in reports {
        door.send_at(report.to_string().as_bytes(), arrival)
            .await
            .unwrap();
    }
}

async fn told(reports: &[Value]) -> (Door, String, Verdict) {
    let door = Door::open().await;
    sent(&door, reports).await;
    let (id, verdict, _) = standing(&door).await;
    (door, id, verdict)
}

async fn open_findings(door: &Door) -> Vec<String> {
    let findings = door
        .store
        .node_findings(&"node-1".parse().unwrap())
        .await
        .unwrap();
    let open = findings.into_iter().filter(|finding| finding.is_open);
    let mut names: Vec<String> = open.map(|NodeFinding { name, .. }| name).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_proven_fault_of_another_cause_ends_no_alarm() {
    for alarm in [with_rows(look("alarm", 10), true), with_event(look("alarm", 10))] {
        for between in [refused("other", 20), as_run(run("other", 20, GPUS, true))] {
            let reports = [health("before", 5), alarm.clone(), between, health("after", 30)];
            let (door, id, verdict) = told(&reports).await;
            assert_eq!((id.as_str(), verdict), ("alarm", Verdict::Broken));
            if alarm.get("health").is_none() {
                sent(&door, &[with_rows(health("mended", 40), false)]).await;
                assert_eq!(standing(&door).await.0, "mended");
            }
        }
    }
    // A proven fault that is as bad does not hide the alarm behind it, either.
    let reports = [
        as_run(run("proven", 5, GPUS, true)),
        with_rows(look("alarm", 10), true),
        health("after", 20),
    ];
    let (_, id, verdict) = told(&reports).await;
    assert_eq!((id.as_str(), verdict), ("alarm", Verdict::Broken));
}

#[tokio::test]
async fn what_is_worse_and_comes_late_stands_until_its_own_end() {
    let mut unread = look("mild", 30);
    unread["failures"] =
        json!([{ "step": "nvmlInit_v2", "code": 9, "code_name": null, "message": "not loaded" }]);
    unread["conclusion"] = json!({ "verdict": "unknown", "exit_code": 3, "reason": "not loaded" });
    for mild in [with_few_links(look("mild", 30)), unread] {
        for worse in [
            with_rows(look("worse", 20), true),
            with_event(look("worse", 20)),
            as_run(run("worse", 20, GPUS, true)),
        ] {
            let reports = [health("before", 5), mild.clone(), worse];
            let (door, id, verdict) = told(&reports).await;
            assert_eq!((id.as_str(), verdict), ("worse", Verdict::Broken));
            assert!(!open_findings(&door).await.is_empty());
            // The same in the order of the runs.
            let [before, mild, worse] = reports;
            let (_, id, verdict) = told(&[before, worse, mild]).await;
            assert_eq!((id.as_str(), verdict), ("worse", Verdict::Broken));
        }
    }
}

#[tokio::test]
async fn an_alarm_that_comes_late_is_held_against_the_health_after_it() {
    let alarm = || with_rows(look("alarm", 10), true);
    let (door, id, verdict) = told(&[health("after", 20), alarm()]).await;
    assert_eq!((id.as_str(), verdict), ("alarm", Verdict::Broken));
    let after = door.store.report(None, &"after".parse().unwrap()).await.unwrap();
    assert_eq!(after.unwrap().listing.verdict, Verdict::Unknown);
    let (_, id, _) = told(&[with_rows(health("after", 20), false), alarm()]).await;
    assert_eq!(id, "after");
}

#[tokio::test]
async fn no_number_of_later_alarms_hides_the_first() {
    let mut reports = vec![health("before", 1), with_event(look("first", 2))];
    for number in 0..150 {
        let mut alarm = with_rows(look(&format!("alarm-{number}"), 3), true);
        let (minute, second) = (3 + number / 60, number % 60);
        alarm["finished_at"] = json!(format!("2026-11-21T07:{minute:02}:{second:02}Z"));
        reports.push(alarm);
    }
    reports.push(with_rows(look("rows-are-good", 30), false));
    let (door, id, verdict) = told(&reports).await;
    assert_eq!((id.as_str(), verdict), ("first", Verdict::Broken));
    let known = door
        .store
        .proofs(&"node-1".parse().unwrap(), false, 1)
        .await
        .unwrap();
    assert_eq!(known.open.len(), 1, "what each look tells again is one fault");
    sent(&door, &[with_rows(health("after", 40), false)]).await;
    assert_eq!(standing(&door).await.1, Verdict::Broken, "the event is open");
}

#[tokio::test]
async fn each_verdict_against_a_node_has_a_finding_until_it_is_over() {
    let mut by_code = look("alarm", 10);
    by_code["conclusion"]["exit_code"] = json!(2);
    let mut absent = look("alarm", 10);
    absent["absent"] =
        json!([{ "absence": "lost", "pci_address": "0000:00:99.0", "reason": "gone", "source": "test" }]);
    absent["conclusion"] = json!({ "verdict": "broken", "exit_code": 2, "reason": "a GPU is lost" });
    let gone = as_look(run("alarm", 10, &[0], false));
    let mut converted = as_run(run("alarm", 10, GPUS, false));
    converted["host"] = json!({ "convert.tools": { "value": "nccl-tests", "source": "the text" } });
    converted["failures"] =
        json!([{ "step": "nccl-tests", "code": null, "code_name": null, "message": "7 values are wrong" }]);
    converted["conclusion"] = json!({ "verdict": "unknown", "exit_code": 3, "reason": "7 values are wrong" });
    for (alarm, rule) in [
        (with_rows(look("alarm", 10), true), "rule:verdict/broken"),
        (by_code, "rule:verdict/broken"),
        (absent, "rule:verdict/broken"),
        (gone, "rule:verdict/unknown"),
        (converted, "rule:verdict/unknown"),
        (with_few_links(look("alarm", 10)), "rule:verdict/degraded"),
        (as_run(run("alarm", 10, GPUS, true)), "rule:verdict/broken"),
    ] {
        let (door, id, verdict) = told(&[health("before", 5), alarm.clone(), look("after", 20)]).await;
        if verdict > Verdict::NoFaultSeen && id == "alarm" {
            assert_eq!(open_findings(&door).await, [rule], "{alarm:#}");
        }
        // Sent again, and correlated again, it is the same.
        sent(&door, &[alarm]).await;
        let (node, id) = ("node-1".parse().unwrap(), "alarm".parse().unwrap());
        let findings = door.store.findings(&node, &id).await.unwrap();
        assert_eq!(findings.len(), 1);
        assert_eq!(format!("rule:{}", findings[0].finding.rule), rule);
    }
    let (door, ..) = told(&[health("before", 5), look("after", 20)]).await;
    assert_eq!(open_findings(&door).await, [""; 0]);
}

#[tokio::test]
async fn what_nccl_tests_showed_does_not_end_with_copies_between_pairs() {
    let mut converted = as_run(run("alarm", 10, GPUS, false));
    converted["host"] = json!({ "convert.tools": { "value": "nccl-tests", "source": "the text" } });
    converted["failures"] =
        json!([{ "step": "nccl-tests", "code": null, "code_name": null, "message": "7 values are wrong" }]);
    converted["conclusion"] = json!({ "verdict": "broken", "exit_code": 2, "reason": "7 values are wrong" });
    let (door, id, verdict) = told(&[converted, health("probe", 20)]).await;
    assert_eq!((id.as_str(), verdict), ("alarm", Verdict::Broken));
    let mut with_nccl = health("bench", 30);
    let gap = json!({ "source": "test", "gap": { "kind": "skipped", "reason": "test" } });
    let arm = |peer_access: bool| json!({ "gpus": GPUS, "peer_access": peer_access, "outcome": "pass", "seconds": 1.0 });
    with_nccl["nccl"] = json!({ "library": gap, "version": gap, "verdict": "ok", "reason": "both pass",
        "arms": [arm(true), arm(false)] });
    sent(&door, &[with_nccl]).await;
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("bench", Verdict::Healthy));
}

#[tokio::test]
async fn the_finding_of_an_alarm_is_open_beside_another_alarm() {
    let mut by_code = look("second", 20);
    by_code["conclusion"]["exit_code"] = json!(2);
    for second in [with_rows(look("second", 20), true), by_code] {
        let (door, ..) = told(&[health("before", 5), with_event(look("first", 10)), second]).await;
        assert_eq!(
            open_findings(&door).await,
            ["rule:health/xid", "rule:verdict/broken"]
        );
    }
}

#[tokio::test]
async fn without_a_boot_a_gpu_that_is_gone_is_no_health() {
    for later in [
        run("later", 20, &[0, 1, 2], false),
        as_look(run("later", 20, &[0], false)),
    ] {
        let (_, id, verdict) = told(&[run("all", 10, &[0, 1, 2, 3], false), later]).await;
        assert_eq!((id.as_str(), verdict), ("later", Verdict::Unknown));
    }
}

#[tokio::test]
async fn gpus_that_are_gone_stay_so_behind_a_fault_of_those_that_are_left() {
    let booted = |mut report: Value, boot: &str| {
        report["node"]["boot_id"] = json!(boot);
        report
    };
    let all = booted(as_run(run("all", 5, &[0, 1, 2], false)), "a");
    let fewer = booted(as_look(run("fewer", 10, GPUS, false)), "a");
    let reports = [
        all,
        fewer,
        booted(refused("other", 20), "b"),
        booted(health("after", 30), "b"),
    ];
    let (door, _, verdict) = told(&reports).await;
    assert_eq!(verdict, Verdict::Unknown);
    let mut out = booted(health("out", 40), "b");
    out["host"] = json!({ "expected.gpus": { "value": 2, "source": "--expect" } });
    sent(&door, &[out]).await;
    assert_eq!(standing(&door).await.0, "out");
}

#[tokio::test]
async fn a_ledger_that_was_damaged_ends_health() {
    let mut damaged = look("damaged", 10);
    damaged["health"] = json!({ "verdict": "unknown", "open": [{
        "id": "ledger_damaged@node", "cause": "ledger_damaged", "nature": "event", "bearing": "unknown", "device": "node",
        "count": 1, "first_at": "2026-11-21T07:00:00Z", "last_at": "2026-11-21T07:00:00Z", "text": "it was cut",
    }] });
    damaged["conclusion"] = json!({ "verdict": "unknown", "exit_code": 3, "reason": "it was cut" });
    let (door, id, verdict) = told(&[health("before", 5), damaged, look("after", 20)]).await;
    assert_eq!((id.as_str(), verdict), ("damaged", Verdict::Unknown));
    assert_eq!(open_findings(&door).await, ["rule:health/ledger_damaged"]);
}

/// A run whose pair 0 and 1 moved so much.
fn with_moved(mut report: Value, bytes: u64, windows: u64) -> Value {
    for direction in report["pairs"][0]["directions"].as_array_mut().unwrap() {
        for check in direction["checks"].as_array_mut().unwrap() {
            check["bytes"] = json!(bytes);
            check["windows"] = json!(windows);
        }
    }
    report
}

#[tokio::test]
async fn less_data_than_was_wrong_ends_no_fault() {
    let broken = |id: &str, minute| as_run(run(id, minute, GPUS, true));
    let fault = with_moved(broken("fault", 10), 4096, 8);
    for (bytes, windows, id) in [(8, 8, "fault"), (4096, 1, "fault"), (4096, 8, "after")] {
        let (_, stands, _) = told(&[fault.clone(), with_moved(health("after", 20), bytes, windows)]).await;
        assert_eq!(stands, id, "{bytes} bytes in {windows} windows");
    }
    // The same check that failed with less is another fault.
    let less = with_moved(broken("less", 15), 4096, 1);
    let (_, stands, verdict) = told(&[fault, less, with_moved(health("after", 20), 4096, 1)]).await;
    assert_eq!((stands.as_str(), verdict), ("fault", Verdict::Broken));
}

/// What a report settles beside the fault `first` that was open before causes were kept.
async fn settled_beside_one_of_before(first: Value, second: &Value) -> Judged {
    let door = Door::open().await;
    sent(&door, &[first]).await;
    let (parsed, site) = (parse(second.to_string().as_bytes()).unwrap(), Site::default());
    let arrival = Arrival {
        received_at: AT,
        sent_at: Some(AT),
    };
    let body = second.to_string();
    let (generation, correlator) = (&door.generation, &door.correlator);
    let prepared = prepare(generation, correlator, (parsed, body.as_bytes()), &site, arrival);
    let mut prepared = prepared.unwrap();
    let new = &mut prepared.report;
    let mut known = door.store.proofs(&new.node, new.simulated, 1).await.unwrap();
    known.open[0].causes.names = vec!["report:first".to_owned()];
    let past = Past {
        reports: door.store.as_ref(),
        site: &site,
        is_again: false,
    };
    let mut judged = Judged::default();
    settle(&past, new, &prepared.sent, (&known, &mut judged))
        .await
        .unwrap();
    judged
}

#[tokio::test]
async fn a_fault_of_before_causes_were_kept_is_told_again_by_the_next_of_its_cause() {
    let first = with_rows(look("first", 10), true);
    let again = settled_beside_one_of_before(first.clone(), &with_rows(look("second", 20), true)).await;
    assert_eq!(again.ends, ["first".parse().unwrap()]);
    assert!(again.named.is_empty());
    let other = settled_beside_one_of_before(first, &with_event(look("second", 20))).await;
    assert!(other.ends.is_empty());
    let (id, causes) = &other.named[0];
    assert_eq!(id.as_str(), "first");
    assert!(
        causes
            .names
            .iter()
            .any(|name| name.starts_with("state:remap_failed@")),
        "{causes:?}"
    );
}
