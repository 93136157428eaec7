//! Findings with a life: what people do about them, and what that does not change.

use peerless::store::{Role, Scope};
use reqwest::StatusCode;
use serde_json::{Value, json as object};
use time::Duration;

use crate::nodes::{Fleet, fault};
use crate::reports::report;
use crate::test_app::{NOW, TestApp, json, problem};

const NAME: &str = "rule:health/xid-79";

async fn one_node() -> Fleet {
    let fleet = Fleet::start().await;
    fleet
        .look("r1", "n1", "570.1", &[fault("xid-79", "reset_gpu")])
        .await;
    fleet
}

async fn step(fleet: &Fleet, body: Value) -> reqwest::Response {
    let request = fleet
        .app
        .post("/api/v1/nodes/n1/findings")
        .bearer_auth(&fleet.read);
    request.json(&body).send().await.unwrap()
}

async fn state(fleet: &Fleet) -> String {
    let node = fleet.get("/api/v1/nodes/n1").await;
    node["findings"][0]["state"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_finding_is_acknowledged_silenced_and_owned_and_counts_all_the_while() {
    let fleet = one_node().await;
    assert_eq!(state(&fleet).await, "new");
    let before = (
        fleet.get("/api/v1/fleet").await,
        fleet.get("/api/v1/nodes/n1").await["summary"].clone(),
    );
    let told = step(
        &fleet,
        object!({"finding": NAME, "step": "acknowledge", "note": " card is ordered "}),
    )
    .await;
    assert_eq!(told.status(), StatusCode::OK);
    let finding = json(told).await["findings"][0].clone();
    assert_eq!(
        (&finding["state"], &finding["note"]),
        (&"acknowledged".into(), &"card is ordered".into())
    );
    assert_eq!(finding["handled_by"], "tester");
    step(
        &fleet,
        object!({"finding": NAME, "step": "own", "owner": "gpu-ops"}),
    )
    .await;
    let until = object!({"finding": NAME, "step": "silence", "until": "2026-01-03T00:00:00Z"});
    assert_eq!(step(&fleet, until).await.status(), StatusCode::OK);
    assert_eq!(state(&fleet).await, "silenced");
    // It counts wherever it counted.
    let after = (
        fleet.get("/api/v1/fleet").await,
        fleet.get("/api/v1/nodes/n1").await["summary"].clone(),
    );
    assert_eq!(after, before);
    let page = fleet.page("/nodes/n1").await;
    assert!(
        page.contains("silenced by tester") && page.contains("gpu-ops looks after it"),
        "{page}"
    );
    fleet.app.clock.set(NOW + Duration::days(2));
    assert_eq!(state(&fleet).await, "new", "a silence ends by itself");

    let admin = fleet.app.token(&[Scope::Admin]).await;
    let audit = json(fleet.app.get_with("/api/v1/audit?action=finding", &admin).await).await;
    let rows = audit["entries"].as_array().or(audit["audit"].as_array()).unwrap();
    let told: Vec<&str> = rows.iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(told, ["finding.silence", "finding.own", "finding.acknowledge"]);
    assert_eq!(rows[0]["subject"], format!("n1 {NAME}"));
}

#[tokio::test]
async fn what_was_acknowledged_and_comes_again_is_news() {
    let fleet = one_node().await;
    step(&fleet, object!({"finding": NAME, "step": "acknowledge"})).await;
    fleet
        .look("r2", "n1", "570.1", &[fault("xid-79", "reset_gpu")])
        .await;
    assert_eq!(state(&fleet).await, "acknowledged");
    fleet.look("r3", "n1", "570.1", &[]).await;
    assert_eq!(state(&fleet).await, "resolved");
}

/// A look without a ledger in which one fact of a GPU is bad, which no record explains.
async fn bad_fact(fleet: &Fleet, minute: u8, (gpu, fact, value): (usize, &str, Value), reason: &str) {
    let told = |value: Value| object!({ "value": value, "source": "test" });
    let mut body = report(&format!("r{minute}"));
    body["node"] = object!({ "id": "n1", "hostname": "n1.rack1", "boot_id": null });
    body["finished_at"] = format!("2026-01-02T03:{minute:02}:00Z").into();
    body["conclusion"] = object!({ "verdict": "broken", "exit_code": 2, "reason": reason });
    let gpus = (0..2).map(|index: usize| {
        let mut facts = object!({});
        if index == gpu {
            facts[fact] = told(value.clone());
        }
        object!({
            "cuda_ordinal": index, "nvml_index": told(index.into()), "uuid": told(format!("GPU-{index}").into()),
            "pci_address": told(format!("0000:00:0{index}.0").into()), "name": told("NVIDIA Test".into()),
            "memory_bytes": told(1.into()), "compute_capability": told("9.0".into()), "facts": facts,
        })
    });
    body["gpus"] = gpus.collect();
    let upload = fleet.app.token(&[Scope::Report]).await;
    let sent = fleet
        .app
        .post("/api/v1/reports")
        .bearer_auth(&upload)
        .json(&body)
        .send();
    let answer = sent.await.unwrap();
    assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
}

#[tokio::test]
async fn a_silence_swallows_no_other_fault_without_a_record() {
    const UNNAMED: &str = "rule:verdict/broken";
    let fleet = Fleet::start().await;
    let told = async || {
        let node = fleet.get("/api/v1/nodes/n1").await;
        let mut findings = node["findings"].as_array().unwrap().iter();
        let finding = findings.find(|finding| finding["name"] == UNNAMED).cloned();
        finding.unwrap_or_else(|| panic!("{node}"))
    };
    let errors = ("ecc.volatile_uncorrected", object!(3));
    let reason = "GPU 1 had 3 uncorrected memory errors";
    bad_fact(&fleet, 1, (1, errors.0, errors.1.clone()), reason).await;
    let silence = object!({"finding": UNNAMED, "step": "silence", "until": "2026-01-03T00:00:00Z", "note": "vendor case"});
    assert_eq!(step(&fleet, silence).await.status(), StatusCode::OK);
    bad_fact(&fleet, 2, (1, errors.0, errors.1), reason).await;
    assert_eq!(told().await["state"], "silenced");
    let other = (0, "recovery.action", object!("reboot"));
    bad_fact(&fleet, 3, other, "the driver asks for a reboot").await;
    let finding = told().await;
    assert_eq!(finding["state"], "new");
    assert_eq!(
        (&finding["title"], &finding["note"]),
        (&"the driver asks for a reboot".into(), &Value::Null)
    );
    let page = fleet.page("/nodes/n1").await;
    assert!(!page.contains("vendor case"), "{page}");
}

#[tokio::test]
async fn a_step_that_cannot_be_taken_is_told() {
    let fleet = one_node().await;
    for (body, status, code) in [
        (
            object!({"finding": "rule:other", "step": "release"}),
            404,
            "not_found",
        ),
        (
            object!({"finding": NAME, "step": "silence"}),
            400,
            "malformed_body",
        ),
        (
            object!({"finding": NAME, "step": "silence", "until": "tomorrow"}),
            400,
            "malformed_body",
        ),
        (
            object!({"finding": NAME, "step": "silence", "until": "2026-01-01T00:00:00Z"}),
            400,
            "malformed_body",
        ),
        (
            object!({"finding": NAME, "step": "silence", "until": "2036-01-01T00:00:00Z"}),
            400,
            "malformed_body",
        ),
        (
            object!({"finding": NAME, "step": "own", "owner": " "}),
            400,
            "malformed_body",
        ),
        (
            object!({"finding": NAME, "step": "acknowledge", "note": "x".repeat(1_001)}),
            400,
            "malformed_body",
        ),
    ] {
        problem(step(&fleet, body).await, status, code).await;
    }
    assert_eq!(state(&fleet).await, "new");
}

#[tokio::test]
async fn nobody_changes_a_finding_because_nodes_are_open_to_everybody() {
    let app = TestApp::start_with(|options| options.settings.public_fleet = true).await;
    let fleet = Fleet::of(app).await;
    fleet
        .look("r1", "n1", "570.1", &[fault("xid-79", "reset_gpu")])
        .await;
    let body = object!({"finding": NAME, "step": "acknowledge"});
    let sent = fleet
        .app
        .post("/api/v1/nodes/n1/findings")
        .json(&body)
        .send()
        .await
        .unwrap();
    problem(sent, 401, "unauthorized").await;
    let page = fleet.app.get("/nodes/n1").await.text().await.unwrap();
    assert!(
        page.contains("xid-79 was seen") && !page.contains("value=\"acknowledge\""),
        "{page}"
    );
}

#[tokio::test]
async fn an_operator_acknowledges_on_the_page() {
    let fleet = one_node().await;
    fleet.app.person("olga", Role::Viewer, true).await;
    let mut browser = fleet.app.browser("olga").await;
    let page = browser.get("/nodes/n1").await.text().await.unwrap();
    assert!(page.contains("value=\"acknowledge\""), "{page}");
    let fields = [
        ("finding", NAME),
        ("do", "acknowledge"),
        ("note", "on it"),
        ("until", ""),
    ];
    let sent = browser.send("/nodes/n1/findings", &fields).await;
    assert_eq!(sent.status(), 303, "{}", sent.text().await.unwrap());
    assert_eq!(state(&fleet).await, "acknowledged");
    let fields = [
        ("finding", NAME),
        ("do", "silence"),
        ("note", ""),
        ("until", "2026-01-05"),
    ];
    assert_eq!(browser.send("/nodes/n1/findings", &fields).await.status(), 303);
    let node = fleet.get("/api/v1/nodes/n1").await;
    assert_eq!(node["findings"][0]["silenced_until"], "2026-01-06T00:00:00Z");
    let fields = [("finding", NAME), ("do", "silence"), ("note", ""), ("until", "")];
    assert_eq!(browser.send("/nodes/n1/findings", &fields).await.status(), 400);
}
