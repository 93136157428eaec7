//! A node's own credential: who may write what, and who may join.

use peerless::store::Scope;
use serde_json::{Value, json as object};

use crate::reports::report;
use crate::test_app::{TestApp, json, problem};

async fn enrol(app: &TestApp, token: &str, node: &str, machine: &str) -> reqwest::Response {
    let body = object!({"node": node, "machine": machine});
    let request = app.post("/api/v1/enrol").bearer_auth(token).json(&body);
    request.send().await.unwrap()
}

/// A report of this node.
fn of_node(id: &str, node: &str) -> Value {
    let mut report = report(id);
    report["node"]["id"] = node.into();
    report
}

async fn send(app: &TestApp, token: &str, report: &Value) -> reqwest::Response {
    let request = app.post("/api/v1/reports").bearer_auth(token).json(report);
    request.send().await.unwrap()
}

#[tokio::test]
async fn a_credential_writes_its_own_node_alone() {
    let app = TestApp::start().await;
    let join = app.token(&[Scope::Enrol]).await;
    let answer = enrol(&app, &join, "node-a", "machine a").await;
    assert_eq!(answer.status(), 201);
    let answer = json(answer).await;
    assert_eq!(
        (&answer["node"], &answer["again"]),
        (&"node-a".into(), &false.into())
    );
    let own = answer["token"].as_str().unwrap();
    let kept = send(&app, own, &of_node("run-1", "node-a")).await;
    assert_eq!(kept.status(), 201);
    assert_eq!(json(kept).await["notice"], Value::Null);
    let refused = problem(
        send(&app, own, &of_node("run-2", "node-b")).await,
        403,
        "forbidden",
    )
    .await;
    let told = refused["detail"].as_str().unwrap();
    assert!(
        told.contains("node-a alone") && told.contains("of node-b"),
        "{told}"
    );
    let batch = object!({"items": [of_node("run-3", "node-b"), of_node("run-4", "node-a")]});
    let request = app.post("/api/v1/reports/batch").bearer_auth(own).json(&batch);
    let outcomes = json(request.send().await.unwrap()).await;
    assert_eq!(outcomes["items"][0]["problem"]["code"], "forbidden");
    assert_eq!(outcomes["items"][1]["node"], "node-a");
    // A token that may write any node still does, and is told.
    let any = app.token(&[Scope::Report]).await;
    let kept = json(send(&app, &any, &of_node("run-5", "node-b")).await).await;
    assert!(kept["notice"].as_str().unwrap().contains("any node"), "{kept}");
    let metrics = app.get("/metrics").await.text().await.unwrap();
    assert!(metrics.contains("reports_unbound_total 1"), "{metrics}");
}

#[tokio::test]
async fn a_clone_is_refused_and_a_machine_installed_anew_is_not() {
    let app = TestApp::start().await;
    let join = app.token(&[Scope::Enrol]).await;
    let first = json(enrol(&app, &join, "node-a", "machine a").await).await;
    let taken = problem(enrol(&app, &join, "node-a", "machine b").await, 409, "node_taken").await;
    assert!(
        taken["detail"]
            .as_str()
            .unwrap()
            .contains("another machine is enrolled as node-a")
    );
    let again = json(enrol(&app, &join, "node-a", "machine a").await).await;
    assert_eq!(again["again"], true);
    let (old, new) = (first["token"].as_str().unwrap(), again["token"].as_str().unwrap());
    problem(
        send(&app, old, &of_node("run-1", "node-a")).await,
        401,
        "unauthorized",
    )
    .await;
    assert_eq!(send(&app, new, &of_node("run-1", "node-a")).await.status(), 201);
    // Each enrolment makes a new token, so none of them has a vote.
    let vote = object!({"tried": "/workarounds/0", "worked": true});
    let path = format!("{}/-/outcomes", crate::records::P2P);
    let request = app.post(&path).bearer_auth(new).json(&vote);
    let told = problem(request.send().await.unwrap(), 403, "forbidden").await;
    assert!(told["detail"].as_str().unwrap().contains("has no vote"), "{told}");
    // A credential lets nobody else in, nor does a token for reports.
    for token in [new, &app.token(&[Scope::Report]).await] {
        problem(enrol(&app, token, "node-c", "machine c").await, 403, "forbidden").await;
    }
    for (node, machine) in [("..", "m"), ("node-d", ""), ("a/b", "m")] {
        problem(enrol(&app, &join, node, machine).await, 400, "malformed_body").await;
    }
}

#[tokio::test]
async fn with_enrol_only_tokens_for_any_node_are_refused() {
    let app = TestApp::start_with(|options| options.settings.enrol_only = true).await;
    let any = app.token(&[Scope::Report]).await;
    let refused = problem(
        send(&app, &any, &of_node("run-1", "node-a")).await,
        403,
        "forbidden",
    )
    .await;
    assert!(
        refused["detail"].as_str().unwrap().contains("enrol the node"),
        "{refused}"
    );
    let join = app.token(&[Scope::Enrol]).await;
    let own = json(enrol(&app, &join, "node-a", "machine a").await).await;
    let own = own["token"].as_str().unwrap();
    assert_eq!(send(&app, own, &of_node("run-1", "node-a")).await.status(), 201);
}
