//! Records: bytes as stored, tags, edits, history, former ids.

use peerless::store::{Scope, SeedRecord};
use reqwest::Method;
use serde_json::{Value, json as object};

use crate::test_app::{TestApp, client, json, problem};

pub const P2P: &str = "/api/v1/records/cuda/peer-access-unsupported-by-hardware";

/// A whole record with this id and pattern.
pub fn document(id: &str, signature: &str) -> String {
    let domain = id.split('/').next().unwrap();
    serde_json::to_string_pretty(&object!({
        "id": id, "signature": signature, "regex": signature, "domain": domain, "category": "runtime_error",
        "root_cause": "made for a test", "verification_tier": "unverified",
    }))
    .unwrap()
}

#[tokio::test]
async fn a_record_comes_back_byte_for_byte() {
    let app = TestApp::start().await;
    let seed = include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.json");
    let annex = include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.ext.json");
    for path in [
        P2P.to_owned(),
        P2P.replace("cuda/", "cuda%2F"),
        P2P.replace("cuda/", "cuda%2f"),
    ] {
        let response = app.get(&path).await;
        assert_eq!(response.headers()["etag"], "\"r1\"");
        assert_eq!(response.headers()["content-type"], "application/json");
        assert_eq!(response.headers()["peerless-state"], "published");
        assert_eq!(response.text().await.unwrap(), seed);
    }
    let full = app.get(&format!("{P2P}?view=full")).await.text().await.unwrap();
    assert!(
        full.contains(seed.trim()) && full.contains(annex.trim()),
        "both texts stand in the full view"
    );
    let mut full: Value = serde_json::from_str(&full).unwrap();
    full["document"] = "…".into();
    full["ext"] = "…".into();
    insta::assert_json_snapshot!(full, { ".document_sha256" => "…", ".ext_sha256" => "…" });
}

#[tokio::test]
async fn a_known_revision_is_not_sent_again() {
    let app = TestApp::start().await;
    for tags in ["\"r1\"", "W/\"r1\"", "\"r7\", \"r1\"", "*"] {
        let request = app.request(Method::GET, P2P).header("if-none-match", tags);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 304, "{tags}");
        assert_eq!(response.headers()["etag"], "\"r1\"");
    }
    let response = app
        .request(Method::GET, P2P)
        .header("if-none-match", "\"r2\"")
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
}

#[tokio::test]
async fn an_edit_makes_a_draft_and_publishing_shows_it() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit, Scope::Publish]).await;
    let edited = app
        .get(P2P)
        .await
        .text()
        .await
        .unwrap()
        .replace("hardware topology", "HARDWARE TOPOLOGY");

    problem(
        app.put(P2P, &token).body(edited.clone()).send().await.unwrap(),
        428,
        "precondition_required",
    )
    .await;
    let response = app
        .put(P2P, &token)
        .header("if-match", "W/\"r1\"")
        .body(edited.clone())
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["etag"], "\"r2\"");
    insta::assert_json_snapshot!(json(response).await, { ".warnings" => "…" });

    // Readers see the old one, the editor may see the head, others may not.
    assert_eq!(app.get(P2P).await.headers()["etag"], "\"r1\"");
    let head = format!("{P2P}?revision=head");
    assert_eq!(app.get_with(&head, &token).await.text().await.unwrap(), edited);
    problem(app.get(&head).await, 401, "unauthorized").await;

    let stale = app
        .put(P2P, &token)
        .header("if-match", "\"r1\"")
        .body(edited.clone())
        .send()
        .await
        .unwrap();
    assert_eq!(stale.headers()["etag"], "\"r2\"");
    problem(stale, 412, "stale_revision").await;
    let other = edited.replace("HARDWARE", "ANOTHER");
    let exists = app
        .put(P2P, &token)
        .header("if-none-match", "*")
        .body(other)
        .send()
        .await
        .unwrap();
    problem(exists, 412, "stale_revision").await;

    for step in ["publish", "withdraw"] {
        for body in [r#"{"revision": 1}"#, "garbage{"] {
            let ask = app.post(&format!("{P2P}/-/{step}")).bearer_auth(&token);
            let refused = ask.body(body).send().await.unwrap();
            let said = problem(refused, 400, "malformed_body").await;
            let way = if step == "publish" {
                "?revision=N"
            } else {
                "no body"
            };
            assert!(said["detail"].as_str().unwrap().contains(way), "{said}");
        }
    }
    let published = app
        .post(&format!("{P2P}/-/publish"))
        .bearer_auth(&token)
        .send()
        .await
        .unwrap();
    assert_eq!(published.status(), 200);
    insta::assert_json_snapshot!(json(published).await);
    assert_eq!(app.get(P2P).await.text().await.unwrap(), edited);

    insta::assert_json_snapshot!(
        app.get_json(&format!("{P2P}/-/revisions")).await,
        { ".**.document_sha256" => "…", ".**.ext_sha256" => "…" }
    );
    insta::assert_json_snapshot!(app.get_json(&format!("{P2P}/-/revisions?from=1&to=2")).await);
}

#[tokio::test]
async fn the_same_texts_again_make_no_revision() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit]).await;
    let text = app.get(P2P).await.text().await.unwrap();
    let again = app
        .put(P2P, &token)
        .header("if-match", "\"r1\"")
        .body(text)
        .send()
        .await
        .unwrap();
    assert_eq!(json(again).await["changed"], false);
    let full = app.get_json(&format!("{P2P}?view=full")).await;
    assert_eq!(full["revision"], 1);
    // Through the full view, too: the white space around the texts is put back.
    let raw = app.get(&format!("{P2P}?view=full")).await.text().await.unwrap();
    let view: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>> =
        serde_json::from_str(&raw).unwrap();
    let body = format!(
        "{{\"document\":{},\"ext\":{}}}",
        view["document"].get(),
        view["ext"].get()
    );
    let path = format!("{P2P}?view=full");
    let again = app
        .put(&path, &token)
        .header("if-match", "\"r1\"")
        .body(body)
        .send()
        .await
        .unwrap();
    assert_eq!(json(again).await["changed"], false);
}

#[tokio::test]
async fn ids_that_end_like_a_subresource_are_ids() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit, Scope::Publish]).await;
    for id in ["cuda/graph", "a/b/revisions", "publish/withdraw"] {
        let path = format!("/api/v1/records/{id}");
        let text = document(id, &format!("CUDA test error of {}", id.replace('/', " ")));
        let put = app
            .put(&format!("{path}?publish=true"), &token)
            .header("if-none-match", "*");
        let response = put.body(text.clone()).send().await.unwrap();
        assert_eq!(response.status(), 201, "{}", response.text().await.unwrap());
        assert_eq!(app.get(&path).await.text().await.unwrap(), text);
        assert_eq!(app.get(&format!("{path}/-/graph")).await.status(), 200);
        let history = app.get_json(&format!("{path}/-/revisions")).await;
        assert_eq!(history["revisions"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_former_id_leads_to_the_record() {
    let app = TestApp::start_with(|options| {
        let text = document("cuda/new-name", "CUDA error: renamed thing")
            .replace("\"id\"", "\"aliases\": [\"cuda/old-name\"], \"id\"");
        options.seeds = vec![SeedRecord {
            id: "cuda/new-name".parse().unwrap(),
            document: text,
            annex: kb_core::annex::EMPTY.to_owned(),
        }];
    })
    .await;
    let response = app.get("/api/v1/records/cuda/old-name?view=full").await;
    assert_eq!(response.status(), 308);
    assert_eq!(
        response.headers()["location"],
        "/api/v1/records/cuda/new-name?view=full"
    );
    let response = app.get("/api/v1/records/cuda%2Fold-name/-/revisions").await;
    assert_eq!(
        response.headers()["location"],
        "/api/v1/records/cuda/new-name/-/revisions"
    );
    let token = app.token(&[Scope::Edit, Scope::Publish]).await;
    for (name, value) in [("if-match", "\"r1\""), ("if-none-match", "*")] {
        let put = app.put("/api/v1/records/cuda/old-name?publish=true", &token);
        let text = document("cuda/old-name", "CUDA error: former");
        let response = put.header(name, value).body(text).send().await.unwrap();
        assert_eq!(response.status(), 308, "{name}");
        let location = &response.headers()["location"];
        assert_eq!(location, "/api/v1/records/cuda/new-name?publish=true", "{name}");
    }
    for step in ["publish", "withdraw"] {
        let path = format!("/api/v1/records/cuda/old-name/-/{step}");
        let response = app.post(&path).bearer_auth(&token).send().await.unwrap();
        assert_eq!(response.status(), 308, "{step}");
        let location = response.headers()["location"].to_str().unwrap();
        assert_eq!(location, path.replace("old-name", "new-name"));
    }
}

#[tokio::test]
async fn what_is_not_published_is_for_editors() {
    let app = TestApp::start().await;
    let path = format!("{P2P}?revision=2");
    problem(app.get(&path).await, 401, "unauthorized").await;
    let stranger = app.token(&[Scope::Report]).await;
    problem(app.get_with(&path, &stranger).await, 403, "forbidden").await;
    let editor = app.token(&[Scope::Edit]).await;
    problem(app.get_with(&path, &editor).await, 404, "not_found").await;
}

#[tokio::test]
async fn the_full_view_tells_of_a_change_that_made_no_revision() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Publish]).await;
    let withdraw = app.post(&format!("{P2P}/-/withdraw")).bearer_auth(&token);
    assert_eq!(withdraw.send().await.unwrap().status(), 200);
    let request = app.request(Method::GET, &format!("{P2P}?view=full"));
    let response = request.header("if-none-match", "\"r1\"").send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["etag"], "\"r1\"");
    assert_eq!(json(response).await["state"], "withdrawn");
}

#[tokio::test]
async fn a_withdrawn_record_is_readable_and_marked() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Publish]).await;
    let withdrawn = app
        .post(&format!("{P2P}/-/withdraw"))
        .bearer_auth(&token)
        .send()
        .await
        .unwrap();
    assert_eq!(withdrawn.status(), 200);
    let response = app.get(P2P).await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["peerless-state"]),
        (200, &"withdrawn".parse().unwrap())
    );
    assert_eq!(
        app.get_json(&format!("{P2P}?view=full")).await["state"],
        "withdrawn"
    );
    let found = app
        .get_json("/api/v1/codes/CUDA_ERROR_PEER_ACCESS_UNSUPPORTED")
        .await;
    assert_eq!(found["records"], object!([]));
    let changes = app.get_json("/api/v1/records?since=2").await;
    assert_eq!(changes["records"][0]["state"], "withdrawn", "{changes}");
}

#[tokio::test]
async fn lists_go_page_by_page() {
    let app = TestApp::start().await;
    let first = app.get_json("/api/v1/records?limit=1").await;
    insta::assert_json_snapshot!(first);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = app
        .get_json(&format!("/api/v1/records?limit=1&cursor={cursor}"))
        .await;
    assert_eq!(second["records"][0]["id"], "tensorflow/gpu-peer-access-error");
    let changes = app.get_json("/api/v1/records?since=1").await;
    assert_eq!(changes["records"].as_array().unwrap().len(), 1);
    for query in [
        "limit=0",
        "limit=201",
        "cursor=..",
        "since=-1",
        "since=x",
        "nonsense=1",
    ] {
        problem(
            app.get(&format!("/api/v1/records?{query}")).await,
            400,
            "bad_query",
        )
        .await;
    }
}

#[tokio::test]
async fn codes_are_listed_page_by_page() {
    let app = TestApp::start().await;
    let all = app.get_json("/api/v1/codes?limit=200").await;
    let all = all["codes"].as_array().unwrap();
    let mut paged = Vec::new();
    let mut next = Some(String::new());
    while let Some(cursor) = next {
        let mut address = format!("{}/api/v1/codes?limit=2", app.url);
        if !cursor.is_empty() {
            let encoded: String = url_encoded(&cursor);
            address = format!("{address}&cursor={encoded}");
        }
        let page = json(client().get(address).send().await.unwrap()).await;
        paged.extend(page["codes"].as_array().unwrap().iter().cloned());
        next = page["next_cursor"].as_str().map(str::to_owned);
    }
    assert_eq!(&paged, all);
    assert!(all.len() > 2);
    let record = "cuda/peer-access-unsupported-by-hardware";
    assert!(
        all.iter()
            .any(|entry| entry["code"] == "error 217" && entry["records"] == object!([record]))
    );
}

pub fn url_encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::new();
    for byte in text.bytes() {
        write!(encoded, "%{byte:02X}").unwrap();
    }
    encoded
}

#[tokio::test]
async fn codes_signatures_graph_and_export_answer() {
    let app = TestApp::start().await;
    insta::assert_json_snapshot!(
        "code",
        app.get_json("/api/v1/codes/cudaErrorPeerAccessUnsupported").await
    );
    assert_eq!(
        app.get_json("/api/v1/codes/nobody%20has%2Fthis").await["records"],
        object!([])
    );
    // As addresses have it, and the number alone.
    for written in ["error+217", "ERROR-217", "error217", "217"] {
        let found = app.get_json(&format!("/api/v1/codes/{written}")).await;
        assert_eq!(
            found["records"][0]["id"], "cuda/peer-access-unsupported-by-hardware",
            "{written}"
        );
        assert_eq!(found["records"][0]["domain"], "cuda", "{written}");
    }
    assert_eq!(app.get_json("/api/v1/codes/21").await["records"], object!([]));
    let response = app.get("/api/v1/signatures").await;
    let tag = response.headers()["etag"].clone();
    assert_eq!(tag, concat!("\"s2-", env!("CARGO_PKG_VERSION"), "\""));
    let signatures = json(response).await;
    assert_eq!(signatures["records"].as_array().unwrap().len(), 2);
    assert_eq!(signatures["slow"], object!([]));
    let again = app
        .request(Method::GET, "/api/v1/signatures")
        .header("if-none-match", tag);
    assert_eq!(again.send().await.unwrap().status(), 304);
    insta::assert_json_snapshot!("graph", app.get_json(&format!("{P2P}/-/graph?depth=2")).await);
    let path = "/api/v1/graph/path?from=cuda/peer-access-unsupported-by-hardware&to=tensorflow/gpu-peer-access-error";
    insta::assert_json_snapshot!("path", app.get_json(path).await);
    let lines = app.get("/api/v1/export.ndjson").await.text().await.unwrap();
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    let seed = include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.json");
    assert!(lines.iter().any(|line| line["document"] == seed));
}
