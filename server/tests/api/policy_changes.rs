//! A server that is started with another policy: verdict and findings of each node are of the same rules. And a replay of what logs told.

use std::fs;
use std::time::Duration;

use peerless::store::Scope;
use reqwest::StatusCode;
use serde_json::{Value, json as object};
use tempfile::TempDir;

use crate::nodes::{Fleet, fault};
use crate::reports::report;
use crate::test_app::{Options, TestApp, json, problem};

const IGNORED: &str = "[[rule]]\ncode = \"xid 48\"\nis = \"ignore\"\nreason = \"known board\"\n";
const RECORD: &str = "cuda/peer-access-unsupported-by-hardware";
const LINE: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices";

async fn started(folder: TempDir, policy: Option<&str>) -> Fleet {
    let mut options = Options::new(&folder);
    if let Some(text) = policy {
        let path = folder.path().join("policy.toml");
        fs::write(&path, text).unwrap();
        options.settings.policy.policy = Some(path);
    }
    Fleet::of(TestApp::start_in(folder, options).await).await
}

/// The node, once the server has judged it by its rules of now.
async fn judged(fleet: &Fleet, node: &str) -> Value {
    for _ in 0..100 {
        let node = fleet.get(&format!("/api/v1/nodes/{node}")).await;
        if node["summary"]["rule_set"] == node["policy"]["rule_set"] {
            return node;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the node keeps the rule set of before");
}

#[tokio::test]
async fn another_policy_at_the_start_judges_verdict_and_findings_of_each_node() {
    let mut entry = fault("xid-48", "reset_gpu");
    entry["id"] = "xid-48@0000:00:06.0".into();
    entry["cause"] = "xid".into();
    entry["number"] = 48.into();
    let fleet = started(TempDir::new().unwrap(), Some(IGNORED)).await;
    fleet.look("r1", "n1", "570.1", &[entry]).await;
    assert_eq!(judged(&fleet, "n1").await["summary"]["verdict"], "no_fault_seen");
    let gone = started(fleet.app.stop().await, None).await;
    let node = judged(&gone, "n1").await;
    assert_eq!(node["summary"]["verdict"], "broken");
    assert_eq!(node["summary"]["milder_by_policy"], 0);
    assert_eq!(node["findings"][0]["bearing"], "fault");
    assert_eq!(node["advice"][0]["verdict"], "broken");
    let back = started(gone.app.stop().await, Some(IGNORED)).await;
    let node = judged(&back, "n1").await;
    assert_eq!(node["summary"]["verdict"], "no_fault_seen");
    assert_eq!(node["summary"]["milder_by_policy"], 1);
    let findings = node["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        assert_eq!(finding["bearing"], "event", "{finding:#}");
    }
}

#[tokio::test]
async fn a_replay_judges_what_the_log_of_a_report_told() {
    let fault = format!("[[rule]]\ncode = \"{RECORD}\"\nis = \"fault\"\nreason = \"ours must have it\"\n");
    let fleet = started(TempDir::new().unwrap(), Some(&fault)).await;
    let upload = fleet.app.token(&[Scope::Report]).await;
    let mut body = report("r1");
    body["logs"] = object!([{ "source": "kmsg", "when": "before", "text": LINE }]);
    let sent = fleet.app.post("/api/v1/reports").bearer_auth(&upload);
    assert!(sent.json(&body).send().await.unwrap().status().is_success());
    let node = fleet.get("/api/v1/nodes/node-1").await;
    assert_eq!(node["summary"]["verdict"], "broken");
    let replayed = async |asked: Value| {
        let request = fleet.app.post("/api/v1/policy/replay").bearer_auth(&fleet.read);
        let answer = request.json(&asked).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        json(answer).await
    };
    let same = replayed(object!({})).await;
    let counts = &same["counts"];
    assert_eq!(
        (&counts["nodes"], &counts["otherwise"], &counts["not_judged"]),
        (&1.into(), &0.into(), &0.into())
    );
    assert_eq!(counts["drains_given"]["nodes"], 1, "{counts}");
    let other = fault.replace("\"fault\"", "\"event\"");
    let milder = replayed(object!({ "policy": other })).await;
    assert_eq!(milder["counts"]["otherwise"], 1, "{milder}");
    assert_eq!(milder["nodes"][0]["present"]["verdict"], "broken");
    assert_ne!(milder["nodes"][0]["given"]["verdict"], "broken");
    let behind_nobody = fleet.app.post("/api/v1/policy/replay").bearer_auth(&fleet.read);
    let behind_nobody = behind_nobody.json(&object!({ "cursor": "zzz" }));
    let told = problem(behind_nobody.send().await.unwrap(), 400, "malformed_body").await;
    assert!(told["detail"].as_str().unwrap().contains("no node zzz"), "{told}");
}
