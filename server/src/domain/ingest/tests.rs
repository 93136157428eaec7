//! Reports at the door, with a real store behind it.

mod clock;
mod fewer;
mod host;
mod lasting;
mod logged;
mod looks;
mod open;
mod order;
mod warned;

use serde_json::{Value, json};
use time::OffsetDateTime;

use super::*;
use crate::domain::correlate::samples::{pair, proven, report};
use crate::domain::reports;
use crate::feed::samples::{PEER_ACCESS, generation_of};
use crate::store::{ConnectOptions, NodeQuery, Store, connect};

const AT: OffsetDateTime = time::macros::datetime!(2026-11-21 08:00 UTC);

struct Door {
    store: Arc<dyn Store>,
    generation: Arc<Generation>,
    correlator: Arc<Correlator>,
    _folder: tempfile::TempDir,
}

impl Door {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("peerless.db").display());
        Self {
            store: connect(&url, &ConnectOptions::default()).await.unwrap(),
            generation: generation_of(&[(PEER_ACCESS.0.to_owned(), PEER_ACCESS.1.to_owned())]),
            correlator: Arc::new(Correlator::new()),
            _folder: folder,
        }
    }

    async fn send(&self, body: &Value) -> Result<Accepted, IngestError> {
        self.send_text(body.to_string().as_bytes()).await
    }

    async fn send_text(&self, body: &[u8]) -> Result<Accepted, IngestError> {
        let arrival = Arrival {
            received_at: AT,
            sent_at: None,
        };
        self.send_at(body, arrival).await
    }

    async fn send_at(&self, body: &[u8], arrival: Arrival) -> Result<Accepted, IngestError> {
        accept(
            self.store.as_ref(),
            &self.generation,
            &self.correlator,
            (body.to_vec(), anybody()),
            arrival,
        )
        .await
    }
}

fn anybody() -> Writer {
    Writer {
        node: None,
        enrol_only: false,
    }
}

fn refused() -> Value {
    report(2, &[pair(0, 1, "GNS", 0)])
}

#[tokio::test]
async fn a_report_is_kept_as_sent_and_explained() {
    let door = Door::open().await;
    let mut body = refused();
    body["of_a_newer_minor_version"] = json!({ "kept": [1, 2.5, "é"] });
    let text = serde_json::to_string_pretty(&body).unwrap();
    let accepted = door.send_text(text.as_bytes()).await.unwrap();
    assert!(!accepted.is_duplicate);
    assert_eq!(accepted.findings.len(), 1);
    assert_eq!(accepted.findings[0].seq, Seq(1));
    assert_eq!(accepted.findings[0].finding.rule, "refused-without-link");

    let stored = door
        .store
        .report(Some(&accepted.node), &accepted.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(body_of(&stored).unwrap(), text.as_bytes(), "byte for byte");
    let view = reports::read(door.store.as_ref(), None, &accepted.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(view.findings, accepted.findings);
    assert_eq!(view.body["of_a_newer_minor_version"]["kept"][2], "é");
    let unknown = reports::read(door.store.as_ref(), None, &"other".parse().unwrap())
        .await
        .unwrap();
    assert!(unknown.is_none());
}

#[tokio::test]
async fn the_same_body_again_is_fine_and_another_is_a_conflict() {
    let door = Door::open().await;
    let first = door.send(&refused()).await.unwrap();
    let second = door.send(&refused()).await.unwrap();
    assert!(second.is_duplicate);
    assert_eq!(second.findings, first.findings);
    let mut other = refused();
    other["agent_version"] = json!("0.1.1");
    let error = door.send(&other).await.unwrap_err();
    assert!(matches!(error, IngestError::Conflict { .. }), "{error}");
    assert_eq!(
        door.send(&refused()).await.unwrap().findings,
        first.findings,
        "nothing was lost"
    );
}

#[tokio::test]
async fn a_report_whose_findings_were_never_kept_gets_them_when_it_comes_again() {
    let door = Door::open().await;
    let first = door.send(&refused()).await.unwrap();
    // As if the process had died between the two; a later report of the node is all that is correlated again.
    let store = door.store.as_ref();
    let none = store.replace_findings(&first.node, &first.id, first.seq, vec![]);
    none.await.unwrap();
    let second = door.send(&refused()).await.unwrap();
    assert!(second.is_duplicate);
    assert_eq!(second.findings, first.findings);
}

#[tokio::test]
async fn what_is_no_report_is_refused_with_its_place() {
    let door = Door::open().await;
    for (text, word) in [
        ("", "line 1"),
        ("{", "line 1"),
        ("[]", "schema.major"),
        ("null", "schema.major"),
        (
            r#"{"schema":{"major":1,"minor":0},"schema":{"major":1,"minor":0}}"#,
            "schema",
        ),
        (r#"{"schema":{"major":1,"minor":0}}"#, "missing field"),
        (r#"{"schema":{"major":0,"minor":9}}"#, "0.9"),
        (r#"{"schema":{"major":1.5,"minor":0}}"#, "whole"),
        (r#"{"schema":{"major":-1,"minor":0}}"#, "whole"),
        ("{\"a\":\"\u{0}\"}", "line 1"),
    ] {
        let error = door.send_text(text.as_bytes()).await.unwrap_err();
        assert!(
            matches!(error, IngestError::Text(_) | IngestError::Shape(_)),
            "{text}: {error}"
        );
        assert!(error.to_string().contains(word), "{text}: {error}");
    }
    let error = door.send_text(b"{\"a\":\"\xff\"}").await.unwrap_err();
    assert!(error.to_string().contains("byte 6 is not UTF-8"), "{error}");
    let newer = json!({ "schema": { "major": 2, "minor": 1 }, "all": "else differs" });
    let error = door.send(&newer).await.unwrap_err();
    assert!(
        matches!(error, IngestError::NewerSchema { found } if (found.major, found.minor) == (2, 1)),
        "{error}"
    );
    let huge = format!("\"{}\"", "x".repeat(MAX_BODY_BYTES));
    let error = door.send_text(huge.as_bytes()).await.unwrap_err();
    assert!(
        matches!(&error, IngestError::Text(text) if text.rule == "size"),
        "{error}"
    );
    assert_eq!(door.store.nodes(&NodeQuery::first(10)).await.unwrap(), []);
}

#[tokio::test]
async fn a_report_that_contradicts_itself_is_refused_with_its_place() {
    let door = Door::open().await;
    let edit = |pointer: &str, value: Value| {
        let mut body = report(2, &[pair(0, 1, "OK", 2)]);
        body["measurements"] = json!([{
            "metric": "d2d_bandwidth", "unit": "GB/s", "engine": "ce", "operation": "push", "bytes": 1024, "peer_access": true,
            "cells": [{ "source": 0, "destination": 1, "samples": [1.0] }],
        }]);
        *body.pointer_mut(pointer).expect(pointer) = value;
        body
    };
    assert!(door.send(&edit("/agent_version", json!("0.1.0"))).await.is_ok());
    let gpu_pair = pair(0, 1, "OK", 2);
    for (body, place) in [
        (edit("/pairs/0/b", json!(2)), "/pairs/0/b"),
        (edit("/pairs/0/a", json!(1)), "/pairs/0"),
        (edit("/pairs", json!([gpu_pair, gpu_pair])), "/pairs/1"),
        (
            edit("/pairs/0/directions/1/owner", json!(1)),
            "/pairs/0/directions/1",
        ),
        (edit("/started_at", json!("yesterday")), "/started_at"),
        (
            edit("/finished_at", json!("9999-12-31T23:59:59-01:00")),
            "/finished_at",
        ),
        (
            edit("/finished_at", json!("2026-11-21T06:00:00Z")),
            "/finished_at",
        ),
        (
            edit("/measurements/0/cells/0/source", json!(7)),
            "/measurements/0/cells/0/source",
        ),
        (
            edit(
                "/measurements/0/cells/0",
                json!({ "source": null, "destination": null }),
            ),
            "/measurements/0/cells/0",
        ),
        (
            edit("/measurements/0/metric", json!("")),
            "/measurements/0/metric",
        ),
        (edit("/node/hostname", json!("a\nb")), "/node/hostname"),
        (edit("/gpus/1/cuda_ordinal", json!(0)), "/gpus/1/cuda_ordinal"),
        (
            edit("/gpus", json!(vec![report(1, &[])["gpus"][0].clone(); 65])),
            "/gpus",
        ),
    ] {
        match door.send(&body).await {
            Err(IngestError::Invalid(problems)) => assert_eq!(problems[0].pointer, place, "{problems:?}"),
            other => panic!("{place}: {other:?}"),
        }
    }
    let mut twice = edit("/agent_version", json!("0.1.0"));
    let again = twice["measurements"][0].clone();
    twice["measurements"].as_array_mut().unwrap().push(again);
    let error = door.send(&twice).await.unwrap_err();
    assert!(error.to_string().contains("was measured before"), "{error}");
}

/// A run over these GPUs that ended at this minute; broken, or all pairs proven.
fn run(id: &str, minute: u8, gpus: &[u32], is_broken: bool) -> Value {
    let count = u32::try_from(gpus.len()).unwrap();
    let pairs: Vec<Value> = (0..count)
        .flat_map(|b| (0..b).map(move |a| proven(a, b)))
        .collect();
    let mut run = report(count, &pairs);
    run["report_id"] = json!(id);
    run["finished_at"] = json!(format!("2026-11-21T07:{minute:02}:00Z"));
    for (place, gpu) in gpus.iter().enumerate() {
        run["gpus"][place]["uuid"]["value"] = json!(format!("GPU-{gpu}"));
        run["gpus"][place]["pci_address"]["value"] = json!(format!("0000:0{gpu}:00.0"));
    }
    if is_broken {
        run["conclusion"]["verdict"] = json!("broken");
        run["pairs"][0]["verdict"]["verdict"] = json!("broken");
        run["pairs"][0]["directions"][0]["checks"][0]["outcome"] = json!("fail");
    }
    run
}

/// The report that stands of the node, with its verdict and its reason.
async fn standing(door: &Door) -> (String, Verdict, String) {
    let nodes = door.store.nodes(&NodeQuery::first(1)).await.unwrap();
    let latest = nodes.into_iter().next().unwrap().latest;
    (latest.id.to_string(), latest.verdict, latest.reason)
}

#[tokio::test]
async fn a_report_that_says_healthy_and_shows_nothing_is_unknown() {
    let door = Door::open().await;
    let accepted = door.send(&report(0, &[])).await.unwrap();
    assert_eq!(accepted.verdict, Verdict::Unknown);
    let (_, verdict, reason) = standing(&door).await;
    assert_eq!(verdict, Verdict::Unknown);
    assert!(reason.contains("it lists no GPU"), "{reason}");
}

#[tokio::test]
async fn health_ends_only_the_faults_that_it_covers() {
    let orders = [
        [
            run("fault", 10, &[0, 1, 2], true),
            run("fewer", 20, &[0, 1], false),
        ],
        [
            run("fewer", 20, &[0, 1], false),
            run("fault", 10, &[0, 1, 2], true),
        ],
    ];
    for reports in orders {
        let door = Door::open().await;
        for report in &reports {
            door.send(report).await.unwrap();
        }
        let (id, verdict, _) = standing(&door).await;
        assert_eq!((id.as_str(), verdict), ("fault", Verdict::Broken));
        let id = "fewer".parse().unwrap();
        let fewer = door.store.report(None, &id).await.unwrap().unwrap().listing;
        assert_eq!(fewer.verdict, Verdict::Unknown);
        assert!(
            fewer.reason.contains("GPU-2 is not among its GPUs"),
            "{}",
            fewer.reason
        );
        assert_eq!(fewer.weight, crate::store::Weight::Look);
        // The same GPUs in another order.
        let mended = door.send(&run("mended", 30, &[2, 1, 0], false)).await.unwrap();
        assert_eq!(mended.verdict, Verdict::Healthy);
        assert_eq!(standing(&door).await.0, "mended");
    }
}

#[tokio::test]
async fn a_later_fault_of_others_hides_no_earlier_one() {
    let door = Door::open().await;
    for report in [
        run("first", 10, &[0, 1], true),
        run("second", 20, &[2, 3], true),
        run("of-second", 30, &[2, 3], false),
    ] {
        door.send(&report).await.unwrap();
    }
    // The second is over, and the first is not.
    assert_eq!(standing(&door).await.0, "first");
    door.send(&run("of-all", 40, &[0, 1, 2, 3], false)).await.unwrap();
    assert_eq!(standing(&door).await.0, "of-all");
}

#[tokio::test]
async fn publishing_and_withdrawing_correlates_the_latest_report_again() {
    use crate::domain::correlate::recorrelate;
    let door = Door::open().await;
    let accepted = door.send(&refused()).await.unwrap();
    let rules = |findings: Vec<StoredFinding>| -> Vec<String> {
        findings.into_iter().map(|stored| stored.finding.rule).collect()
    };
    let store = door.store.as_ref();
    assert_eq!(
        recorrelate(store, &door.generation, &door.correlator, 8)
            .await
            .unwrap(),
        0,
        "nothing is older"
    );

    let bare = (
        PEER_ACCESS.0.to_owned(),
        json!({ "schema_version": 1 }).to_string(),
    );
    let other = (
        crate::feed::samples::document("test/other", "another").to_string(),
        json!({ "schema_version": 1 }).to_string(),
    );
    let later = generation_of(&[bare, other]);
    assert_eq!(recorrelate(store, &later, &door.correlator, 8).await.unwrap(), 1);
    let findings = store.findings(&accepted.node, &accepted.id).await.unwrap();
    assert_eq!(findings[0].seq, Seq(2));
    assert_eq!(rules(findings), ["refused_cause_unknown"]);
    assert_eq!(
        recorrelate(store, &later, &door.correlator, 8).await.unwrap(),
        0,
        "done once"
    );
}

/// What `peerless-agent convert` makes of other tools' output is a report like any other.
#[tokio::test]
async fn converted_output_of_other_tools_is_accepted_once() {
    let door = Door::open().await;
    let outputs = [
        include_str!("../../../../kb-core/tests/data/tools/nvbandwidth-x2.json"),
        include_str!("../../../../kb-core/tests/data/tools/p2p-bandwidth-latency-x4.txt"),
        include_str!("../../../../kb-core/tests/data/tools/nccl-tests-x2.txt"),
        include_str!("../../../../kb-core/tests/data/tools/topo-x4.txt"),
        include_str!("../../../../kb-core/tests/data/tools/nccl-log.txt"),
    ];
    let options = kb_core::convert::Options::new(
        kb_core::report::Node {
            id: "node-1".parse().unwrap(),
            hostname: None,
            boot_id: None,
        },
        "2026-11-21T07:21:49Z".to_owned(),
        "0.1.0".to_owned(),
    );
    for (number, output) in outputs.into_iter().enumerate() {
        for again in [false, true] {
            let report = kb_core::convert::convert(output.as_bytes(), &options).unwrap();
            let accepted = door.send(&serde_json::to_value(&report).unwrap()).await.unwrap();
            assert_eq!(accepted.is_duplicate, again, "output {number}");
        }
    }
}
