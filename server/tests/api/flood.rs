//! One address that floods what costs processor time leaves the server to others: they take turns with it, and `/healthz`
//! waits for nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use peerless::web::limits::WAITING_OF_CLIENT;
use reqwest::header::RETRY_AFTER;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::test_app::{TestApp, problem};

const COSTLY: &str =
    "/api/v1/search?q=wrod+cudda+memroy+ilegal+adress+devcie+kernle+erorr+faild+timout&limit=100";

async fn behind_a_proxy() -> TestApp {
    TestApp::start_with(|options| options.settings.trusted_proxies = vec!["127.0.0.1".parse().unwrap()]).await
}

fn of(app: &TestApp, client: &str, path: &str) -> RequestBuilder {
    app.request(Method::GET, path).header("x-forwarded-for", client)
}

/// Every place that one client may have, and its whole queue.
fn most() -> usize {
    WAITING_OF_CLIENT + std::thread::available_parallelism().map_or(1, usize::from)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_from_one_address_leaves_the_server_to_others() {
    let app = behind_a_proxy().await;
    let ended = Arc::new(AtomicUsize::new(0));
    let mut flood = JoinSet::new();
    let (waiting, refused) = (100, most() + 40);
    for _ in 0..waiting {
        let (asked, ended) = (of(&app, "192.0.2.1", COSTLY), Arc::clone(&ended));
        flood.spawn(async move {
            let answer = asked.send().await.unwrap();
            ended.fetch_add(1, Ordering::SeqCst);
            answer
        });
    }
    app.wait_for_index();
    for path in ["/healthz", "/readyz", "/metrics", "/api/v1/search?q=nccl"] {
        let answer = of(&app, "192.0.2.2", path).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
    }
    let before = ended.load(Ordering::SeqCst);
    assert!(before < waiting / 2, "{before} of the flood were answered first");
    while let Some(answer) = flood.join_next().await {
        assert_eq!(answer.unwrap().status(), StatusCode::OK);
    }

    for _ in 0..refused {
        flood.spawn({
            let asked = of(&app, "192.0.2.1", COSTLY);
            async move { asked.send().await.unwrap() }
        });
    }
    let mut answered = 0;
    while let Some(answer) = flood.join_next().await {
        let answer = answer.unwrap();
        if answer.status() == StatusCode::OK {
            answered += 1;
        } else {
            assert!(answer.headers().contains_key(RETRY_AFTER));
            problem(answer, 429, "rate_limited").await;
        }
    }
    assert!((1..refused).contains(&answered), "{answered} of {refused}");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_wait_behind_each_other_on_a_connection_let_others_pass() {
    let app = behind_a_proxy().await;
    let head = format!("GET {COSTLY} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 192.0.2.1\r\n\r\n");
    let mut connections = Vec::new();
    for _ in 0..8 {
        let mut connection = TcpStream::connect(("127.0.0.1", app.port)).await.unwrap();
        connection.write_all(head.repeat(16).as_bytes()).await.unwrap();
        connections.push(connection);
    }
    for path in ["/healthz", "/api/v1/search?q=nccl"] {
        let answer = of(&app, "192.0.2.2", path).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
    }
    let counted = searches(&app).await;
    assert!(counted < 64, "{counted} of 128 were answered first");
    // Of those whose clients have gone none is begun.
    drop(connections);
    let answer = of(&app, "192.0.2.1", "/api/v1/search?q=nccl")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let counted = searches(&app).await;
    assert!(counted < 100, "{counted} of 128 were computed for nobody");
    app.stop().await;
}

const JSON: &str = "application/json";

/// Large texts of many addresses are worked on in turns with the small one of another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_text_does_not_wait_behind_large_ones() {
    let app = TestApp::start_with(|options| {
        options.settings.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
        options.settings.anonymous_writing = true;
    })
    .await;
    let line = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n";
    let unknown: Vec<String> = (0..3_000)
        .map(|number| format!("error: frob{number} cannot quux the bar{number}"))
        .collect();
    let unknown = unknown.join("\n");
    let form = reqwest::Url::parse_with_params("http://x", [("text", &unknown)]).unwrap();
    let large = json!({ "text": line.repeat(50_000) }).to_string();
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
        {"name": "match", "arguments": {"text": line.repeat(50_000)}}});
    let items = vec![json!({ "text": line.repeat(1000) }); 60];
    let bodies = [
        ("/api/v1/match", JSON, large),
        ("/mcp", JSON, message.to_string()),
        ("/api/v1/match/batch", JSON, json!({ "items": items }).to_string()),
        (
            "/unknown",
            "application/x-www-form-urlencoded",
            form.query().unwrap().to_owned(),
        ),
    ];
    for (path, kind, body) in bodies {
        let ended = Arc::new(AtomicUsize::new(0));
        let mut flood = JoinSet::new();
        for number in 0..FLOOD {
            let asked = app
                .post(path)
                .header("x-forwarded-for", format!("192.0.2.{number}"))
                .header("content-type", kind)
                .header("accept", "application/json, text/event-stream, text/html")
                .body(body.clone());
            let ended = Arc::clone(&ended);
            flood.spawn(async move {
                let answer = asked.send().await.unwrap();
                ended.fetch_add(1, Ordering::SeqCst);
                answer.status()
            });
        }
        // They are being read, and there is work for a second.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let began = ended.load(Ordering::SeqCst);
        let small = app.post("/api/v1/match").header("x-forwarded-for", "192.0.2.99");
        let answer = small.body(line.repeat(50)).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let before = ended.load(Ordering::SeqCst) - began;
        println!("{path}: {began} had ended, {before} more before the small one");
        assert!(
            before < FLOOD / 4,
            "{path}: {before} of the flood were answered first"
        );
        while flood.join_next().await.is_some() {}
    }
    app.stop().await;
}

const FLOOD: usize = 24;

/// Searches that were answered.
async fn searches(app: &TestApp) -> usize {
    let metrics = of(app, "192.0.2.2", "/metrics").send().await.unwrap();
    let text = metrics.text().await.unwrap();
    let counts = text
        .lines()
        .filter(|line| line.starts_with("http_requests_total{") && line.contains("\"/api/v1/search\""));
    counts
        .map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap())
        .sum()
}
