//! What is apart from its like for the second time is a finding, and what sets affected nodes apart is told as association.

use peerless::store::Scope;
use serde_json::{Value, json as object};
use time::Duration;

use crate::baseline::bench;
use crate::process::until;
use crate::test_app::{NOW, TestApp, json};

async fn send(app: &TestApp, token: &str, report: &Value) {
    let sent = app.post("/api/v1/reports").bearer_auth(token).json(report).send();
    let answer = json(sent.await.unwrap()).await;
    assert!(answer["verdict"].is_string(), "{answer}");
}

/// Findings of a node that are open and say something against it: record, rule, action.
async fn open(app: &TestApp, token: &str, node: &str) -> Vec<(Value, Value, Value)> {
    let answer = json(app.get_with(&format!("/api/v1/nodes/{node}"), token).await).await;
    let findings = answer["findings"].as_array().unwrap().iter();
    let open = findings.filter(|one| one["state"] != "resolved" && one["bearing"] != "event");
    open.map(|one| (one["record"].clone(), one["rule"].clone(), one["action"].clone()))
        .collect()
}

#[tokio::test]
async fn a_pair_that_is_slow_twice_is_a_finding_and_once_is_none() {
    let app = TestApp::start().await;
    let upload = app.token(&[Scope::Report]).await;
    let fleet = app.token(&[Scope::Fleet]).await;
    for node in ["n1", "n2", "n3", "n4", "n5", "slow"] {
        send(&app, &upload, &bench(node, 1, 1.0)).await;
    }
    send(&app, &upload, &bench("slow", 2, 0.95)).await;
    assert_eq!(open(&app, &fleet, "slow").await, []);
    send(&app, &upload, &bench("slow", 3, 0.95)).await;
    let found = open(&app, &fleet, "slow").await;
    // The records of this server have none that explains it.
    let expected = (Value::Null, object!("outlier/pair"), Value::Null);
    assert_eq!(found, [expected]);
    // It is over with the next run that is as the others are.
    send(&app, &upload, &bench("slow", 4, 1.0)).await;
    assert_eq!(open(&app, &fleet, "slow").await, []);
    send(&app, &upload, &bench("n1", 2, 1.0)).await;
    assert_eq!(open(&app, &fleet, "n1").await, []);
}

#[tokio::test]
async fn a_run_that_did_not_measure_a_slow_pair_again_does_not_end_it() {
    let app = TestApp::start().await;
    let upload = app.token(&[Scope::Report]).await;
    let fleet = app.token(&[Scope::Fleet]).await;
    for node in ["n1", "n2", "n3", "n4", "n5", "slow"] {
        send(&app, &upload, &bench(node, 1, 1.0)).await;
    }
    send(&app, &upload, &bench("slow", 2, 0.95)).await;
    send(&app, &upload, &bench("slow", 3, 0.95)).await;
    let expected = (Value::Null, object!("outlier/pair"), Value::Null);
    for run in 4..6 {
        let mut short = bench("slow", run, 1.0);
        let is_other = |one: &Value| !one["metric"].as_str().unwrap().starts_with("d2d_bandwidth");
        short["measurements"].as_array_mut().unwrap().retain(is_other);
        send(&app, &upload, &short).await;
        assert_eq!(open(&app, &fleet, "slow").await, std::slice::from_ref(&expected));
        // Nor does it when it is sent again.
        send(&app, &upload, &short).await;
        assert_eq!(open(&app, &fleet, "slow").await, std::slice::from_ref(&expected));
    }
    let answer = json(app.get_with("/api/v1/reports/slow-run-5", &fleet).await).await;
    assert!(
        answer.to_string().contains("\"carried_from\":\"slow-run-3\""),
        "{}",
        answer["findings"]
    );
    send(&app, &upload, &bench("slow", 6, 1.0)).await;
    assert_eq!(open(&app, &fleet, "slow").await, []);
}

/// The driver refuses all pairs and NVML says why.
fn refused(node: &str, run: u32) -> Value {
    let mut report = bench(node, run, 1.0);
    for pair in report["pairs"].as_array_mut().unwrap() {
        for direction in pair["directions"].as_array_mut().unwrap() {
            direction["can_access_peer"]["value"] = false.into();
            for capability in ["read", "write", "nvlink", "atomics", "pci"] {
                direction["nvml"][capability]["value"] = "NS".into();
            }
            direction["checks"] = object!([]);
        }
        pair["verdict"] = object!({"verdict": "refused", "cause": "refused_not_supported", "reason": "NVML says NS", "evidence": [],
            "proven_rungs": []});
    }
    let is_of_host = |one: &Value| one["peer_access"] != true;
    report["measurements"].as_array_mut().unwrap().retain(is_of_host);
    report["conclusion"] = object!({"verdict": "refused", "exit_code": 2, "reason": "6 of 6 pairs refused"});
    report
}

#[tokio::test]
async fn a_refusal_that_other_nodes_of_the_kind_do_not_have_is_told() {
    let app = TestApp::start().await;
    let upload = app.token(&[Scope::Report]).await;
    let fleet = app.token(&[Scope::Fleet]).await;
    let rules =
        |found: Vec<(Value, Value, Value)>| -> Vec<Value> { found.into_iter().map(|one| one.1).collect() };
    send(&app, &upload, &refused("alone", 1)).await;
    let unlike = object!("peers/refused");
    assert!(
        !rules(open(&app, &fleet, "alone").await).contains(&unlike),
        "nobody to hold it against"
    );
    for node in ["n1", "n2", "n3", "n4", "n5"] {
        send(&app, &upload, &bench(node, 1, 1.0)).await;
    }
    send(&app, &upload, &refused("unlike", 1)).await;
    let found = rules(open(&app, &fleet, "unlike").await);
    assert!(found.contains(&unlike), "{found:?}");
    let mut meant = refused("meant", 1);
    meant["conclusion"]["expect"] = "p2p=none".into();
    for pair in meant["pairs"].as_array_mut().unwrap() {
        pair["verdict"]["information"] = true.into();
    }
    send(&app, &upload, &meant).await;
    let found = rules(open(&app, &fleet, "meant").await);
    assert!(!found.contains(&unlike), "{found:?}");
    let mut converted = refused("converted", 1);
    converted["host"]["convert.tools"] = object!({"value": "p2pBandwidthLatencyTest", "source": "test"});
    send(&app, &upload, &converted).await;
    let found = rules(open(&app, &fleet, "converted").await);
    assert!(!found.contains(&unlike), "{found:?}");
}

#[tokio::test]
async fn what_changed_since_the_last_good_run_is_told_and_facets_need_nodes() {
    let app = TestApp::start().await;
    let upload = app.token(&[Scope::Report]).await;
    let fleet = app.token(&[Scope::Fleet]).await;
    let with_bios = |run: u32, version: &str| {
        let mut report = bench("n1", run, 1.0);
        // The real run was given its GPUs; only a run over all that the node has proves its health.
        report["host"]
            .as_object_mut()
            .unwrap()
            .remove("environment.nvidia_visible_devices");
        report["host"]["host.container"]["value"] = "none seen".into();
        report["host"]["bios.version"] =
            object!({"value": version, "source": "/sys/class/dmi/id/bios_version"});
        report
    };
    send(&app, &upload, &with_bios(1, "2.4.1")).await;
    let address = "/api/v1/nodes/n1/changes";
    let first = json(app.get_with(address, &fleet).await).await;
    assert_eq!((&first["good"], &first["changes"]), (&Value::Null, &Value::Null));
    send(&app, &upload, &with_bios(2, "2.7.2")).await;
    let told = json(app.get_with(address, &fleet).await).await;
    assert_eq!(told["good"], "n1-run-1");
    let change = object!({"gpu": null, "fact": "bios.version", "before": "2.4.1", "before_unread": false,
        "now": "2.7.2", "now_unread": false});
    assert_eq!(told["changes"], object!([change]));
    assert_eq!(
        app.get_with("/api/v1/nodes/n9/changes", &fleet).await.status(),
        404
    );

    let facets = json(app.get_with("/api/v1/fleet/facets", &fleet).await).await;
    assert_eq!((&facets["nodes"], &facets["facets"]), (&object!(1), &object!([])));
    assert_eq!(
        (&facets["without_rack"], &facets["are_more"]),
        (&object!(1), &object!(false))
    );
    let page = app.get_with("/fleet/facets", &fleet).await.text().await.unwrap();
    for said in [
        "Association, not cause",
        "1 node looked at",
        "1 of 1 nodes has no label <code>rack</code>",
        "Nothing was compared",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let skipped = app.get_with("/fleet/facets?skip=x", &fleet).await;
    assert_eq!(skipped.status(), 400);
    assert_eq!(app.get("/fleet/facets").await.status(), 401);
    let overview = app.get_with("/nodes", &fleet).await.text().await.unwrap();
    assert!(overview.contains("href=\"/fleet/facets\""), "{overview}");
    // Kept for a while: another node changes nothing yet.
    send(&app, &upload, &bench("n2", 1, 1.0)).await;
    let again = json(app.get_with("/api/v1/fleet/facets", &fleet).await).await;
    assert_eq!(again, facets);
    let made_up = json(app.get_with("/api/v1/fleet/facets?simulated=true", &fleet).await).await;
    assert_eq!(made_up["nodes"], 0);
    assert_eq!(
        app.get_with("/api/v1/fleet/facets?model=x", &fleet)
            .await
            .status(),
        400
    );
}

#[tokio::test]
async fn an_old_answer_is_given_while_the_next_one_is_worked_out() {
    let app = TestApp::start().await;
    let upload = app.token(&[Scope::Report]).await;
    let fleet = app.token(&[Scope::Fleet]).await;
    let ask = async || json(app.get_with("/api/v1/fleet/facets", &fleet).await).await;
    send(&app, &upload, &bench("n1", 1, 1.0)).await;
    let first = ask().await;
    assert_eq!(
        (&first["nodes"], &first["computed_at"]),
        (&object!(1), &object!("2026-01-02T03:04:05Z"))
    );
    send(&app, &upload, &bench("n2", 1, 1.0)).await;
    app.clock.set(NOW + Duration::minutes(5));
    assert_eq!(ask().await, first, "with its time");
    // That somebody asked is why a new one is there soon.
    until("it is worked out", || async { ask().await["nodes"] == 2 }).await;
    assert_eq!(ask().await["computed_at"], "2026-01-02T03:09:05Z");
    // What is ten minutes old is given to nobody.
    send(&app, &upload, &bench("n3", 1, 1.0)).await;
    app.clock.set(NOW + Duration::minutes(15));
    let awaited = ask().await;
    assert_eq!(
        (&awaited["nodes"], &awaited["computed_at"]),
        (&object!(3), &object!("2026-01-02T03:19:05Z"))
    );
    app.stop().await;
}
