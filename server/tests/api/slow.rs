//! Clients that send next to nothing: they are told so in the end, and hold up nobody meanwhile.

use std::time::{Duration, Instant};

use peerless::web::body::Patience;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::process::{Server, folder, limited};
use crate::test_app::{TestApp, client};

/// More connections than a worker has threads that compute (512 by actix' default, shared by all workers).
const SLOW_CLIENTS: usize = 520;

/// Sends the head of a request and a piece of its body, and leaves the rest away.
async fn begin(app: &TestApp, content_type: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", app.port)).await.unwrap();
    let request = format!(
        "POST /api/v1/match HTTP/1.1\r\nhost: x\r\ncontent-type: {content_type}\r\ncontent-length: 100\r\n\r\n{{\"text"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_body_that_stops_coming_is_given_up() {
    let app = TestApp::start_with(|options| {
        options.patience = Patience {
            grace: Duration::from_millis(100),
            rate: 1024,
        };
    })
    .await;
    for content_type in ["text/plain", "application/json"] {
        let mut stream = begin(&app, content_type).await;
        let mut answer = vec![0; 4096];
        let length = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut answer))
            .await
            .expect("the server waits for ever")
            .unwrap();
        let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
        assert!(answer.starts_with("HTTP/1.1 408"), "{content_type}: {answer}");
        assert!(
            answer.contains("content-type: application/problem+json"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn bodies_that_come_slowly_hold_no_threads() {
    let app = TestApp::start().await;
    let mut clients = Vec::new();
    for _ in 0..SLOW_CLIENTS {
        clients.push(begin(&app, "text/plain").await);
    }
    // A search computes, so it needs a thread of the same pool.
    let search = app.get("/api/v1/search?q=peer");
    let response = tokio::time::timeout(Duration::from_secs(20), search)
        .await
        .expect("slow clients hold up the others");
    assert_eq!(response.status(), 200);
}

/// More than twice as many as the server may have descriptors.
const CROWD: usize = 600;

/// Each takes a descriptor, and without one nobody is accepted.
#[tokio::test]
async fn unfinished_bodies_leave_room_for_others() {
    let (folder, data) = folder();
    let server = Server::start_by(
        limited("-n 256"),
        &["--data-dir", &data],
        &folder.path().join("log"),
    );
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let crowd = tokio::spawn(async move {
        let mut clients = Vec::new();
        for _ in 0..CROWD {
            let mut stream = TcpStream::connect(&address).await.unwrap();
            let head = "POST /api/v1/match HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nx";
            // One that was refused already is as good.
            let _ = stream.write_all(head.as_bytes()).await;
            clients.push(stream);
        }
        clients
    });
    let client = client();
    for _ in 0..5 {
        let asked = Instant::now();
        let health = client
            .get(format!("{}/healthz", server.url))
            .send()
            .await
            .unwrap();
        assert_eq!(health.status(), 200);
        let found = client
            .post(format!("{}/api/v1/match", server.url))
            .body("Xid 79")
            .send();
        assert_eq!(found.await.unwrap().status(), 200);
        let took = asked.elapsed();
        assert!(took < Duration::from_secs(15), "{took:?}");
    }
    drop(crowd.await.unwrap());
}
