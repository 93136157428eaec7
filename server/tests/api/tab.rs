//! What a browser gets to look through a log itself, and that this gives the server's own answer. The module is not built here: its
//! engine is asked as a library, and two other files stand in for it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use peerless_tab::{Knowledge, Pack, ReadError, Reading};
use reqwest::Method;
use serde_json::Value;
use tempfile::TempDir;

use crate::evaluated::{texts, without_candidates};
use crate::test_app::{Options, TestApp, json, problem};

const PAGE_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; \
                           form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Most bytes of the signatures, compressed; the module may have as many.
const MOST_BYTES: usize = 3_000_000;

fn compressed(bytes: &[u8]) -> usize {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap().len()
}

fn module(folder: &TempDir) -> PathBuf {
    let module = folder.path().join("tab");
    fs::create_dir(&module).unwrap();
    fs::write(module.join("worker.js"), "// reads").unwrap();
    fs::write(module.join("tab.wasm"), b"\0asm").unwrap();
    module
}

async fn app_with(change: impl FnOnce(&mut Options)) -> TestApp {
    let folder = TempDir::new().unwrap();
    let mut options = Options::new(&folder);
    options.settings.tab = Some(module(&folder));
    change(&mut options);
    TestApp::start_in(folder, options).await
}

fn read(knowledge: &Arc<Knowledge>, text: &[u8], base_url: &str) -> Result<Value, ReadError> {
    let mut reading = Reading::start(knowledge, BTreeMap::new(), base_url)?;
    // Pieces that no line ends with.
    for piece in text.chunks(61_441) {
        reading.push(piece)?;
    }
    // By way of its text, as the server's: scores have fewer digits there than in memory.
    let answer = serde_json::to_string(&reading.finish()?).unwrap();
    Ok(serde_json::from_str(&answer).unwrap())
}

async fn asked(app: &TestApp, text: Vec<u8>) -> Value {
    let request = app.post("/api/v1/match").header("content-type", "text/plain");
    json(request.body(text).send().await.unwrap()).await
}

#[tokio::test]
async fn the_answer_of_the_tab_is_that_of_the_server() {
    let app = app_with(|options| options.seeds = peerless::bundle::embedded().unwrap()).await;
    let pack = app.get("/tab/signatures").await.bytes().await.unwrap();
    assert!(compressed(&pack) < MOST_BYTES, "{} bytes", compressed(&pack));
    let knowledge = Arc::new(Knowledge::of(Pack::read(&pack).unwrap()));
    let mut matches = 0;
    for (name, text) in texts() {
        let of_server = without_candidates(asked(&app, text.clone()).await);
        let of_tab = read(&knowledge, &text, &app.url).unwrap();
        matches += of_tab["matches"].as_array().unwrap().len();
        assert_eq!(of_tab, of_server, "{name}");
    }
    assert!(matches > 1_000, "{matches} matches of all texts");
}

#[tokio::test]
async fn advice_for_a_harmless_message_is_not_given_for_a_line_that_the_driver_calls_fatal() {
    let app = app_with(|options| options.seeds = peerless::bundle::embedded().unwrap()).await;
    let pack = app.get("/tab/signatures").await.bytes().await.unwrap();
    let knowledge = Arc::new(Knowledge::of(Pack::read(&pack).unwrap()));
    for (told, severity, has_advice) in [("Fatal", "fatal", false), ("Nonfatal", "warning", true)] {
        let line = format!("NVRM: Xid (PCI:0000:af:00): 147, TREX {told} XC0 i0 Link 07 (0x1)");
        let of_server = asked(&app, line.clone().into_bytes()).await;
        let of_tab = read(&knowledge, line.as_bytes(), &app.url).unwrap();
        for answer in [of_server, of_tab] {
            let found = &answer["matches"][0];
            assert_eq!(found["severity"], severity, "{found}");
            assert_eq!(found["workaround"].is_object(), has_advice, "{found}");
            assert_eq!(found["action"].is_string(), has_advice, "{found}");
        }
    }
}

#[tokio::test]
async fn what_is_no_text_is_refused_for_the_same_reason() {
    let app = app_with(|_| {}).await;
    let pack = app.get("/tab/signatures").await.bytes().await.unwrap();
    let knowledge = Arc::new(Knowledge::of(Pack::read(&pack).unwrap()));
    for text in [&b"PK\x03\x04\x14\0\0\0\x08\0"[..], &[0xff; 4096]] {
        let refused = asked(&app, text.to_vec()).await;
        let why = read(&knowledge, text, &app.url).unwrap_err().to_string();
        assert_eq!(refused["detail"], why);
    }
    assert_eq!(read(&knowledge, b"", &app.url), Err(ReadError::Empty));
    let unknown = BTreeMap::from([("colour".to_owned(), "red".to_owned())]);
    assert!(Reading::start(&knowledge, unknown, "").is_err());
    assert!(Pack::read(b"{}").is_err());
}

#[tokio::test]
async fn signatures_are_fetched_once() {
    let app = app_with(|_| {}).await;
    let first = app.get("/tab/signatures").await;
    let tag = first.headers()["etag"].clone();
    assert_eq!(first.headers()["cache-control"], "no-cache");
    let again = app
        .request(Method::GET, "/tab/signatures")
        .header("if-none-match", tag);
    assert_eq!(again.send().await.unwrap().status(), 304);
}

#[tokio::test]
async fn the_worker_may_run_the_module_and_ask_for_nothing() {
    let app = app_with(|_| {}).await;
    let page = app.get("/tab").await.text().await.unwrap();
    let address = |name: &str| {
        let (_, rest) = page.split_once(&format!("data-{name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    for (path, kind, policy) in [
        (
            address("worker"),
            "text/javascript; charset=utf-8",
            "default-src 'none'; script-src 'wasm-unsafe-eval'",
        ),
        (address("module"), "application/wasm", PAGE_POLICY),
        ("/".to_owned(), "text/html; charset=utf-8", PAGE_POLICY),
        ("/tab".to_owned(), "text/html; charset=utf-8", PAGE_POLICY),
    ] {
        let answer = app.get(&path).await;
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(answer.headers()["content-type"], kind);
        assert_eq!(answer.headers()["content-security-policy"], policy, "{path}");
    }
    problem(app.get("/tab/worker.0000000000000000.js").await, 404, "not_found").await;
}

#[tokio::test]
async fn the_choice_stands_where_there_is_a_module() {
    let with = app_with(|_| {}).await;
    let without = TestApp::start().await;
    for (query, choice, sent) in [
        ("", "nothing of it is sent", "It was sent to this server"),
        ("?lang=zh", "不发送任何内容", "内容已发送到本服务器"),
    ] {
        for (app, is_there) in [(&with, true), (&without, false)] {
            let home = app.get(&format!("/{query}")).await.text().await.unwrap();
            assert_eq!(home.contains(choice), is_there);
            let form = app
                .post(&format!("/match{query}"))
                .header("content-type", "application/x-www-form-urlencoded");
            let answer = form
                .body("text=Xid+79")
                .send()
                .await
                .unwrap()
                .text()
                .await
                .unwrap();
            assert_eq!(answer.contains(sent), is_there);
        }
    }
    for path in ["/tab", "/tab/signatures", "/tab/tab.wasm"] {
        let told = problem(without.get(path).await, 404, "not_found").await;
        assert!(told["detail"].as_str().unwrap().contains("--tab DIR"));
    }
}

#[tokio::test]
async fn a_folder_without_the_module_is_refused_at_the_start() {
    let folder = TempDir::new().unwrap();
    let mut options = Options::new(&folder);
    options.settings.tab = Some(folder.path().to_owned());
    let environment = peerless::startup::Environment::with(peerless::startup::Seeds::These(options.seeds));
    let refused = peerless::startup::Application::build(&options.settings, environment).await;
    let told = refused.err().unwrap().to_string();
    assert!(
        told.contains("worker.js") && told.contains("cargo xtask wasm"),
        "{told}"
    );
}
