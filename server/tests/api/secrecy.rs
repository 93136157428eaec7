//! What was pasted is nowhere afterwards: not in the log, not in the metrics, not in any file.

use std::path::Path;

use serde_json::json;

use crate::process::{Server, folder};
use crate::test_app::client;

const MARKER: &str = "PastedSecret7f3a91";

/// Files below a folder that hold the marker.
fn holders(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            holders(&path, found);
        } else if std::fs::read(&path)
            .unwrap()
            .windows(MARKER.len())
            .any(|part| part == MARKER.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
}

#[tokio::test]
async fn a_marker_that_was_pasted_is_nowhere() {
    let (folder, data) = folder();
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let client = client();
    let mcp = |url: &str| {
        client
            .post(format!("{url}/mcp"))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
    };
    let (url, text) = (
        &server.url,
        format!("CUDA error: peer access is not supported {MARKER}"),
    );
    let accepted = [
        client.post(format!("{url}/api/v1/match")).body(text.clone()),
        client
            .post(format!("{url}/api/v1/match"))
            .json(&json!({"text": text, "environment": {"gpu_model": MARKER}})),
        client
            .post(format!("{url}/api/v1/match"))
            .header("accept", "application/x-ndjson")
            .body(text.clone()),
        client
            .post(format!("{url}/api/v1/match/batch"))
            .json(&json!({"items": [{"text": text}]})),
        client.get(format!("{url}/api/v1/search?q={MARKER}")),
        client.get(format!("{url}/api/v1/codes/{MARKER}")),
        mcp(url).json(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "match", "arguments": {"text": text}}})),
        mcp(url).json(&json!({"jsonrpc": "2.0", "id": MARKER, "method": MARKER})),
    ];
    for request in accepted {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        response.bytes().await.unwrap();
    }
    let refused = [
        client.get(format!("{url}/{MARKER}")),
        client.get(format!("{url}/api/v1/records/cuda/{MARKER}")),
        client.get(format!("{url}/api/v1/search?limit={MARKER}")),
        client
            .post(format!("{url}/api/v1/match"))
            .json(&json!({"text": {"not": MARKER}})),
        client
            .post(format!("{url}/api/v1/match"))
            .header("content-encoding", MARKER)
            .body(text.clone()),
        client.get(format!("{url}/api/v1/nodes")).bearer_auth(MARKER),
        client.request(MARKER.parse().unwrap(), format!("{url}/healthz")),
        mcp(url)
            .header("host", MARKER)
            .json(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
        mcp(url).body(format!("{{{MARKER}")),
    ];
    for request in refused {
        let response = request.send().await.unwrap();
        assert!(response.status().is_client_error());
        response.bytes().await.unwrap();
    }
    let metrics = client
        .get(format!("{url}/metrics"))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(
        metrics.contains("route=\"/api/v1/match\"") && metrics.contains("route=\"/api/v1/records/{id}\""),
        "{metrics}"
    );
    assert!(!metrics.contains(MARKER), "{metrics}");
    let log = server.log.clone();
    server.terminate();
    assert!(
        std::fs::read_to_string(log).unwrap().contains("/api/v1/match"),
        "requests are logged"
    );
    let mut found = Vec::new();
    holders(folder.path(), &mut found);
    assert_eq!(found, [] as [&str; 0]);
}
