//! A client made from the description alone calls every operation, through a proxy that compresses, and holds each answer
//! to what is described: status, media type, headers and schema.

use std::collections::BTreeMap;

use peerless::store::{Role, Scope, UnmatchedSeen};
use reqwest::Method;
use serde_json::{Value, json as object};

use crate::nodes::fault;
use crate::proxy::Proxy;
use crate::records::document;
use crate::reports::report;
use crate::test_app::{NOW, TestApp, client};

/// What a description cannot know: ids that exist, and texts that mean something. In the order of the calls.
const ORDER: [(&str, &str); 6] = [
    ("post", "/api/v1/reports"),
    ("put", "/api/v1/records/{id}"),
    // Of a draft: what is published needs no review.
    ("post", "/api/v1/records/{id}/-/review"),
    ("post", "/api/v1/records/{id}/-/publish"),
    ("post", "/api/v1/records/{id}/-/outcomes"),
    // The first entry of the queue.
    ("post", "/api/v1/records/{id}/-/suggestions"),
];
/// Each takes the record away from the one that it was before.
const LAST: [(&str, &str); 3] = [
    ("post", "/api/v1/records/{id}/-/rename"),
    ("post", "/api/v1/records/{id}/-/merge"),
    ("post", "/api/v1/records/{id}/-/withdraw"),
];
const RENAMED: &str = "cuda/renamed-for-this-test";
const KEPT: &str = "cuda/peer-access-unsupported-by-hardware";
const RECORD: &str = "cuda/made-for-this-test";
/// Lines that no record knows.
const UNKNOWN: &str = "0123456789abcdef";

struct Operation<'a> {
    method: &'a str,
    path: &'a str,
    described: &'a Value,
}

fn operations(description: &Value) -> Vec<Operation<'_>> {
    let mut all = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            all.push(Operation {
                method,
                path,
                described,
            });
        }
    }
    all.sort_by_key(|operation| {
        let key = (operation.method, operation.path);
        let place = ORDER.iter().position(|known| *known == key);
        let last = LAST.iter().position(|known| *known == key);
        (last.map(|last| last + 1), place.unwrap_or(ORDER.len()))
    });
    all
}

/// A value that a schema describes: its example, or the smallest.
fn made_from(schema: &Value, description: &Value) -> Value {
    if let Some(example) = schema.get("example").or_else(|| schema["examples"].get(0)) {
        return example.clone();
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let target = description.pointer(target.strip_prefix('#').unwrap()).unwrap();
        return made_from(target, description);
    }
    if let Some(first) = schema["oneOf"].get(0).or_else(|| schema["anyOf"].get(0)) {
        return made_from(first, description);
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[0].as_str(),
        kind => kind.as_str(),
    };
    match kind {
        Some("object") => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let member = |name: &Value| {
                let name = name.as_str().unwrap();
                (
                    name.to_owned(),
                    made_from(&schema["properties"][name], description),
                )
            };
            Value::Object(required.iter().map(member).collect())
        }
        Some("array") => Value::Array(vec![made_from(&schema["items"], description)]),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        Some("boolean") => true.into(),
        _ => "x".into(),
    }
}

fn path_of(operation: &Operation<'_>, join_token: &str, person: &str) -> String {
    let id = match operation.path {
        "/api/v1/join-tokens/{id}/revoke" => join_token,
        "/api/v1/nodes/{id}"
        | "/api/v1/nodes/{id}/findings"
        | "/api/v1/nodes/{id}/measurements"
        | "/api/v1/nodes/{id}/case"
        | "/api/v1/nodes/{id}/changes" => "node-1",
        path if path.starts_with("/api/v1/people/") => person,
        "/api/v1/reports/{id}" => "run-1",
        "/api/v1/unmatched/{id}" => UNKNOWN,
        "/api/v1/records/{id}/-/merge" => RENAMED,
        "/api/v1/records/{id}/-/withdraw" | "/api/v1/records/{id}/-/split" => KEPT,
        _ => RECORD,
    };
    let path = operation
        .path
        .replace("{id}", id)
        .replace("{code}", "Xid%2079")
        .replace("{n}", "1");
    let parameters = operation.described["parameters"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let required: Vec<String> = parameters
        .iter()
        .filter(|parameter| parameter["in"] == "query" && parameter["required"] == true)
        .map(|parameter| parameter["name"].as_str().unwrap())
        .map(|name| match operation.path {
            "/api/v1/records/{id}/-/diff" => format!("{name}=1"),
            "/api/v1/records/{id}/-/rename" => format!("{name}={RENAMED}"),
            "/api/v1/records/{id}/-/merge" => format!("{name}={KEPT}"),
            _ => format!("{name}={RECORD}"),
        })
        .collect();
    if operation.path.ends_with("/measurements") {
        // The node's report measured nothing, so that it is no answer unless it is named.
        return format!("{path}?report=run-1");
    }
    if operation.path == "/api/v1/policy" {
        // A token that is no node's own names the node.
        return format!("{path}?node=node-1");
    }
    format!("{path}?{}", required.join("&"))
}

fn body_of(operation: &Operation<'_>, description: &Value) -> Option<Value> {
    let schema = operation.described["requestBody"]["content"]
        .get("application/json")?
        .get("schema")?;
    Some(match operation.path {
        "/api/v1/reports" => {
            let mut report = report("run-1");
            report["health"] = object!({"verdict": "broken", "open": [fault("xid-79", "reset_gpu")]});
            report
        }
        "/api/v1/nodes/{id}/findings" => object!({"finding": "rule:health/xid-79", "step": "acknowledge"}),
        "/api/v1/reports/batch" => object!({"items": [report("run-2")]}),
        "/api/v1/records/{id}/-/review" => object!({"step": "ask"}),
        "/api/v1/feedback/{n}" => object!({"decision": "take"}),
        "/api/v1/records/{id}/-/comments" => object!({"pointer": "/signature", "body": "which?"}),
        "/api/v1/records/{id}" => {
            let mut text: Value = serde_json::from_str(&document(RECORD, "CUDA error: made up")).unwrap();
            text["workarounds"] = object!([{"action": "wait"}]);
            text
        }
        _ => made_from(schema, description),
    })
}

/// The schema, with the description's components at hand.
fn validator(schema: &Value, description: &Value) -> jsonschema::Validator {
    let mut whole = schema.clone();
    whole["components"] = description["components"].clone();
    jsonschema::draft202012::new(&whole).unwrap()
}

#[tokio::test]
async fn every_operation_answers_as_described() {
    let app = TestApp::start().await;
    let token = app.token(&Scope::ALL).await;
    let join_token = app.token(&[Scope::Enrol]).await;
    let join_token = join_token.split('_').nth(1).unwrap();
    let person = app.person("grace", Role::Viewer, false).await;
    let unknown = UnmatchedSeen {
        id: UNKNOWN.to_owned(),
        tokens: vec!["zorgblat".to_owned(), " failed".to_owned()],
        is_wider: false,
        examples: vec!["zorgblat failed".to_owned()],
        node: "node-1".to_owned(),
        count: 1,
    };
    app.store.note_unmatched(&[unknown], NOW).await.unwrap();
    let proxy = Proxy::start(app.port).await;
    let client = client();
    let description = app.get_json("/api/v1/openapi.json").await;
    let mut called = BTreeMap::new();
    for operation in operations(&description) {
        let name = format!("{} {}", operation.method.to_uppercase(), operation.path);
        let method: Method = operation.method.to_uppercase().parse().unwrap();
        let mut request = client
            .request(
                method,
                format!("{}{}", proxy.url, path_of(&operation, join_token, &person)),
            )
            .header("accept-encoding", "gzip")
            .bearer_auth(&token);
        if operation.method == "put" {
            request = request.header("if-none-match", "*");
        }
        if operation.path.ends_with("/-/revert") {
            request = request.header("if-match", "\"r1\"");
        }
        if let Some(body) = body_of(&operation, &description) {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status();
        let kind = response
            .headers()
            .get("content-type")
            .map(|kind| kind.to_str().unwrap().to_owned());
        let packed = response
            .headers()
            .get("content-encoding")
            .is_some_and(|encoding| encoding == "gzip");
        let bytes = response.bytes().await.unwrap();
        let bytes = if packed { unpacked(&bytes) } else { bytes.to_vec() };
        let is_archive = kind.as_deref() == Some("application/zip");
        let text = if is_archive {
            zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
            String::new()
        } else {
            String::from_utf8(bytes).unwrap()
        };
        assert!(status.is_success(), "{name}: {status} {text}");
        let answer = operation.described["responses"].get(status.as_str());
        let answer = answer.unwrap_or_else(|| panic!("{name}: {status} is not described"));
        called.insert(name.clone(), status.as_u16());
        let Some(content) = answer.get("content") else {
            continue;
        };
        let essence = kind
            .as_deref()
            .and_then(|kind| kind.split(';').next())
            .unwrap_or_default();
        let schema = content
            .get(essence)
            .unwrap_or_else(|| panic!("{name}: {kind:?} is not described"));
        if essence.ends_with("json") {
            let is_lines = essence.ends_with("x-ndjson");
            // Lines of JSON are described as text.
            let of_line = match operation.path {
                "/api/v1/audit.ndjson" => "AuditLine",
                _ => "Line",
            };
            let line = object!({"$ref": format!("#/components/schemas/{of_line}")});
            let checked = validator(if is_lines { &line } else { &schema["schema"] }, &description);
            for line in if is_lines {
                text.lines().collect()
            } else {
                vec![text.as_str()]
            } {
                let value: Value = serde_json::from_str(line).unwrap();
                let wrong: Vec<_> = checked
                    .iter_errors(&value)
                    .map(|error| format!("{}: {error}", error.instance_path()))
                    .collect();
                assert!(wrong.is_empty(), "{name}: {wrong:?}\n{line}");
            }
        }
    }
    insta::assert_json_snapshot!(called);
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(bytes), &mut plain).unwrap();
    plain
}
