//! Warnings of a run: what was slow, or had less than it should, stays so until a run has seen the same again.

use serde_json::{Value, json};

use super::looks::{as_look, as_run};
use super::{AT, Arrival, Door, Policy, Verdict, parse, run, standing};
use crate::store::NewFinding;

const GPUS: [u32; 4] = [0, 1, 2, 3];
const BYTES: u64 = 64 << 20;
const GOOD: f64 = 50.0;

fn plain(id: &str, minute: u8) -> Value {
    as_run(run(id, minute, &GPUS, false))
}

/// A run with copies between these pairs both ways, of which one may be slow.
pub(super) fn measured(id: &str, minute: u8, pairs: &[(u32, u32)], slow: Option<(u32, u32)>) -> Value {
    let cell = |from: u32, to: u32, rate: f64| json!({ "source": from, "destination": to, "samples": [rate, rate, rate] });
    let cells: Vec<Value> = pairs
        .iter()
        .flat_map(|pair| {
            let rate = if slow == Some(*pair) { GOOD / 4.0 } else { GOOD };
            [cell(pair.0, pair.1, rate), cell(pair.1, pair.0, rate)]
        })
        .collect();
    let mut run = plain(id, minute);
    run["measurements"] = json!([{
        "metric": "d2d_bandwidth", "unit": "GB/s", "engine": "ce", "operation": "push", "bytes": BYTES,
        "peer_access": true, "cells": cells,
    }]);
    run
}

pub(super) fn all() -> Vec<(u32, u32)> {
    let pairs = GPUS.iter().flat_map(|b| (0..*b).map(move |a| (a, *b)));
    pairs.collect()
}

fn slow() -> Value {
    measured("slow", 10, &all(), Some((1, 2)))
}

fn good(minute: u8) -> Value {
    measured("good", minute, &all(), None)
}

fn with_fact(mut report: Value, facts: &[(&str, Value)]) -> Value {
    for (name, value) in facts {
        report["gpus"][1]["facts"][*name] = json!({ "value": value, "source": "test" });
    }
    report
}

/// What speaks against a report's verdict takes longest to find, and is found once.
#[tokio::test]
async fn what_speaks_against_a_verdict_is_handed_on() {
    let door = Door::open().await;
    let parsed = parse(slow().to_string().as_bytes()).unwrap();
    let (sent, policy) = ((&parsed.report, &parsed.body), Policy::default());
    let pairs = |found: &[NewFinding]| {
        let rules = found.iter().map(|one| one.rule.as_str());
        rules.filter(|rule| rule.starts_with("pair/")).count()
    };
    let found = door.correlator.correlate(&door.generation, sent, &policy);
    let handed_on = (&policy, None);
    let other = door
        .correlator
        .correlate_judged(&door.generation, sent, handed_on);
    assert_eq!((pairs(&found), pairs(&other)), (1, 0));
}

async fn after(reports: &[Value]) -> (String, Verdict) {
    let door = Door::open().await;
    sent(&door, reports).await;
    let (id, verdict, _) = standing(&door).await;
    (id, verdict)
}

async fn sent(door: &Door, reports: &[Value]) {
    let arrival = Arrival {
        received_at: AT,
        sent_at: Some(AT),
    };
    for report in reports {
        let body = report.to_string();
        door.send_at(body.as_bytes(), arrival).await.unwrap();
    }
}

#[tokio::test]
async fn what_the_server_finds_slow_is_a_finding() {
    let door = Door::open().await;
    let accepted = door.send(&slow()).await.unwrap();
    assert_eq!(accepted.verdict, Verdict::Degraded);
    let findings: Vec<_> = accepted.findings.iter().map(|stored| &stored.finding).collect();
    let told: Vec<_> = findings
        .iter()
        .map(|one| (one.rule.as_str(), one.subject.as_str()))
        .collect();
    assert_eq!(told, [("pair/slow_pair", "pair 1-2")]);
    assert!(findings[0].gravity.counts());
    let nodes = door
        .store
        .nodes(&crate::store::NodeQuery::first(1))
        .await
        .unwrap();
    let cause = nodes[0].summary.cause.as_ref().unwrap();
    assert_eq!(cause.rule, "pair/slow_pair");
    // A report that says good and is so tells nothing.
    assert_eq!(door.send(&good(20)).await.unwrap().findings, []);
}

#[tokio::test]
async fn a_slow_pair_outlives_a_fault_that_comes_late() {
    let slow = measured("slow", 20, &all(), Some((1, 2)));
    let broken = as_run(run("broken", 10, &GPUS, true));
    let plain = plain("plain", 30);
    for order in [
        [&broken, &slow, &plain],
        [&slow, &broken, &plain],
        [&slow, &plain, &broken],
    ] {
        let ids: Vec<_> = order.iter().map(|report| &report["id"]).collect();
        let (_, verdict) = after(&order.map(Clone::clone)).await;
        assert_eq!(verdict, Verdict::Degraded, "{ids:?}");
    }
}

#[tokio::test]
async fn a_slow_pair_stays_slow_until_it_is_measured_again() {
    let without: Vec<_> = all().into_iter().filter(|pair| *pair != (1, 2)).collect();
    let mut of_other_size = good(20);
    of_other_size["measurements"][0]["bytes"] = json!(1024);
    let mut alone = good(20);
    alone["measurements"][0]["peer_access"] = json!(false);
    let used_by_others = with_fact(good(20), &[("shared", json!(true))]);
    let few_samples = {
        let mut run = good(20);
        for cell in run["measurements"][0]["cells"].as_array_mut().unwrap() {
            cell["samples"] = json!([GOOD]);
        }
        run
    };
    for later in [
        plain("later", 20),
        measured("later", 20, &[(0, 3)], None),
        measured("later", 20, &without, None),
        measured("later", 20, &[(1, 2)], None),
        of_other_size,
        alone,
        used_by_others,
        few_samples,
        as_look(good(20)),
        as_look(plain("later", 20)),
    ] {
        for order in [[slow(), later.clone()], [later.clone(), slow()]] {
            assert_eq!(
                after(&order).await,
                ("slow".to_owned(), Verdict::Degraded),
                "{later}"
            );
        }
        let mended = measured("mended", 30, &all(), None);
        for order in [
            [slow(), later.clone(), mended.clone()],
            [mended.clone(), later.clone(), slow()],
            [later.clone(), mended.clone(), slow()],
        ] {
            assert_eq!(
                after(&order).await,
                ("mended".to_owned(), Verdict::Healthy),
                "{later}"
            );
        }
    }
}

#[tokio::test]
async fn a_run_that_does_not_see_a_warning_again_says_that_it_carries_it_on() {
    let door = Door::open().await;
    sent(&door, &[slow(), plain("later", 20)]).await;
    let later = door
        .store
        .report(None, &"later".parse().unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(later.listing.verdict, Verdict::Healthy, "of what it tried");
    let reason = later.listing.reason;
    assert!(
        reason.contains("what report slow warned of is carried on"),
        "{reason}"
    );
    assert!(reason.contains("was not measured again"), "{reason}");
    let nodes = door
        .store
        .node_findings(&"node-1".parse().unwrap())
        .await
        .unwrap();
    assert!(
        nodes
            .iter()
            .any(|finding| finding.rule == "pair/slow_pair" && finding.is_open)
    );
}

#[tokio::test]
async fn another_pair_that_is_slow_ends_none_and_stands_beside_it() {
    let other = measured("other", 20, &all(), Some((0, 3)));
    // Both pairs were measured: the first is good again.
    assert_eq!(
        after(&[slow(), other.clone()]).await,
        ("other".to_owned(), Verdict::Degraded)
    );
    assert_eq!(
        after(&[slow(), other, measured("good", 30, &all(), None)])
            .await
            .1,
        Verdict::Healthy
    );
    let again = measured("again", 20, &all(), Some((1, 2)));
    assert_eq!(
        after(&[slow(), again]).await,
        ("again".to_owned(), Verdict::Degraded)
    );
}

#[tokio::test]
async fn a_fact_that_warned_has_to_be_read_again() {
    for (name, most, bad, best) in [
        ("nvlink.links_active", "nvlink.links_expected", 12, 18),
        ("pcie.link_width", "pcie.link_width_max", 4, 16),
    ] {
        let with =
            |report: Value, value: u32| with_fact(report, &[(name, json!(value)), (most, json!(best))]);
        let without = |report: Value| with_fact(report, &[(most, json!(best))]);
        let narrow = with(plain("narrow", 10), bad);
        assert_eq!(
            after(std::slice::from_ref(&narrow)).await,
            ("narrow".to_owned(), Verdict::Degraded)
        );
        for later in [
            without(plain("later", 20)),
            plain("later", 20),
            as_look(without(plain("later", 20))),
            as_look(with(plain("later", 20), best)),
        ] {
            for order in [[&narrow, &later], [&later, &narrow]] {
                let order: Vec<Value> = order.into_iter().cloned().collect();
                assert_eq!(
                    after(&order).await,
                    ("narrow".to_owned(), Verdict::Degraded),
                    "{later}"
                );
            }
        }
        let whole = with(plain("whole", 20), best);
        assert_eq!(
            after(&[narrow, whole.clone()]).await,
            ("whole".to_owned(), Verdict::Healthy)
        );
        // What a look told, a look ends that reads it as good.
        let mut look = as_look(with(plain("look", 10), bad));
        look["conclusion"]["verdict"] = json!("degraded");
        let unread = [as_look(without(plain("later", 20))), plain("later", 20)];
        for later in unread {
            assert_eq!(
                after(&[look.clone(), later]).await,
                ("look".to_owned(), Verdict::Degraded)
            );
        }
        for later in [as_look(whole.clone()), whole] {
            assert_eq!(after(&[look.clone(), later]).await.0, "whole");
        }
    }
}

#[tokio::test]
async fn what_leads_to_nothing_in_its_report_was_not_seen_again() {
    for pointer in [
        "/measurements/9",
        "/gpus/9/facts/x",
        "/pairs/99/facts/x",
        "/pairs/99/directions/0/checks/0",
    ] {
        let mut warned = plain("warned", 10);
        warned["pairs"][0]["verdict"] =
            json!({ "verdict": "degraded", "cause": "slow_pair", "reason": "slow", "evidence": [pointer] });
        warned["conclusion"] = json!({ "verdict": "degraded", "exit_code": 1, "reason": "slow" });
        let (_, verdict) = after(&[warned, good(20)]).await;
        assert_eq!(verdict, Verdict::Degraded, "{pointer}");
    }
}

#[tokio::test]
async fn a_slow_gpu_that_was_taken_out_is_slow_no_more() {
    let fewer = |id: &str, expected: Option<u32>| {
        let mut run = as_run(run(id, 20, &[0, 1, 3], false));
        run["node"]["boot_id"] = json!("b");
        let cells: Vec<Value> = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]
            .iter()
            .map(|(from, to)| json!({ "source": from, "destination": to, "samples": [GOOD, GOOD, GOOD] }))
            .collect();
        run["measurements"] = slow()["measurements"].clone();
        run["measurements"][0]["cells"] = json!(cells);
        if let Some(gpus) = expected {
            run["host"] = json!({ "expected.gpus": { "value": gpus, "source": "--expect" } });
        }
        run
    };
    let mut slow = slow();
    slow["node"]["boot_id"] = json!("a");
    let unsaid = after(&[slow.clone(), fewer("fewer", None)]).await;
    assert_eq!(unsaid, ("slow".to_owned(), Verdict::Degraded));
    let said = after(&[slow.clone(), fewer("fewer", Some(3))]).await;
    assert_eq!(said, ("fewer".to_owned(), Verdict::Healthy));
    // Another GPU in its place is the one that is measured.
    let mut exchanged = good(20);
    exchanged["node"]["boot_id"] = json!("b");
    exchanged["gpus"][2]["uuid"]["value"] = json!("GPU-new");
    assert_eq!(
        after(&[slow, exchanged]).await,
        ("good".to_owned(), Verdict::Healthy)
    );
}

#[tokio::test]
async fn an_admission_ends_a_warning() {
    let loaded: Vec<Value> = GPUS
        .iter()
        .map(|gpu| {
            json!({
                "gpu": gpu, "launches": 9, "copies": 9, "checks": 9, "wrong_checksums": 0, "wrong_copies": 0, "samples": 9,
                "throttled": {}, "counters": {}, "figures": {},
            })
        })
        .collect();
    let gap = json!({ "source": "test", "gap": { "kind": "skipped", "reason": "test" } });
    let mut admitted = plain("admitted", 20);
    admitted["host"] = json!({ "kernel_log.readable": { "value": true, "source": "test" } });
    admitted["load"] = json!({ "asked_seconds": 60.0, "seconds": 60.0, "steps": 9, "earlier": gap, "findings": [], "gpus": loaded });
    assert_eq!(
        after(&[slow(), admitted.clone()]).await,
        ("admitted".to_owned(), Verdict::Healthy)
    );
    // A load that is none admits nothing.
    admitted["load"]["seconds"] = json!(1.0);
    assert_eq!(after(&[slow(), admitted]).await.1, Verdict::Degraded);
}
