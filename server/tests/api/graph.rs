//! The graph over HTTP: forms, entity tags, bounds, refusals.

use reqwest::{Method, Response};
use serde_json::json as object;

use crate::test_app::{TestApp, json, problem};

const P2P: &str = "cuda/peer-access-unsupported-by-hardware";

async fn asked(app: &TestApp, path: &str, header: (&str, &str)) -> Response {
    let request = app.request(Method::GET, path).header(header.0, header.1);
    request.send().await.unwrap()
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers()[name].to_str().unwrap()
}

#[tokio::test]
async fn the_whole_graph_comes_in_the_form_asked_for() {
    let app = TestApp::start().await;
    for (query, accept, media_type, begins) in [
        ("", "*/*", "application/json", "{\"kb\":{\"seq\":2},\"nodes\":["),
        (
            "?format=graphml",
            "*/*",
            "application/graphml+xml",
            "<?xml version=\"1.0\"",
        ),
        (
            "?format=dot",
            "application/json",
            "text/vnd.graphviz",
            "// Peerless",
        ),
        (
            "",
            "text/html, text/vnd.graphviz;q=0.5",
            "text/vnd.graphviz",
            "// Peerless",
        ),
        (
            "",
            "application/graphml+xml",
            "application/graphml+xml",
            "<?xml version=\"1.0\"",
        ),
    ] {
        let path = format!("/api/v1/graph{query}");
        let response = asked(&app, &path, ("accept", accept)).await;
        assert_eq!(response.status(), 200);
        assert_eq!(header(&response, "content-type"), media_type, "{query} {accept}");
        assert!(header(&response, "vary").to_lowercase().contains("accept"));
        let tag = header(&response, "etag").to_owned();
        let text = response.text().await.unwrap();
        assert!(text.starts_with(begins), "{text}");
        let again = app
            .request(Method::GET, &path)
            .header("accept", accept)
            .header("if-none-match", &tag);
        assert_eq!(again.send().await.unwrap().status(), 304, "{tag}");
        let head = app
            .request(Method::HEAD, &path)
            .header("accept", accept)
            .send()
            .await
            .unwrap();
        assert_eq!(
            (head.status().as_u16(), header(&head, "etag")),
            (200, tag.as_str())
        );
    }
    // One form's tag says nothing of another.
    let other = asked(
        &app,
        "/api/v1/graph?format=dot",
        (
            "if-none-match",
            concat!("\"s2-json-", env!("CARGO_PKG_VERSION"), "\""),
        ),
    )
    .await;
    assert_eq!(other.status(), 200);
}

#[tokio::test]
async fn its_pages_are_in_the_language_that_is_chosen_or_preferred() {
    let app = TestApp::start().await;
    for path in [
        "/graph".to_owned(),
        "/graph/path?from=&to=".to_owned(),
        "/graph/between?from=cuda&to=tensorflow&kind=causal".to_owned(),
        format!("/r/{P2P}/-/graph"),
    ] {
        let preferred = ("accept-language", "zh-CN,zh;q=0.9");
        let response = asked(&app, &path, preferred).await;
        let text = response.text().await.unwrap();
        assert!(text.contains("<html lang=\"zh-Hans\""), "{path}: {text}");
        assert!(text.contains("lang=zh"), "{path}: {text}");

        let join = if path.contains('?') { '&' } else { '?' };
        let response = asked(&app, &format!("{path}{join}lang=en"), preferred).await;
        let text = response.text().await.unwrap();
        assert!(text.contains("<html lang=\"en\""), "{path}: {text}");
        let of_graph: Vec<&str> = text.split("href=\"/graph").skip(1).collect();
        let kept = |rest: &&str| rest.split('"').next().unwrap().contains("lang=");
        assert!(of_graph.iter().all(kept), "{path}: {text}");
    }
}

#[tokio::test]
async fn graphs_around_and_between_have_tags_and_bounds() {
    let app = TestApp::start().await;
    let around = format!("/api/v1/records/{P2P}/-/graph?depth=4&kinds=leads_to,preceded_by");
    let between = format!("/api/v1/graph/path?from={P2P}&to={P2P}&kinds=leads_to");
    for path in [&around, &between] {
        let response = app.get(path).await;
        assert_eq!(response.status(), 200);
        let tag = header(&response, "etag").to_owned();
        assert_eq!(json(response).await["kb"]["seq"], 2);
        assert_eq!(asked(&app, path, ("if-none-match", &tag)).await.status(), 304);
    }
    assert_eq!(app.get_json(&between).await["paths"], object!([[]]));
    for path in [
        format!("/api/v1/records/{P2P}/-/graph?depth=0"),
        format!("/api/v1/records/{P2P}/-/graph?depth=5"),
        format!("/api/v1/records/{P2P}/-/graph?depth=x"),
        format!("/api/v1/records/{P2P}/-/graph?kinds=causes"),
        "/api/v1/graph?format=svg".to_owned(),
        "/api/v1/graph?kinds=leads_to,x".to_owned(),
        "/api/v1/graph?kinds=leads_to,".to_owned(),
        format!("/api/v1/graph/path?from={P2P}"),
        format!("/api/v1/graph/path?from={P2P}&to={P2P}&kinds=x"),
    ] {
        problem(app.get(&path).await, 400, "bad_query").await;
    }
    problem(
        app.get(&format!("/api/v1/graph/path?from={P2P}&to=no/such"))
            .await,
        404,
        "not_found",
    )
    .await;
    problem(
        app.get(&format!("/api/v1/graph/path?from={P2P}&to=x")).await,
        400,
        "bad_id",
    )
    .await;
}
