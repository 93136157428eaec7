//! The tools, called by the client of rmcp: over HTTP and over the pipes of a process.

use std::collections::HashMap;
use std::process::Stdio;

use peerless::store::{FeedbackState, Scope, VoterKind};
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceError, ServiceExt as _};
use serde_json::{Value, json};

use crate::process::{folder, peerless};
use crate::test_app::{TestApp, client};

const LINE: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices";
const RECORD: &str = "cuda/peer-access-unsupported-by-hardware";

pub type Client = RunningService<RoleClient, ()>;

async fn over_http(app: &TestApp, token: Option<&str>) -> Client {
    let mut config = StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", app.url));
    if let Some(token) = token {
        config = config.auth_header(token.to_owned());
    }
    ().serve(StreamableHttpClientTransport::with_client(client(), config))
        .await
        .unwrap()
}

async fn try_call(client: &Client, tool: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
    let arguments = arguments.as_object().unwrap().clone();
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    client.call_tool(params).await
}

/// The text and the structured answer of a call that went well.
pub async fn call(client: &Client, tool: &str, arguments: Value) -> (String, Value) {
    let result = try_call(client, tool, arguments).await.unwrap();
    assert_eq!(result.is_error, Some(false), "{result:?}");
    let text = result.content[0].as_text().unwrap().text.clone();
    (text, result.structured_content.unwrap())
}

/// The code of an answer that says what went wrong.
async fn failed(client: &Client, tool: &str, arguments: Value) -> String {
    let result = try_call(client, tool, arguments).await.unwrap();
    assert_eq!(result.is_error, Some(true), "{result:?}");
    result.structured_content.unwrap()["code"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn the_tools_say_what_they_take() {
    let app = TestApp::start().await;
    let client = over_http(&app, None).await;
    let about = client.peer_info().unwrap();
    assert!(about.instructions.clone().unwrap().contains("do not guess"));
    let tools = client.list_all_tools().await.unwrap();
    let tools: Vec<Value> = tools
        .iter()
        .map(|tool| serde_json::to_value(tool).unwrap())
        .collect();
    insta::assert_json_snapshot!(tools);
}

#[tokio::test]
async fn an_assistant_finds_reads_and_follows_records() {
    let app = TestApp::start().await;
    let client = over_http(&app, None).await;
    let (text, found) = call(
        &client,
        "match",
        json!({"text": LINE, "environment": {"driver": "550"}}),
    )
    .await;
    let page = format!("{}/r/{RECORD}", app.url);
    for part in [
        "Do: ",
        "Do not: ",
        "  Severity: error  Action: ",
        "  Tier: ai_generated",
        &page,
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert_eq!(found["root_cause"], RECORD);
    let (_, nothing) = call(&client, "match", json!({"text": "all is well"})).await;
    assert_eq!(nothing["matches"], json!([]));
    let (text, unknown) = call(
        &client,
        "match",
        json!({"text": "zorgblat link 3 failed to train"}),
    )
    .await;
    assert!(
        text.contains("line 1 looks like an error, and no record explains it"),
        "{text}"
    );
    assert_eq!(unknown["unexplained"]["lines"][0]["line"], 1, "{unknown}");

    let (text, hits) = call(&client, "search", json!({"query": "peer access", "limit": 1})).await;
    assert_eq!(hits["total"], 2);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "1 of 2 records, best first:");
    assert_eq!(
        lines[2],
        "    Peer access (P2P) is not supported between these two GPUs"
    );
    assert!(lines[4].starts_with("For more: cursor "), "{text}");
    let (text, record) = call(&client, "record", json!({"id": RECORD})).await;
    assert_eq!(record["document"]["id"], RECORD);
    let parts = ["\nWhy it happens\n", "\nWhat works\n  1. ", "\nSources\n", &page];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    let (text, around) = call(&client, "graph", json!({"id": RECORD})).await;
    assert!(text.contains(&format!("{RECORD} leads to ")), "{text}");
    assert_eq!(around["center"], RECORD, "{around}");
    let (_, path) = call(&client, "graph", json!({"id": RECORD, "to": RECORD})).await;
    assert_eq!(path["paths"], json!([[]]));
}

/// Clients may refuse an answer that its schema does not allow.
#[tokio::test]
async fn answers_are_what_their_schemas_say() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Report]).await;
    let client = over_http(&app, Some(&token)).await;
    let tools = client.list_all_tools().await.unwrap();
    let calls = [
        ("match", json!({"text": LINE})),
        ("match", json!({"text": "peer access"})),
        ("search", json!({"query": "peer acess nonesuchword", "limit": 1})),
        ("record", json!({"id": RECORD})),
        ("graph", json!({"id": RECORD})),
        ("graph", json!({"id": RECORD, "to": RECORD})),
        (
            "outcome",
            json!({"id": RECORD, "tried": "/workarounds/0", "worked": true}),
        ),
    ];
    for (name, arguments) in calls {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        let schema = Value::Object(tool.output_schema.as_ref().unwrap().as_ref().clone());
        assert_eq!(schema["type"], "object");
        let (_, answer) = call(&client, name, arguments.clone()).await;
        let validator = jsonschema::validator_for(&schema).unwrap();
        let wrong: Vec<String> = validator
            .iter_errors(&answer)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(wrong, [""; 0], "{name} {arguments}");
        assert!(!validator.is_valid(&json!({"x": 1})), "{name} allows everything");
    }
}

#[tokio::test]
async fn an_outcome_needs_a_token() {
    let app = TestApp::start().await;
    let vote = json!({"id": RECORD, "tried": "/workarounds/0", "worked": true});
    let stranger = over_http(&app, None).await;
    assert_eq!(failed(&stranger, "outcome", vote.clone()).await, "unauthorized");
    let token = app.token(&[Scope::Report]).await;
    let known = over_http(&app, Some(&token)).await;
    // An assistant's word is for editors to read, and a second one takes the place of the first.
    for _ in 0..2 {
        let (_, receipt) = call(&known, "outcome", vote.clone()).await;
        assert_eq!(receipt["outcome"], "queued");
        assert_eq!(receipt["outcomes"]["actions"], json!([]));
    }
    let waiting = app
        .store
        .feedback(FeedbackState::Waiting, None, 10)
        .await
        .unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].from.kind, VoterKind::Assistant);
}

#[tokio::test]
async fn what_goes_wrong_can_be_read_by_a_model() {
    let app = TestApp::start().await;
    let client = over_http(&app, None).await;
    for (tool, arguments, code) in [
        ("record", json!({"id": "no/such"}), "not_found"),
        ("record", json!({"id": "Not An Id"}), "bad_id"),
        ("graph", json!({"id": RECORD, "depth": 9}), "bad_query"),
        (
            "match",
            json!({"text": LINE, "environment": {"drver": "550"}}),
            "malformed_body",
        ),
        ("match", json!({"text": "\0".repeat(100)}), "not_text"),
        ("search", json!({"query": "x".repeat(5000)}), "bad_query"),
        ("search", json!({"query": "x", "limit": 1000}), "bad_query"),
    ] {
        assert_eq!(
            failed(&client, tool, arguments.clone()).await,
            code,
            "{tool} {arguments}"
        );
    }
    for (tool, arguments) in [
        ("record", json!({})),
        ("record", json!({"id": 7})),
        ("match", json!({"text": "x", "environemnt": {}})),
    ] {
        let refused = try_call(&client, tool, arguments.clone()).await.unwrap();
        assert_eq!(refused.is_error, Some(true), "{tool} {arguments}");
        let text = &refused.content[0].as_text().unwrap().text;
        assert!(text.contains("parameters"), "{text}");
    }
    // A tool that does not exist is refused by the protocol itself.
    let refused = try_call(&client, "no_such_tool", json!({})).await;
    assert!(
        matches!(&refused, Err(ServiceError::McpError(error)) if error.code.0 == -32602),
        "{refused:?}"
    );
}

#[tokio::test]
async fn only_hosts_that_are_named_are_answered() {
    let named = |options: &mut crate::test_app::Options| {
        options.settings.public_url = Some("https://kb.example:8443/gpu".to_owned());
    };
    let app = TestApp::start_with(named).await;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for (headers, status) in [
        (vec![], 200),
        (vec![("host", "kb.example:8443")], 200),
        (vec![("host", "evil.example")], 403),
        (vec![("origin", "https://kb.example:8443")], 200),
        (vec![("origin", "https://evil.example")], 403),
    ] {
        let mut request = app
            .post("/mcp")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in &headers {
            request = request.header(*name, *value);
        }
        let response = request.json(&message).send().await.unwrap();
        assert_eq!(response.status(), status, "{headers:?}");
        if status == 200 {
            assert_eq!(response.headers()["content-type"], "application/json");
        } else {
            assert!(response.text().await.unwrap().contains("--public-url"));
        }
    }
    assert_eq!(app.get("/mcp").await.status(), 405);
    let revoked = app
        .post("/mcp")
        .bearer_auth("prl_a_b")
        .json(&message)
        .send()
        .await
        .unwrap();
    assert_eq!(revoked.status(), 401);
    let garbled = app
        .post("/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body("{\"jsonrpc\"");
    assert_eq!(garbled.send().await.unwrap().status(), 400);
    let long = app
        .post("/mcp")
        .header("content-type", "application/json")
        .body("x".repeat(9 << 20));
    assert_eq!(long.send().await.unwrap().status(), 413);
}

#[tokio::test]
async fn the_same_tools_are_there_over_pipes() {
    let (_folder, data) = folder();
    let (mut child, client) = over_pipes(&data, None).await;
    let names: HashMap<_, _> = client
        .list_all_tools()
        .await
        .unwrap()
        .into_iter()
        .map(|tool| (tool.name.to_string(), tool.annotations))
        .collect();
    assert_eq!(names.len(), 5, "{names:?}");
    let (_, found) = call(&client, "match", json!({"text": LINE})).await;
    assert_eq!(found["root_cause"], RECORD);
    let vote = json!({"id": RECORD, "tried": "/workarounds/0", "worked": true});
    assert_eq!(failed(&client, "outcome", vote).await, "wrong_state");
    client.cancel().await.unwrap();
    assert!(child.wait().await.unwrap().success());
}

/// A program that speaks over pipes.
pub async fn over_pipes(data: &str, token: Option<&str>) -> (tokio::process::Child, Client) {
    let mut command = tokio::process::Command::from(peerless());
    command.args(["mcp", "--data-dir", data]);
    if let Some(token) = token {
        command.env("PEERLESS_TOKEN", token);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = ().serve(pipes).await.unwrap();
    (child, client)
}

#[tokio::test]
async fn a_token_taken_back_is_refused_by_a_program_that_runs() {
    let (_folder, data) = folder();
    let token = crate::process::token(&["--data-dir", &data], &["report"]);
    let (mut child, client) = over_pipes(&data, Some(&token)).await;
    // Nothing is published here: who may vote is told that.
    let vote = json!({"id": RECORD, "tried": "/workarounds/0", "worked": true});
    assert_eq!(failed(&client, "outcome", vote.clone()).await, "not_found");
    let id = token.split('_').nth(1).unwrap();
    let revoked = crate::process::run(&["token", "revoke", id, "--data-dir", &data]);
    assert!(revoked.status.success(), "{revoked:?}");
    assert_eq!(failed(&client, "outcome", vote).await, "unauthorized");
    client.cancel().await.unwrap();
    assert!(child.wait().await.unwrap().success());
}

#[test]
fn a_token_that_is_of_no_use_ends_the_program_at_its_start() {
    let (_folder, data) = folder();
    let nowhere = crate::process::run(&["mcp", "--data-dir", &data, "--token", "peerless_x_y"]);
    let said = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert!(!nowhere.status.success());
    assert!(said.contains("there is none at sqlite://"), "{said}");
    crate::process::token(&["--data-dir", &data], &["report"]);
    let unknown = crate::process::run(&["mcp", "--data-dir", &data, "--token", "peerless_x_y"]);
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(!unknown.status.success());
    assert!(said.contains("--token (or PEERLESS_TOKEN)"), "{said}");
}
