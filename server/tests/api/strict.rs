//! What is misspelt is refused with what was probably meant: parameters and values of filters, on the interface and on pages,
//! and settings. What acts on a reader is shown as an escape.

use std::process::Command;

use peerless::store::Scope;
use serde_json::json;

use crate::test_app::{TestApp, problem};

#[tokio::test]
async fn a_misspelt_parameter_of_a_call_is_refused_with_the_nearest() {
    let app = TestApp::start().await;
    let token = app
        .token(&[Scope::Report, Scope::Edit, Scope::Publish, Scope::Admin])
        .await;
    for (path, meant) in [
        ("/api/v1/match?enviroment=driver=550", "environment"),
        ("/api/v1/match/batch?expand=record", "there are none"),
        ("/api/v1/reports?node=x", "there are none"),
        ("/api/v1/join-tokens?count=3", "there are none"),
        (
            "/api/v1/records/cuda/peer-access-unsupported-by-hardware/-/publish?forec=1",
            "force",
        ),
    ] {
        let asked = app.post(path).bearer_auth(&token).json(&json!({"text": "x"}));
        let refused = problem(asked.send().await.unwrap(), 400, "bad_query").await;
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(meant), "{path}: {detail}");
    }
    let refused = problem(app.get("/api/v1/search?domian=cuda").await, 400, "bad_query").await;
    assert!(
        refused["detail"]
            .as_str()
            .unwrap()
            .contains("did you mean domain?")
    );
    app.stop().await;
}

async fn page(app: &TestApp, path: &str) -> (u16, String) {
    let asked = app
        .request(reqwest::Method::GET, path)
        .header("accept", "text/html");
    let answer = asked.send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test]
async fn a_misspelt_filter_of_a_page_is_told_and_trackers_pass() {
    let app = TestApp::start_with(|options| options.settings.public_fleet = true).await;
    for (path, told) in [
        ("/search?serverity=error", "<code>serverity</code>"),
        ("/search?q=peer&domian=cuda", "did you mean domain?"),
        ("/search?q=peer&domain=cdua", "did you mean cuda?"),
        ("/search?tier=human_reveiwed", "record has the tier"),
        ("/nodes?lable=rack%3Dr17", "did you mean label?"),
        (
            "/graph/between?from=cuda&to=ncl&kind=causal",
            "record has the domain",
        ),
        ("/graph?domain=cuda", "<code>domain</code>"),
    ] {
        let (status, text) = page(&app, path).await;
        assert_eq!(status, 400, "{path}");
        assert!(text.contains(told), "{path}: {text}");
    }
    for path in [
        "/search?q=peer&utm_source=mail&utm_medium=x&fbclid=1",
        "/?ref=forum&gclid=2",
        "/search?domain=&tier=human_reviewed",
        "/nodes?lang=zh&ref=x",
    ] {
        assert_eq!(page(&app, path).await.0, 200, "{path}");
    }
    let form = app
        .request(reqwest::Method::POST, "/match")
        .header("content-type", "application/x-www-form-urlencoded")
        .body("text=hello&drivr=550.54");
    let answer = form.send().await.unwrap();
    assert_eq!(answer.status(), 400);
    assert!(answer.text().await.unwrap().contains("no field `drivr`"));
    app.stop().await;
}

#[tokio::test]
async fn a_misspelt_value_of_a_filter_is_refused_with_those_that_there_are() {
    let app = TestApp::start().await;
    for (path, told) in [
        ("/api/v1/search?domain=cdua", "did you mean cuda?"),
        ("/api/v1/search?category=x", "category"),
        ("/api/v1/search?tag=x", "tag"),
        ("/api/v1/search?tier=documentd", "tier"),
        ("/api/v1/search?locale=xx", "locale"),
        ("/api/v1/records?domain=cud", "did you mean cuda?"),
        ("/api/v1/records?state=publishd", "published"),
        ("/api/v1/records?sort=modifid", "modified"),
        ("/api/v1/search?domain=", "domain is empty"),
        ("/api/v1/records?state=published&domain=", "domain is empty"),
        ("/api/v1/records?sort=modified&cursor=-1", "cursor"),
        ("/api/v1/records?since=0&cursor=0", "cursor"),
        ("/api/v1/codes?cursor=x", "next_cursor of the page before"),
        ("/api/v1/graph?kinds=", "kinds is empty"),
        ("/api/v1/graph?kinds=,", "leads_to"),
    ] {
        let refused = problem(app.get(path).await, 400, "bad_query").await;
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(told), "{path}: {detail}");
    }
    for path in [
        "/api/v1/search?tier=reproduced",
        "/api/v1/search?domain=cuda&q=zzzz",
        // The code may have gone after the page before.
        "/api/v1/codes?cursor=after:E_NO_RECORD_HAS_IT",
    ] {
        assert_eq!(app.get(path).await.status(), 200, "{path}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_form_that_accept_forbids_is_not_sent() {
    let app = TestApp::start().await;
    for (accept, expected) in [
        ("text/plain", Some("text/plain; charset=utf-8")),
        ("text/plain;q=0, */*", Some("application/json")),
        (
            "application/json;q=0.5, text/plain",
            Some("text/plain; charset=utf-8"),
        ),
        ("text/plain;q=0", None),
        ("text/plian", None),
        ("application/pdf", None),
    ] {
        let match_text = app.post("/api/v1/match").body("Xid 79");
        let search = app.request(reqwest::Method::GET, "/api/v1/search?q=xid");
        for request in [match_text, search] {
            let answer = request.header("accept", accept).send().await.unwrap();
            if let Some(form) = expected {
                assert_eq!(answer.headers()["content-type"], form, "{accept}");
                continue;
            }
            let refused = problem(answer, 406, "not_acceptable").await;
            let detail = refused["detail"].as_str().unwrap();
            assert!(detail.contains("application/json, text/plain"), "{detail}");
        }
        let graph = app.request(reqwest::Method::GET, "/api/v1/graph");
        let graph = graph.header("accept", "text/html").send().await.unwrap();
        problem(graph, 406, "not_acceptable").await;
    }
    app.stop().await;
}

#[tokio::test]
async fn labels_are_given_once_each() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Admin]).await;
    let twice = r#"{"name": "r", "labels": {"rack": "r1", "rack": "r2"}}"#;
    let asked = app.post("/api/v1/join-tokens").bearer_auth(&token);
    let asked = asked.header("content-type", "application/json").body(twice);
    let refused = problem(asked.send().await.unwrap(), 400, "malformed_body").await;
    assert!(refused["detail"].as_str().unwrap().contains("twice"));
    let folder = app.stop().await;
    let data = folder.path().to_str().unwrap();
    let labels = ["--label", "rack=r1", "--label", "rack=r2"];
    let refused = run(&[
        &[
            "token",
            "create",
            "--data-dir",
            data,
            "--name",
            "r",
            "--scope",
            "enrol",
        ],
        &labels[..],
    ]
    .concat());
    assert!(refused.contains("rack is given twice"), "{refused}");
}

#[test]
fn settings_that_cannot_be_meant_are_refused_at_the_start() {
    for (option, value, told) in [
        ("--workers", "0", "1 to 1024"),
        ("--workers", "100000", "1 to 1024"),
        ("--public-url", "foo", "scheme and host"),
        ("--public-url", "https://", "scheme and host"),
    ] {
        let refused = run(&["serve", option, value]);
        assert!(refused.contains(told), "{option} {value}: {refused}");
    }
}

/// What a call that fails says.
fn run(arguments: &[&str]) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_peerless"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(!ran.status.success());
    String::from_utf8(ran.stderr).unwrap()
}

#[tokio::test]
async fn what_acts_on_a_reader_is_shown_as_an_escape() {
    let app = TestApp::start().await;
    let text =
        "peer access is not supported between these two devices \u{1b}[2J\u{9b}3m\u{202e}\u{2066}\u{7}";
    let asked = app.post("/match").header("accept", "text/html");
    let shown = asked
        .header("content-type", "text/plain")
        .body(text)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(shown.contains("two devices"), "{shown}");
    let asked = app.post("/api/v1/match").header("accept", "text/plain");
    let told = asked.body(text).send().await.unwrap().text().await.unwrap();
    let (_, failure) = page(&app, "/search?domain=%1b%5b2J%e2%80%ae").await;
    for text in [shown, told, failure] {
        let acts = |c: char| (c.is_control() && !"\t\n\r".contains(c)) || "\u{202e}\u{2066}".contains(c);
        assert!(!text.contains(acts), "{text}");
        assert!(text.contains("\\u202e"), "{text}");
    }
    app.stop().await;
}
