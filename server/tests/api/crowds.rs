//! Many connections that neither read nor finish what they send: together they cost little memory, and others are answered.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::process::{Server, folder, peak_megabytes};
use crate::test_app::{TestApp, client};

/// A connection from the `number`th of many addresses, which has sent `bytes` as far as the server takes them.
async fn sent(address: &str, number: usize, bytes: &[u8]) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    let from = format!("127.0.{}.{}:0", 1 + number / 200, 1 + number % 200);
    socket.bind(from.parse().unwrap()).unwrap();
    let mut connection = socket.connect(address.parse().unwrap()).await.unwrap();
    // One that was refused already is as good.
    let _ = tokio::time::timeout(Duration::from_secs(1), connection.write_all(bytes)).await;
    connection
}

/// Holds `count` connections open, asks as an ordinary client meanwhile, and gives the megabytes that they cost.
async fn cost_of_crowd(server: &Server, count: usize, bytes: &[u8]) -> (u64, Vec<TcpStream>) {
    let address = server.url.strip_prefix("http://").unwrap();
    drop(sent(address, 0, bytes).await);
    let client = client();
    let before = peak_megabytes(server);
    let mut crowd = Vec::new();
    for number in 0..count {
        crowd.push(sent(address, number, bytes).await);
        if number % (count / 4) == 0 || number + 1 == count {
            let asked = Instant::now();
            let answer = client
                .post(format!("{}/api/v1/match", server.url))
                .body("NVRM: Xid (PCI:0000:91:00): 79, GPU has fallen off the bus.");
            let answer: Value = answer.send().await.unwrap().json().await.unwrap();
            assert_eq!(answer["root_cause"], "xid/79-gpu-has-fallen-off-the-bus");
            let took = asked.elapsed();
            assert!(took < Duration::from_secs(10), "{took:?}");
        }
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let peak = peak_megabytes(server);
    println!("{count} connections: {before} MB before, {peak} MB then");
    (peak - before, crowd)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exports_that_nobody_reads_cost_little() {
    let (folder, data) = folder();
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let ask = "GET /api/v1/export.ndjson HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let (cost, _crowd) = cost_of_crowd(&server, 600, ask.as_bytes()).await;
    assert!(cost < 50, "{cost} MB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_are_not_finished_cost_little() {
    let (folder, data) = folder();
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let body = format!(
        "POST /api/v1/match HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: 8000000\r\n\r\n{{\"text\":\"{}",
        "x".repeat(60_000)
    );
    let (cost, crowd) = cost_of_crowd(&server, 3000, body.as_bytes()).await;
    // The whole server stays under 700 MB, of which a fresh one has up to 300. A build for tests takes 340 for this crowd; a
    // release build takes 200 for one of 5,000.
    assert!(cost < 400, "{cost} MB");
    // Few are waited for when their memory is nearly full.
    let mut waiting = crowd;
    let began = Instant::now();
    while waiting.len() > 2500 && began.elapsed() < Duration::from_secs(20) {
        tokio::time::sleep(Duration::from_millis(200)).await;
        waiting.retain(|connection| {
            let mut answer = [0; 12];
            let is_answered = connection.try_read(&mut answer).is_ok();
            assert!(!is_answered || &answer == b"HTTP/1.1 503");
            !is_answered
        });
    }
    assert!(waiting.len() <= 2500, "{} are waited for", waiting.len());
}

/// An export has a place, of which an address has some; who does not read loses it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_that_nobody_reads_gives_its_place_to_others() {
    let app = TestApp::start_with(|options| {
        options.seeds = peerless::bundle::embedded().unwrap();
        options.patience.grace = Duration::from_secs(1);
    })
    .await;
    let address = format!("127.0.0.1:{}", app.port);
    let ask = "GET /api/v1/export.ndjson HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut unread = Vec::new();
    for _ in 0..peerless::web::limits::EXPORTS_OF_CLIENT {
        let mut connection = TcpStream::connect(&address).await.unwrap();
        connection.write_all(ask.as_bytes()).await.unwrap();
        // The answer has begun.
        connection.read_exact(&mut [0; 8]).await.unwrap();
        unread.push(connection);
    }
    let refused = app.get("/api/v1/export.ndjson").await;
    assert!(refused.headers().contains_key("retry-after"));
    crate::test_app::problem(refused, 429, "rate_limited").await;
    let began = Instant::now();
    let lines = loop {
        let answer = app.get("/api/v1/export.ndjson").await;
        if answer.status() == StatusCode::OK {
            break answer.text().await.unwrap();
        }
        assert!(began.elapsed() < Duration::from_secs(30), "the places stay taken");
        tokio::time::sleep(Duration::from_millis(300)).await;
    };
    assert!(lines.lines().count() > 100);
    assert!(
        lines
            .lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok())
    );
    drop(unread);
}
