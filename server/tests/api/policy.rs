//! The site's policy over HTTP: who gets which rules, what a server judges by them, and agents older and newer than it.

use std::fs;
use std::path::PathBuf;

use kb_core::policy::Policy;
use peerless::domain::policy::file;
use peerless::store::Scope;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json as object};
use tempfile::TempDir;

use crate::nodes::{Fleet, fault};
use crate::reports::report;
use crate::test_app::{Options, TestApp, json, problem};

/// Writes a policy beside the database.
fn written(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("policy.toml");
    fs::write(&path, text).unwrap();
    path
}

const IGNORED: &str = "[[rule]]\ncode = \"xid 48\"\nis = \"ignore\"\nreason = \"known board\"\n";

async fn with_policy(text: &str) -> Fleet {
    let folder = TempDir::new().unwrap();
    let mut options = Options::new(&folder);
    options.settings.policy.policy = Some(written(&folder, text));
    Fleet::of(TestApp::start_in(folder, options).await).await
}

/// What an agent that knows no policy holds open.
fn xid(number: u32, cause: &str) -> Value {
    let mut entry = fault("xid-48", "reset_gpu");
    entry["id"] = format!("{cause}-{number}@0000:00:06.0").into();
    entry["cause"] = cause.into();
    entry["number"] = number.into();
    entry
}

#[tokio::test]
async fn a_node_gets_its_rules_with_a_tag_and_nobody_else_does() {
    let text = format!(
        "{IGNORED}[[rule]]\ncode = \"xid 94\"\nis = \"fault\"\nlabel = {{ pool = \"test\" }}\nreason = \"ours\"\n"
    );
    let fleet = with_policy(&text).await;
    let app = &fleet.app;
    let upload = app.token(&[Scope::Report]).await;
    let answer = app.get_with("/api/v1/policy?node=n1", &upload).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(answer.headers()["cache-control"], "private, no-cache");
    let given = json(answer).await;
    assert_eq!(given["stage"], "current");
    assert_eq!(given["version"], file::read(&text, &[]).unwrap().version);
    assert_eq!(given["rules"].as_array().unwrap().len(), 1, "it has no label");
    assert_eq!(given["rules"][0]["code"], "xid 48");
    let again = app
        .request(Method::GET, "/api/v1/policy?node=n1")
        .bearer_auth(&upload)
        .header("if-none-match", &tag);
    assert_eq!(again.send().await.unwrap().status(), StatusCode::NOT_MODIFIED);
    problem(app.get_with("/api/v1/policy", &upload).await, 400, "bad_query").await;
    problem(app.get("/api/v1/policy?node=n1").await, 401, "unauthorized").await;
    problem(
        app.get_with("/api/v1/policy?node=n1", &fleet.read).await,
        403,
        "forbidden",
    )
    .await;
}

#[tokio::test]
async fn without_a_policy_an_agent_gets_one_without_rules() {
    let fleet = Fleet::start().await;
    let upload = fleet.app.token(&[Scope::Report]).await;
    let given = json(fleet.app.get_with("/api/v1/policy?node=n1", &upload).await).await;
    assert_eq!(
        (&given["version"], &given["rules"]),
        (&"none".into(), &object!([]))
    );
}

/// An agent of before there were policies reports a fault that the site ignores.
#[tokio::test]
async fn what_an_old_agent_calls_a_fault_is_judged_by_the_servers_policy() {
    let fleet = with_policy(IGNORED).await;
    fleet.look("r1", "n1", "570.1", &[xid(48, "xid")]).await;
    let node = fleet.get("/api/v1/nodes/n1").await;
    let summary = &node["summary"];
    assert_eq!(summary["verdict"], "no_fault_seen");
    assert_eq!(summary["action"], "none");
    assert_eq!(summary["milder_by_policy"], 1);
    assert_eq!(summary["rule_set"], node["policy"]["rule_set"]);
    let reason = node["latest"]["reason"].as_str().unwrap();
    assert!(
        reason.contains("no fault by the site's policy; 1 ignored: xid-48@0000:00:06.0"),
        "{reason}"
    );
    let finding = &node["findings"][0];
    assert_eq!(
        (&finding["bearing"], &finding["by_policy"]["was"]),
        (&"event".into(), &"fault".into())
    );
    assert_eq!(finding["by_policy"]["reason"], "known board");
    assert_eq!(
        (&node["advice"][0]["action"], &node["advice"][0]["rule_set"]),
        (&"none".into(), &summary["rule_set"])
    );
    let page = fleet.page("/nodes/n1").await;
    assert!(page.contains("made milder by the site"), "{page}");
    assert!(
        page.contains("Ignored by the site") && page.contains("known board"),
        "{page}"
    );
    // Another code is the fault that it was.
    fleet
        .look(
            "r2",
            "n1",
            "570.1",
            &[xid(48, "xid"), fault("xid-79", "reset_gpu")],
        )
        .await;
    let node = fleet.get("/api/v1/nodes/n1").await;
    assert_eq!(node["summary"]["verdict"], "broken");
    assert_eq!(node["summary"]["milder_by_policy"], 1);
    assert_eq!(node["advice"].as_array().unwrap().len(), 2);
}

/// The same ledger by a newer agent, whose policy the server does not have: the records decide.
#[tokio::test]
async fn what_an_agent_ignores_by_another_policy_is_judged_by_the_servers_own() {
    let mut ignored = xid(48, "xid");
    ignored["bearing"] = "event".into();
    ignored["by_policy"] = object!({ "rule": 7, "is": "ignore", "was": "fault", "reason": "theirs" });
    let fleet = Fleet::start().await;
    fleet
        .look("r1", "n1", "570.1", std::slice::from_ref(&ignored))
        .await;
    assert_eq!(
        fleet.get("/api/v1/nodes/n1").await["summary"]["verdict"],
        "broken"
    );
    let same = with_policy(IGNORED).await;
    same.look("r1", "n1", "570.1", &[ignored]).await;
    let node = same.get("/api/v1/nodes/n1").await;
    assert_eq!(node["summary"]["verdict"], "no_fault_seen");
    assert_eq!(node["findings"][0]["by_policy"]["rule"], 1);
}

#[tokio::test]
async fn a_policy_raises_what_the_records_pass_over() {
    let fleet =
        with_policy("[[rule]]\ncode = \"xid 31\"\nis = \"fault\"\nreason = \"our jobs do not\"\n").await;
    let mut event = xid(31, "xid");
    event["bearing"] = "event".into();
    fleet.look("r1", "n1", "570.1", &[event]).await;
    let node = fleet.get("/api/v1/nodes/n1").await;
    assert_eq!(node["summary"]["verdict"], "broken");
    assert_eq!(node["findings"][0]["bearing"], "fault");
}

/// A fault stands; then the site decides to ignore it, and the next look says so.
#[tokio::test]
async fn a_policy_that_comes_later_ends_the_alarm_with_the_next_look() {
    let fleet = Fleet::start().await;
    fleet.look("r1", "n1", "570.1", &[xid(48, "xid")]).await;
    assert_eq!(
        fleet.get("/api/v1/nodes/n1").await["summary"]["verdict"],
        "broken"
    );
    let before = fleet.get("/api/v1/nodes/n1").await["summary"]["rule_set"].clone();
    let folder = fleet.app.stop().await;
    let mut options = Options::new(&folder);
    options.settings.policy.policy = Some(written(&folder, IGNORED));
    let fleet = Fleet::of(TestApp::start_in(folder, options).await).await;
    fleet.look("r2", "n1", "570.1", &[xid(48, "xid")]).await;
    let summary = fleet.get("/api/v1/nodes/n1").await["summary"].clone();
    assert_eq!(summary["verdict"], "no_fault_seen", "{summary}");
    assert_ne!(summary["rule_set"], before);
    // A proof that failed is no matter of a policy.
    fleet.look("r3", "n2", "570.1", &[xid(79, "xid")]).await;
    assert_eq!(
        fleet.get("/api/v1/nodes/n2").await["summary"]["verdict"],
        "broken"
    );
}

#[tokio::test]
async fn a_share_of_the_nodes_has_the_candidate_and_says_so() {
    let folder = TempDir::new().unwrap();
    let mut options = Options::new(&folder);
    let candidate = folder.path().join("candidate.toml");
    fs::write(&candidate, IGNORED).unwrap();
    options.settings.policy.policy_candidate = Some(candidate);
    options.settings.policy.policy_share = Some("20".parse().unwrap());
    let fleet = Fleet::of(TestApp::start_in(folder, options).await).await;
    let (mut chosen, mut others) = (0, 0);
    for number in 0..30 {
        let id = format!("n{number}");
        fleet
            .look(&format!("r{number}"), &id, "570.1", &[xid(48, "xid")])
            .await;
        let node = fleet.get(&format!("/api/v1/nodes/{id}")).await;
        let verdict = node["summary"]["verdict"].as_str().unwrap();
        assert_eq!(node["summary"]["rule_set"], node["policy"]["rule_set"]);
        if node["policy"]["stage"] == "candidate" {
            chosen += 1;
            assert_eq!(verdict, "no_fault_seen");
            assert!(fleet.page(&format!("/nodes/{id}")).await.contains("(candidate)"));
        } else {
            others += 1;
            assert_eq!((verdict, &node["policy"]["version"]), ("broken", &"none".into()));
        }
    }
    assert!(chosen > 0 && others > chosen, "{chosen} of 30");
}

#[tokio::test]
async fn a_server_with_a_policy_that_makes_no_sense_does_not_start() {
    let folder = TempDir::new().unwrap();
    let mut options = Options::new(&folder);
    options.settings.policy.policy = Some(written(
        &folder,
        "[[rule]]\ncode = \"xid 79\"\nis = \"ignore\"\nreason = \"x\"\n",
    ));
    let environment = peerless::startup::Environment::with(peerless::startup::Seeds::These(options.seeds));
    let refused = peerless::startup::Application::build(&options.settings, environment).await;
    let told = refused.err().unwrap().to_string();
    assert!(
        told.contains("line 3: rule 1, is: xid 79 tells of a GPU that is lost"),
        "{told}"
    );
}

/// The file of docs/POLICY.md.
#[test]
fn the_example_is_a_policy() {
    let text = include_str!("../../../docs/policy.example.toml");
    let policy = file::read(text, &[]).unwrap();
    assert!(policy.rules.len() >= 4);
    assert_ne!(policy.version, Policy::default().version);
}

async fn replayed(fleet: &Fleet, body: &Value) -> Value {
    let request = fleet.app.post("/api/v1/policy/replay").bearer_auth(&fleet.read);
    let answer = request.json(body).send().await.unwrap();
    assert_eq!(
        answer.status(),
        StatusCode::OK,
        "{}",
        answer.text().await.unwrap()
    );
    json(answer).await
}

#[tokio::test]
async fn a_replay_says_which_nodes_a_policy_judges_otherwise_and_of_which_nothing_is_known() {
    let fleet = Fleet::start().await;
    fleet.look("r1", "n1", "570.1", &[xid(48, "xid")]).await;
    fleet.look("r2", "n2", "570.1", &[xid(95, "xid")]).await;
    fleet.look("r3", "n3", "570.1", &[]).await;
    let same = replayed(&fleet, &object!({})).await;
    assert_eq!(same["counts"]["otherwise"], 0);
    assert_eq!(same["counts"]["drains_given"]["nodes"], 2);
    assert_eq!(same["counts"]["drains_given"]["untold"], 2);
    let milder = replayed(&fleet, &object!({ "policy": IGNORED })).await;
    let counts = &milder["counts"];
    assert_eq!(
        (&counts["nodes"], &counts["otherwise"], &counts["without_history"]),
        (&3.into(), &1.into(), &0.into())
    );
    assert_eq!(counts["drains_given"]["nodes"], 1);
    let node = &milder["nodes"][0];
    assert_eq!(
        (&node["node"], &node["present"]["verdict"]),
        (&"n1".into(), &"broken".into())
    );
    assert_eq!(
        (&node["given"]["verdict"], &node["given"]["drained_at"]),
        (&"no_fault_seen".into(), &Value::Null)
    );
    // In pages, each with what comes next.
    let first = replayed(&fleet, &object!({ "policy": IGNORED, "limit": 2 })).await;
    assert_eq!(
        (&first["counts"]["nodes"], &first["next_cursor"]),
        (&2.into(), &"n2".into())
    );
    let rest = replayed(
        &fleet,
        &object!({ "policy": IGNORED, "limit": 2, "cursor": "n2" }),
    )
    .await;
    assert_eq!(
        (&rest["counts"]["nodes"], &rest["next_cursor"]),
        (&1.into(), &Value::Null)
    );
    // A year later nothing is known of the time asked for.
    fleet
        .app
        .clock
        .set(crate::test_app::NOW + time::Duration::days(60));
    let later = replayed(&fleet, &object!({ "policy": IGNORED })).await;
    assert_eq!(
        (&later["counts"]["without_history"], &later["counts"]["otherwise"]),
        (&3.into(), &0.into())
    );
    let bad = fleet.app.post("/api/v1/policy/replay").bearer_auth(&fleet.read);
    let bad = bad
        .json(&object!({ "policy": "[[rules]]" }))
        .send()
        .await
        .unwrap();
    let told = problem(bad, 400, "malformed_body").await;
    assert!(told["detail"].as_str().unwrap().contains("line 1"), "{told}");
    let upload = fleet.app.token(&[Scope::Report]).await;
    let forbidden = fleet
        .app
        .post("/api/v1/policy/replay")
        .bearer_auth(&upload)
        .json(&object!({}));
    problem(forbidden.send().await.unwrap(), 403, "forbidden").await;
}

/// The former id leads to the record, and so does the rule.
#[tokio::test]
async fn a_rule_for_a_record_that_is_renamed_still_counts() {
    const ID: &str = "cuda/peer-access-unsupported-by-hardware";
    let rule = format!("[[rule]]\ncode = \"{ID}\"\nis = \"fault\"\nreason = \"ours must have it\"\n");
    let fleet = with_policy(&rule).await;
    let upload = fleet.app.token(&[Scope::Report]).await;
    let send = async |number: u32| {
        let mut body = report(&format!("r{number}"));
        body["node"]["id"] = format!("n{number}").into();
        let text = "RuntimeError: CUDA error: peer access is not supported between these two devices";
        body["logs"] = object!([{"source": "kmsg", "when": "before", "text": text}]);
        let sent = fleet.app.post("/api/v1/reports").bearer_auth(&upload);
        let answer = json(sent.json(&body).send().await.unwrap()).await;
        let node = fleet.get(&format!("/api/v1/nodes/n{number}")).await;
        (
            answer["kb"]["seq"].as_i64().unwrap(),
            node["summary"]["verdict"].clone(),
        )
    };
    assert_eq!(send(0).await.1, "broken");
    let publisher = fleet.app.token(&[Scope::Publish]).await;
    let path = format!("/api/v1/records/{ID}/-/rename?new_id=cuda/no-peer-access");
    let renamed = fleet.app.post(&path).bearer_auth(&publisher);
    let renamed = json(renamed.send().await.unwrap()).await;
    let renamed = renamed["seq"].as_i64().unwrap();
    let mut number = 1;
    let verdict = loop {
        let (seq, verdict) = send(number).await;
        if seq >= renamed {
            break verdict;
        }
        number += 1;
        assert!(number < 100, "the server does not follow");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    assert_eq!(verdict, "broken");
}
