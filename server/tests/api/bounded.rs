//! What a request makes is bounded, not only what it sends: bodies that are small on the wire and huge in memory, answers that
//! grow, and readers that do not read. The program itself is asked, and its peak memory read from the system.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use peerless::web::limits::ANSWER_PIECE_BYTES;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::process::{Server, folder, peak_megabytes, token};
use crate::test_app::{TestApp, client, json as json_of, problem};

/// Peak of resident memory that the server may reach under attack, in MB.
const MOST_MEGABYTES: u64 = 700;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Each attack several times at once, while a client asks once in a while and gets its answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_bodies_that_grow_in_memory_leave_the_server_small() {
    let (folder, data) = folder();
    let token = token(&["--data-dir", &data], &["report"]);
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let client = client();
    let before = peak_megabytes(&server);

    let mcp = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"match\",\"arguments\":{{\"x\":[{}0]}}}}}}",
        "{\"\":0},".repeat(1_000_000)
    );
    let items = format!("{{\"items\":[{}0]}}", "0,".repeat(30_000_000));
    let report = format!(
        "{{\"schema\":{{\"major\":1,\"minor\":0}},\"x\":[{}0]}}",
        "0,".repeat(4_000_000)
    );
    let attacks = [
        ("/mcp", mcp),
        ("/api/v1/match/batch", items.clone()),
        ("/api/v1/reports/batch", items),
        ("/api/v1/reports", report.clone()),
        ("/api/v1/match", report),
    ];
    for (path, body) in attacks {
        let body = gzip(body.as_bytes());
        let sending: Vec<_> = (0..6)
            .map(|_| {
                let request = client
                    .post(format!("{}{path}", server.url))
                    .bearer_auth(&token)
                    .header("content-type", "application/json")
                    .header("accept", "application/json, text/event-stream")
                    .header("content-encoding", "gzip")
                    .body(body.clone());
                tokio::spawn(request.send())
            })
            .collect();
        let asked = Instant::now();
        let answer = client
            .post(format!("{}/api/v1/match", server.url))
            .body("NVRM: Xid (PCI:0000:91:00): 79, GPU has fallen off the bus.");
        let answer: Value = answer.send().await.unwrap().json().await.unwrap();
        assert_eq!(answer["root_cause"], "xid/79-gpu-has-fallen-off-the-bus");
        assert!(
            asked.elapsed() < Duration::from_secs(10),
            "{path}: {:?}",
            asked.elapsed()
        );
        for sent in sending {
            let status = sent.await.unwrap().unwrap().status();
            let refused = [StatusCode::PAYLOAD_TOO_LARGE, StatusCode::SERVICE_UNAVAILABLE];
            assert!(refused.contains(&status), "{path}: {status}");
        }
        let peak = peak_megabytes(&server);
        println!("{path}: peak {peak} MB, {before} MB before");
        assert!(peak < MOST_MEGABYTES, "{path}: {peak} MB");
    }
}

/// Fields are counted before they are made: each takes 48 bytes for its two.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_of_millions_of_fields_leaves_the_server_small() {
    let (folder, data) = folder();
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let before = peak_megabytes(&server);
    let fields = "a&".repeat(12_000_000);
    let request = client()
        .post(format!("{}/match", server.url))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(fields);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert!(answer.text().await.unwrap().contains("at most 4096 fields"));
    let grown = peak_megabytes(&server) - before;
    assert!(grown < 120, "{grown} MB");
}

/// What all callers share is not copied for each: 100 copies of the archive would be some 400 MB.
#[test]
fn callers_that_do_not_read_the_archive_cost_little() {
    const MOST_MORE: u64 = 100;
    let (folder, data) = folder();
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let address = server.url.strip_prefix("http://").unwrap();
    let ask = || {
        let mut connection = TcpStream::connect(address).unwrap();
        write!(
            connection,
            "GET /api/v1/export.zip HTTP/1.1\r\nhost: localhost\r\n\r\n"
        )
        .unwrap();
        // The answer has begun.
        connection.read_exact(&mut [0; 8]).unwrap();
        connection
    };
    // The first one has the archive made.
    let first = ask();
    let before = peak_megabytes(&server);
    let others: Vec<TcpStream> = (0..100).map(|_| ask()).collect();
    let peak = peak_megabytes(&server);
    assert!(peak < before + MOST_MORE, "{before} MB before, {peak} MB then");
    drop((first, others));
}

#[tokio::test]
async fn the_thousand_and_first_item_is_refused_when_it_comes() {
    let app = TestApp::start().await;
    let batch = |items: usize| {
        let items: Vec<Value> = (0..items).map(|_| json!({"text": "all is well"})).collect();
        app.post("/api/v1/match/batch")
            .json(&json!({ "items": items }))
            .send()
    };
    let answer = json_of(batch(1000).await.unwrap()).await;
    assert_eq!(answer["items"].as_array().unwrap().len(), 1000);
    let refused = problem(batch(1001).await.unwrap(), 413, "too_large").await;
    assert!(
        refused["detail"].as_str().unwrap().contains("1000 items"),
        "{refused}"
    );
}

/// A reader who sends everything before it reads anything, and whose answer has a million lines: it gets all of it, or a
/// connection that breaks, and never a part that looks whole.
#[test]
fn an_answer_that_is_not_whole_does_not_look_whole() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let app = runtime.block_on(TestApp::start_with(|options| {
        options.patience.grace = Duration::from_millis(300);
    }));
    let line = "RuntimeError: CUDA error: peer access is not supported between these two devices\n";
    let body = json!({ "text": line.repeat(60_000) }).to_string();
    let mut connection = TcpStream::connect(("127.0.0.1", app.port)).unwrap();
    connection
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    write!(
        connection,
        "POST /api/v1/match HTTP/1.1\r\nhost: localhost\r\naccept: application/x-ndjson\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    // The system's buffers fill up, and then nobody takes anything for longer than the server waits.
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(1500) {
        std::hint::spin_loop();
    }
    let mut answer = Vec::new();
    // A broken connection is an answer, too.
    let _ = connection.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    let ends_cleanly = text.ends_with("0\r\n\r\n");
    let is_whole = text.contains("\"event\":\"summary\"") || text.contains("\"event\":\"problem\"");
    assert!(
        !ends_cleanly || is_whole,
        "{} bytes end as if they were all",
        answer.len()
    );
    drop(runtime);
}

/// The rest of a body that came too slowly does not keep the connection.
#[test]
fn a_connection_whose_body_drips_is_closed() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let app = runtime.block_on(TestApp::start_with(|options| {
        options.patience.grace = Duration::from_millis(200);
    }));
    let mut connection = TcpStream::connect(("127.0.0.1", app.port)).unwrap();
    connection
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    write!(
        connection,
        "POST /api/v1/match HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ncontent-length: 100000\r\n\r\nab"
    )
    .unwrap();
    let mut answer = Vec::new();
    connection
        .read_to_end(&mut answer)
        .expect("the connection is closed");
    assert!(
        answer.starts_with(b"HTTP/1.1 408"),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    drop(runtime);
}

/// A page under another name may not read nodes through its reader's browser.
#[tokio::test]
async fn a_public_fleet_is_public_under_known_names_only() {
    let app = TestApp::start_with(|options| {
        options.settings.public_fleet = true;
        options.settings.public_url = Some("https://kb.example".to_owned());
    })
    .await;
    for path in ["/api/v1/nodes", "/api/v1/fleet", "/api/v1/reports", "/nodes"] {
        for (host, status) in [("kb.example", 200), ("127.0.0.1:80", 200), ("evil.example", 403)] {
            let response = app
                .request(reqwest::Method::GET, path)
                .header("host", host)
                .send()
                .await
                .unwrap();
            assert_eq!(response.status(), status, "{path} as {host}");
            if status == 403 {
                assert!(response.text().await.unwrap().contains("--public-url"));
            }
        }
    }
    let fleet = app.token(&[peerless::store::Scope::Fleet]).await;
    let with_token = app
        .request(reqwest::Method::GET, "/api/v1/nodes")
        .header("host", "behind-a-proxy.example")
        .bearer_auth(fleet);
    assert_eq!(with_token.send().await.unwrap().status(), 200);
}

/// The second piece of an answer does not wait for the client's word about the first, which systems hold back for 40 ms.
#[test]
fn an_answer_of_two_pieces_goes_out_at_once() {
    let (folder, data) = folder();
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let address = server.url.trim_start_matches("http://");
    let mut connection = BufReader::new(TcpStream::connect(address).unwrap());
    let mut ask = |limit: usize| {
        let began = Instant::now();
        let request = format!("GET /api/v1/records?limit={limit} HTTP/1.1\r\nhost: {address}\r\n\r\n");
        connection.get_mut().write_all(request.as_bytes()).unwrap();
        let mut length = 0;
        loop {
            let mut line = String::new();
            connection.read_line(&mut line).unwrap();
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        connection.read_exact(&mut body).unwrap();
        (length, began.elapsed())
    };
    let of_two_pieces = (1..200)
        .find(|limit| ask(*limit).0 > ANSWER_PIECE_BYTES + 4096)
        .unwrap();
    let least = (0..20).map(|_| ask(of_two_pieces).1).min().unwrap();
    assert!(least < Duration::from_millis(30), "{least:?}");
}
