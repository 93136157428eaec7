//! Votes on what a record advises.

use peerless::store::Scope;
use reqwest::Method;
use serde_json::{Value, json as object};

use crate::records::P2P;
use crate::test_app::{TestApp, json, problem};

async fn vote(app: &TestApp, token: &str, body: &Value) -> reqwest::Response {
    let request = app
        .post(&format!("{P2P}/-/outcomes"))
        .bearer_auth(token)
        .json(body);
    request.send().await.unwrap()
}

#[tokio::test]
async fn votes_are_counted_once_for_each_reporter() {
    let app = TestApp::start().await;
    let (one, other) = (
        app.token(&[Scope::Report]).await,
        app.token(&[Scope::Report]).await,
    );
    let nothing = app.get_json(&format!("{P2P}/-/outcomes")).await;
    assert_eq!(nothing["actions"], object!([]));
    let environment = object!({"driver": "550.54.14"});
    for (token, worked, outcome) in [
        (&one, true, "added"),
        (&one, false, "changed"),
        (&other, true, "added"),
    ] {
        let body = object!({"tried": "/workarounds/0", "worked": worked, "environment": environment});
        let receipt = json(vote(&app, token, &body).await).await;
        assert_eq!(receipt["outcome"], outcome);
    }
    let body = object!({"tried": "/dead_ends/1", "worked": false, "revision": 1});
    assert_eq!(json(vote(&app, &one, &body).await).await["outcome"], "added");
    assert_eq!(json(vote(&app, &one, &body).await).await["outcome"], "unchanged");
    insta::assert_json_snapshot!(app.get_json(&format!("{P2P}/-/outcomes")).await);
}

/// Versions are invented quickly: of one reporter they are one vote for an action and a GPU model.
#[tokio::test]
async fn invented_versions_are_one_vote() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Report]).await;
    for driver in 1..=20 {
        let environment = object!({"driver": format!("{driver}.0"), "gpu_model": "H200"});
        let body = object!({"tried": "/workarounds/0", "worked": true, "environment": environment});
        assert_eq!(vote(&app, &token, &body).await.status(), 200);
    }
    let counted = app.get_json(&format!("{P2P}/-/outcomes")).await;
    assert_eq!(counted["actions"][0]["worked"], 1, "{counted}");
    assert_eq!(
        counted["actions"][0]["environments"][0]["environment"]["driver"],
        "20.0"
    );
    for (environment, told) in [
        (object!({"drver": "1"}), "is driver meant?"),
        (object!({"driver": "abc"}), "is no version of driver"),
    ] {
        let body = object!({"tried": "/workarounds/0", "worked": true, "environment": environment});
        let refused = problem(vote(&app, &token, &body).await, 400, "malformed_body").await;
        assert!(refused["detail"].as_str().unwrap().contains(told), "{refused}");
    }
}

#[tokio::test]
async fn a_vote_needs_a_token_and_something_that_was_tried() {
    let app = TestApp::start().await;
    let good = object!({"tried": "/workarounds/0", "worked": true});
    let path = format!("{P2P}/-/outcomes");
    problem(
        app.post(&path).json(&good).send().await.unwrap(),
        401,
        "unauthorized",
    )
    .await;
    let editor = app.token(&[Scope::Edit]).await;
    problem(vote(&app, &editor, &good).await, 403, "forbidden").await;
    let token = app.token(&[Scope::Report]).await;
    for (bad, status, code) in [
        (
            object!({"tried": "/workarounds/99", "worked": true}),
            400,
            "malformed_body",
        ),
        (
            object!({"tried": "/signature", "worked": true}),
            400,
            "malformed_body",
        ),
        (object!({"tried": "/workarounds/0"}), 400, "malformed_body"),
        (
            object!({"tried": "/workarounds/0", "worked": true, "note": "x"}),
            400,
            "malformed_body",
        ),
        (
            object!({"tried": "/workarounds/0", "worked": true, "revision": 7}),
            404,
            "not_found",
        ),
        (
            object!({"tried": "/workarounds/0", "worked": true, "environment": {"driver": ""}}),
            400,
            "malformed_body",
        ),
        (
            object!({"tried": "x".repeat(20_000), "worked": true}),
            413,
            "too_large",
        ),
    ] {
        problem(vote(&app, &token, &bad).await, status, code).await;
    }
    for (method, path) in [(Method::GET, "no/such"), (Method::POST, "no/such")] {
        let request = app.request(method, &format!("/api/v1/records/{path}/-/outcomes"));
        let response = request.bearer_auth(&token).json(&good).send().await.unwrap();
        problem(response, 404, "not_found").await;
    }
}
