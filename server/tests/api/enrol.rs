//! A node's own credential: who may write what, and who may join.

use std::collections::BTreeSet;

use peerless::store::Scope;
use serde_json::{Value, json as object};
use time::Duration;

use crate::process::{Server, folder, run};
use crate::reports::report;
use crate::test_app::{NOW, TestApp, client, json, problem};

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
        "other_node",
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
    assert_eq!(outcomes["items"][0]["problem"]["code"], "other_node");
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

async fn events(app: &TestApp, admin: &str, node: &str) -> Value {
    let node = json(app.get_with(&format!("/api/v1/nodes/{node}"), admin).await).await;
    node["events"].clone()
}

#[tokio::test]
async fn an_id_that_others_wrote_is_enrolled_once_and_that_is_told() {
    let app = TestApp::start().await;
    let admin = app.token(&[Scope::Admin]).await;
    let any = app.token(&[Scope::Report]).await;
    send(&app, &any, &of_node("run-1", "node-a")).await;
    let join = app.token(&[Scope::Enrol]).await;
    let first = json(enrol(&app, &join, "node-a", "machine a").await).await;
    assert_eq!(
        (&first["adopted"], &first["again"]),
        (&true.into(), &false.into())
    );
    let told = events(&app, &admin, "node-a").await;
    assert_eq!(told[0]["kind"], "enrolled", "{told}");
    assert_eq!(told[0]["detail"]["before"], "no_credential");
    let page = app.get_with("/nodes/node-a", &admin).await.text().await.unwrap();
    assert!(
        page.contains("tokens that are not this node&#39;s own")
            || page.contains("tokens that are not this node's own"),
        "{page}"
    );
    let audit = json(app.get_with("/api/v1/audit?action=token.enrol", &admin).await).await;
    assert!(
        audit.to_string().contains("\"before\":\"no_credential\""),
        "{audit}"
    );
    problem(enrol(&app, &join, "node-a", "machine b").await, 409, "node_taken").await;
    let new = json(enrol(&app, &join, "node-b", "machine b").await).await;
    assert_eq!(new["adopted"], false);
}

#[tokio::test]
async fn only_a_join_token_made_for_it_takes_an_id_over() {
    let app = TestApp::start().await;
    let admin = app.token(&[Scope::Admin]).await;
    let join = app.token(&[Scope::Enrol]).await;
    let first = json(enrol(&app, &join, "node-a", "machine a").await).await;
    let old = first["token"].as_str().unwrap();
    assert_eq!(send(&app, old, &of_node("run-1", "node-a")).await.status(), 201);
    let taken = problem(enrol(&app, &join, "node-a", "machine b").await, 409, "node_taken").await;
    assert!(taken["detail"].as_str().unwrap().contains("--adopt"), "{taken}");

    let made = json(
        order(
            &app,
            &admin,
            &object!({"name": "boards", "uses": 1, "expires_in": "1h", "adopt": true}),
        )
        .await,
    )
    .await;
    let adopting = made["tokens"][0]["token"].as_str().unwrap();
    let listed = json(app.get_with("/api/v1/join-tokens", &admin).await).await;
    assert!(listed.to_string().contains("\"adopt\":true"), "{listed}");
    let second = enrol(&app, adopting, "node-a", "machine b").await;
    assert_eq!(second.status(), 201);
    let second = json(second).await;
    assert_eq!(second["adopted"], true);
    let refused = send(&app, old, &of_node("run-2", "node-a")).await;
    problem(refused, 401, "unauthorized").await;
    let new = second["token"].as_str().unwrap();
    assert_eq!(send(&app, new, &of_node("run-2", "node-a")).await.status(), 201);
    let told = events(&app, &admin, "node-a").await;
    assert_eq!(told[0]["detail"]["before"], "another_machine", "{told}");
}

#[tokio::test]
async fn that_a_credential_was_replaced_is_told() {
    let app = TestApp::start().await;
    let admin = app.token(&[Scope::Admin]).await;
    let (join, other) = (app.token(&[Scope::Enrol]).await, app.token(&[Scope::Enrol]).await);
    let first = json(enrol(&app, &join, "node-a", "machine a").await).await;
    let own = first["token"].as_str().unwrap();
    assert_eq!(send(&app, own, &of_node("run-1", "node-a")).await.status(), 201);
    // An answer that was lost is no news.
    enrol(&app, &join, "node-a", "machine a").await;
    assert_eq!(events(&app, &admin, "node-a").await, object!([]));
    let again = json(enrol(&app, &other, "node-a", "machine a").await).await;
    assert_eq!(again["again"], true);
    let told = events(&app, &admin, "node-a").await;
    assert_eq!(told[0]["detail"]["before"], "same_machine", "{told}");
    let page = app.get_with("/nodes/node-a", &admin).await.text().await.unwrap();
    assert!(page.contains("the credential of before works no more"), "{page}");
    let audit = json(app.get_with("/api/v1/audit?action=token.enrol", &admin).await).await;
    assert!(
        audit.to_string().contains("\"before\":\"same_machine\""),
        "{audit}"
    );
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

async fn order(app: &TestApp, token: &str, order: &Value) -> reqwest::Response {
    let request = app.post("/api/v1/join-tokens").bearer_auth(token).json(order);
    request.send().await.unwrap()
}

#[tokio::test]
async fn labels_of_a_join_token_are_those_of_its_nodes() {
    let app = TestApp::start().await;
    let admin = app.token(&[Scope::Admin]).await;
    let wanted = object!({
        "name": "rack r17", "count": 3, "uses": 1, "expires_in": "7d", "labels": {"rack": "r17", "site": "Jülich"},
    });
    let made = order(&app, &admin, &wanted).await;
    assert_eq!(made.status(), 201);
    let made = json(made).await;
    let tokens = made["tokens"].as_array().unwrap();
    assert_eq!(tokens.len(), 3);
    let join = |number: usize| tokens[number]["token"].as_str().unwrap();
    for (number, node) in [(0, "node-a"), (1, "node-b")] {
        let own = json(enrol(&app, join(number), node, node).await).await;
        let own = own["token"].as_str().unwrap();
        assert_eq!(send(&app, own, &of_node("run-1", node)).await.status(), 201);
    }
    let any = app.token(&[Scope::Report]).await;
    send(&app, &any, &of_node("run-1", "node-c")).await;

    let nodes = async |query: &str| {
        let nodes = json(app.get_with(&format!("/api/v1/nodes{query}"), &admin).await).await;
        let ids = nodes["nodes"].as_array().unwrap().iter();
        ids.map(|node| node["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(nodes("").await, ["node-a", "node-b", "node-c"]);
    assert_eq!(nodes("?label=rack=r17").await, ["node-a", "node-b"]);
    assert_eq!(nodes("?label=rack=r17&limit=1&cursor=node-a").await, ["node-b"]);
    assert!(nodes("?label=rack=r18").await.is_empty());
    problem(
        app.get_with("/api/v1/nodes?label=rack", &admin).await,
        400,
        "bad_query",
    )
    .await;
    let node = json(app.get_with("/api/v1/nodes/node-a", &admin).await).await;
    assert_eq!(node["labels"], object!({"rack": "r17", "site": "Jülich"}));
    for page in ["/nodes", "/nodes/node-a", "/nodes?label=rack=r17"] {
        let text = app.get_with(page, &admin).await.text().await.unwrap();
        assert!(
            text.contains("rack=r17") && text.contains("site=Jülich"),
            "{page}: {text}"
        );
    }

    // One is taken back; the nodes that have joined stay.
    let listed = json(app.get_with("/api/v1/join-tokens", &admin).await).await;
    let left = listed["tokens"].as_array().unwrap().iter();
    let mut left: Vec<u64> = left.map(|token| token["uses_left"].as_u64().unwrap()).collect();
    left.sort_unstable();
    assert_eq!(left, [0, 0, 1], "{listed}");
    let id = tokens[2]["id"].as_str().unwrap();
    let revoke = async |id: &str| {
        let request = app
            .post(&format!("/api/v1/join-tokens/{id}/revoke"))
            .bearer_auth(&admin);
        request.send().await.unwrap()
    };
    assert_eq!(revoke(id).await.status(), 204);
    problem(enrol(&app, join(2), "node-d", "d").await, 401, "unauthorized").await;
    // Of other tokens this call knows nothing.
    let other = any.split('_').nth(1).unwrap();
    problem(revoke(other).await, 404, "not_found").await;
    assert_eq!(send(&app, &any, &of_node("run-2", "node-c")).await.status(), 201);
}

#[tokio::test]
async fn a_join_token_lets_in_until_it_ends() {
    let app = TestApp::start().await;
    let admin = app.token(&[Scope::Admin]).await;
    let made = order(&app, &admin, &object!({"name": "rack", "expires_in": "12h"})).await;
    let made = json(made).await;
    let join = made["tokens"][0]["token"].as_str().unwrap();
    let first = json(enrol(&app, join, "node-a", "a").await).await;
    app.clock.set(NOW + Duration::hours(13));
    problem(enrol(&app, join, "node-b", "b").await, 401, "unauthorized").await;
    // Who has joined stays, and does not join again with it.
    problem(enrol(&app, join, "node-a", "a").await, 401, "unauthorized").await;
    let own = first["token"].as_str().unwrap();
    assert_eq!(send(&app, own, &of_node("run-1", "node-a")).await.status(), 201);
}

#[tokio::test]
async fn many_join_tokens_are_made_at_once_on_the_command_line() {
    let (folder, data) = folder();
    let create = |arguments: &[&str]| {
        let all = ["token", "create", "--init", "--name", "rack", "--data-dir", &data];
        run(&[&all[..], arguments].concat())
    };
    let made = create(&["--scope", "enrol", "--count", "3", "--uses", "1"]);
    assert!(made.status.success(), "{made:?}");
    let made = String::from_utf8(made.stdout).unwrap();
    let tokens: BTreeSet<&str> = made.lines().collect();
    assert_eq!(tokens.len(), 3, "{made}");
    let listed = String::from_utf8(run(&["token", "list", "--data-dir", &data]).stdout).unwrap();
    assert_eq!(listed.matches("1 enrolments left").count(), 3, "{listed}");
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let join = async |token: &str, node: &str| {
        let request = client().post(format!("{}/api/v1/enrol", server.url));
        let request = request
            .bearer_auth(token)
            .json(&object!({"node": node, "machine": node}));
        request.send().await.unwrap().status().as_u16()
    };
    for (number, token) in tokens.iter().enumerate() {
        assert_eq!(join(token, &format!("node-{number}")).await, 201);
    }
    assert_eq!(join(made.lines().next().unwrap(), "node-9").await, 409);
    for wrong in [&["--count", "2"][..], &["--adopt"]] {
        let wrong = create(&[&["--scope", "report"], wrong].concat());
        assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    }
    let adopting = ["--scope", "enrol", "--adopt", "--uses", "1"];
    let endless = create(&adopting);
    assert_eq!(endless.status.code(), Some(1), "{endless:?}");
    assert!(
        create(&[&adopting[..], &["--expires-in", "1h"]].concat())
            .status
            .success()
    );
    let listed = String::from_utf8(run(&["token", "list", "--data-dir", &data]).stdout).unwrap();
    assert_eq!(listed.matches("may take ids over").count(), 1, "{listed}");
}

#[tokio::test]
async fn an_order_of_join_tokens_that_cannot_be_says_why() {
    let app = TestApp::start().await;
    let admin = app.token(&[Scope::Admin]).await;
    let many: serde_json::Map<String, Value> = (0..17).map(|n| (format!("l{n}"), "x".into())).collect();
    for (wrong, why) in [
        (object!({"name": ""}), "name: a name has 1 to 100"),
        (object!({"name": "x", "count": 0}), "count: 0 tokens at once"),
        (
            object!({"name": "x", "adopt": true, "uses": 1}),
            "needs uses (nodes) and expires_in",
        ),
        (
            object!({"name": "x", "adopt": true, "expires_in": "1h"}),
            "needs uses (nodes) and expires_in",
        ),
        (object!({"name": "x", "count": 1001}), "1 to 1000"),
        (object!({"name": "x", "uses": 0}), "uses: 0 nodes, give 1 to"),
        (
            object!({"name": "x", "expires_in": "soon"}),
            "expires_in: write a number",
        ),
        (
            object!({"name": "x", "labels": {"ra ck": "1"}}),
            "labels: \"ra ck\" is no name",
        ),
        (
            object!({"name": "x", "labels": {"rack": ""}}),
            "the value of the label rack",
        ),
        (object!({"name": "x", "labels": many}), "there are 17"),
        (object!({"name": "x", "lables": {}}), "lables"),
    ] {
        let told = problem(order(&app, &admin, &wrong).await, 400, "malformed_body").await;
        assert!(told["detail"].as_str().unwrap().contains(why), "{why}: {told}");
    }
    let listed = json(app.get_with("/api/v1/join-tokens", &admin).await).await;
    assert_eq!(listed["tokens"], object!([]));
    for scope in [Scope::Enrol, Scope::Fleet, Scope::Publish] {
        let token = app.token(&[scope]).await;
        problem(
            order(&app, &token, &object!({"name": "x"})).await,
            403,
            "forbidden",
        )
        .await;
    }
}
