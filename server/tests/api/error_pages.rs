//! Addresses that forgive: those that differ in case and slashes lead to the page, and the others say what is near.

use peerless::store::Role;
use reqwest::Method;

use crate::browser::Browser;
use crate::test_app::{TestApp, json};

const P2P: &str = "cuda/peer-access-unsupported-by-hardware";

async fn fails(browser: &Browser, path: &str, status: u16) -> String {
    let response = browser.get(path).await;
    assert_eq!(response.status(), status, "{path}");
    response.text().await.unwrap()
}

#[tokio::test]
async fn upper_case_and_slashes_lead_to_the_page_and_keep_the_query() {
    let app = TestApp::start().await;
    for (path, expected) in [
        ("/R/CUDA/Peer-Access/", "/r/cuda/peer-access"),
        ("/r/cuda//x/-/Graph?depth=2", "/r/cuda/x/-/graph?depth=2"),
        ("/Search/?q=Xid+79", "/search?q=Xid+79"),
        ("/Nodes/Host-A/", "/nodes/Host-A"),
        ("/docs/API", "/docs/api"),
        ("/r/CUDA%2FX", "/r/cuda%2Fx"),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let response = app.request(method, path).send().await.unwrap();
            assert_eq!(response.status(), 308, "{path}");
            assert_eq!(response.headers()["location"], expected);
        }
    }
}

#[tokio::test]
async fn no_address_leads_to_another_server_or_to_nothing() {
    let app = TestApp::start().await;
    for path in [
        "//evil.example/",
        "/%5Cevil.example/",
        "/API/v1/records",
        "/api/v1/records/",
        "/Healthz",
        "/no-such/",
    ] {
        let response = app.get(path).await;
        assert_eq!(response.status(), 404, "{path}");
        assert!(!response.headers().contains_key("location"), "{path}");
    }
    let sent = app.post("/Match/").body("x").send().await.unwrap();
    assert_eq!(sent.status(), 404);
}

#[tokio::test]
async fn a_record_that_is_not_there_is_told_of_those_near_it() {
    let app = TestApp::start().await;
    let nobody = Browser::new(&app);
    for path in [
        // A slip, another domain, a part, too many parts.
        "/r/cuda/peer-acess-unsuported-by-hardware",
        "/r/nvidia/peer-access-unsupported",
        "/r/peer-access-unsupported",
        "/r/cuda/peer-acess-unsuported-by-hardware/-/graph",
        "/r/cuda/peer-acess-unsuported-by-hardware/-/revisions",
        "/graph/path?from=cuda/peer-acess-unsuported-by-hardware&to=tensorflow/gpu-peer-access-error",
    ] {
        let status = if path == "/r/peer-access-unsupported" {
            400
        } else {
            404
        };
        let page = fails(&nobody, path, status).await;
        assert!(
            page.contains("<h1>There is no such record</h1>"),
            "{path}: {page}"
        );
        assert!(page.contains(&format!("href=\"/r/{P2P}\"")), "{path}: {page}");
        assert!(page.contains("name=\"q\""), "{path}: {page}");
    }
    let page = fails(&nobody, "/r/cuda/peer-acess", 404).await;
    assert!(page.contains("value=\"cuda peer acess\""), "{page}");
    let page = fails(&nobody, &format!("/records/{P2P}"), 404).await;
    assert!(page.contains(&format!("href=\"/r/{P2P}\"")), "{page}");
    // Programs are told, too.
    let answer = app
        .get("/api/v1/records/cuda/peer-acess-unsuported-by-hardware")
        .await;
    let detail = json(answer).await["detail"].to_string();
    assert!(detail.contains(&format!("near it: {P2P}")), "{detail}");
}

#[tokio::test]
async fn the_words_fit_what_was_asked_for() {
    let app = TestApp::start_with(|options| options.settings.public_fleet = true).await;
    let nobody = Browser::new(&app);
    let of_records = "A record keeps its id for ever";
    for (path, status, title, further) in [
        ("/r/a/b", 404, "There is no such record", of_records),
        ("/nodes/n1", 404, "There is no such node", "href=\"/nodes\""),
        ("/nodes/n%201", 400, "There is no such node", "href=\"/nodes\""),
        ("/reports/r1", 404, "There is no such report", "href=\"/nodes\""),
        ("/kept/x", 404, "Nothing is kept here", "its time is over"),
        (
            "/search?domain=cudda",
            400,
            "No record has this domain",
            "href=\"/search?domain=cuda\"",
        ),
        (
            "/graph/between?from=cuda&to=tensorflw&kind=causal",
            400,
            "No record has this domain",
            "href=\"/search?domain=tensorflow\"",
        ),
        ("/search?tier=x", 400, "A query parameter is wrong", "name=\"q\""),
        (
            "/nodes/n1?before=x&id=r1",
            400,
            "A query parameter is wrong",
            "name=\"q\"",
        ),
        ("/no-such", 404, "There is nothing at this address", "name=\"q\""),
    ] {
        let page = fails(&nobody, path, status).await;
        assert!(page.contains(&format!("<h1>{title}</h1>")), "{path}: {page}");
        assert!(page.contains(further), "{path}: {page}");
        assert_eq!(page.contains(of_records), path == "/r/a/b", "{path}: {page}");
        assert!(page.contains("role=\"search\""), "{path}: {page}");
    }
    app.person("con", Role::Contributor, false).await;
    let con = app.browser("con").await;
    let page = fails(&con, "/unmatched/0123456789abcdef", 404).await;
    assert!(
        page.contains("There are no such lines") && page.contains("href=\"/unmatched\""),
        "{page}"
    );
    let page = fails(&nobody, &format!("/r/{P2P}/-/revisions?from=9&to=8"), 404).await;
    assert!(page.contains("The record has no such page"), "{page}");
    assert!(page.contains(&format!("href=\"/r/{P2P}\"")), "{page}");
}

#[tokio::test]
async fn an_error_is_told_in_the_language_of_the_reader_and_shows_what_was_asked_as_text() {
    let app = TestApp::start().await;
    let nobody = Browser::new(&app);
    let page = fails(&nobody, "/r/cuda/peer-acess-unsuported-by-hardware?lang=zh", 404).await;
    assert!(page.contains("<h1>没有这条记录</h1>"), "{page}");
    assert!(page.contains(&format!("href=\"/r/{P2P}?lang=zh\"")), "{page}");
    assert!(page.contains("name=\"lang\" value=\"zh\""), "{page}");
    let page = fails(&nobody, "/r/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E", 400).await;
    assert!(!page.contains("<script>alert"), "{page}");
}
