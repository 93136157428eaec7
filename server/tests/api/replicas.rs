//! Several processes on one database: what one does the others see, and a kill in the middle leaves the old or the new.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::database::Database;
use crate::process::{Server, folder, peerless, token, until};
use crate::records::document;
use crate::test_app::client;

/// True when the server's matcher knows `line` as `id`.
async fn finds(client: &reqwest::Client, url: &str, line: &str, id: &str) -> bool {
    let request = client.post(format!("{url}/api/v1/match")).body(line.to_owned());
    let found: Value = request.send().await.unwrap().json().await.unwrap();
    found["root_cause"] == id
}

/// A server answers messages before its first search index is built, and a change waits for that build: a search ends
/// when it is there.
async fn has_its_index(client: &reqwest::Client, url: &str) {
    let search = client.get(format!("{url}/api/v1/search?q=xid")).send();
    assert_eq!(search.await.unwrap().status(), 200);
}

#[tokio::test]
async fn an_edit_on_one_server_is_found_on_the_other_within_a_second() {
    let (folder, database) = (folder().0, Database::make().await);
    let url = database.url();
    let arguments = ["--database", url.as_str()];
    let first = Server::start(&arguments, &folder.path().join("log-a"));
    let second = Server::start(&arguments, &folder.path().join("log-b"));
    let token = token(&arguments, &["edit", "publish"]);
    let client = client();
    has_its_index(&client, &first.url).await;
    has_its_index(&client, &second.url).await;
    let line = "CUDA error: replica test failure";
    let put = client
        .put(format!(
            "{}/api/v1/records/cuda/replica-test?publish=true",
            first.url
        ))
        .bearer_auth(&token)
        .header("content-type", "application/json")
        .header("if-none-match", "*")
        .body(document("cuda/replica-test", line));
    assert_eq!(put.send().await.unwrap().status(), 201);
    let published = Instant::now();
    assert!(
        finds(&client, &first.url, line, "cuda/replica-test").await,
        "its author finds it at once"
    );
    until("found on the other server", || {
        finds(&client, &second.url, line, "cuda/replica-test")
    })
    .await;
    let elapsed = published.elapsed();
    println!(
        "an edit was found on the other server after {} ms",
        elapsed.as_millis()
    );
    assert!(elapsed < Duration::from_secs(1), "it took {elapsed:?}");
    drop((first, second));
    database.end().await;
}

#[tokio::test]
async fn a_server_killed_while_publishing_leaves_the_old_or_the_new() {
    const ROUNDS: u64 = 12;
    let (folder, database) = (folder().0, Database::make().await);
    let url = database.url();
    let arguments = ["--database", url.as_str()];
    let witness = Server::start(&arguments, &folder.path().join("log-b"));
    let token = token(&arguments, &["edit", "publish"]);
    let client = client();
    let record = "/api/v1/records/cuda/torn";
    for round in 0..ROUNDS {
        let mut server = Server::start(&arguments, &folder.path().join("log-a"));
        let text = document("cuda/torn", &format!("CUDA error: torn number {round}"));
        let head = client
            .get(format!("{}{record}?revision=head", witness.url))
            .bearer_auth(&token)
            .send()
            .await
            .unwrap();
        let put = client
            .put(format!("{}{record}?publish=true", server.url))
            .bearer_auth(&token)
            .header("content-type", "application/json");
        let put = match head.headers().get("etag") {
            Some(tag) => put.header("if-match", tag),
            None => put.header("if-none-match", "*"),
        };
        let sending = tokio::spawn(put.body(text).send());
        tokio::time::sleep(Duration::from_millis(round * 3)).await;
        server.kill();
        let acknowledged = sending
            .await
            .unwrap()
            .is_ok_and(|response| response.status().is_success());
        // What readers see is one of the texts, whole, and the matcher of the other server agrees with it.
        let seen = client
            .get(format!("{}{record}", witness.url))
            .send()
            .await
            .unwrap();
        assert!(acknowledged <= (seen.status() == 200), "acknowledged and gone");
        if seen.status() == 200 {
            let seen: Value = seen.json().await.unwrap();
            let signature = seen["signature"].as_str().unwrap().to_owned();
            if acknowledged {
                assert_eq!(signature, format!("CUDA error: torn number {round}"));
            }
            until("the matcher agrees", || {
                finds(&client, &witness.url, &signature, "cuda/torn")
            })
            .await;
        }
    }
    drop(witness);
    database.end().await;
}

#[tokio::test]
async fn an_import_by_another_process_is_seen_on_sqlite() {
    let (folder, data) = folder();
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let client = client();
    has_its_index(&client, &server.url).await;
    let line = "CUDA error: imported from outside";
    let records = folder.path().join("records/cuda");
    std::fs::create_dir_all(&records).unwrap();
    std::fs::write(records.join("imported.json"), document("cuda/imported", line)).unwrap();
    let records = folder.path().join("records");
    let output = peerless()
        .args(["import", records.to_str().unwrap(), "--data-dir", &data])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let elapsed = until("found", || finds(&client, &server.url, line, "cuda/imported")).await;
    println!(
        "an import was found {} ms after it had ended",
        elapsed.as_millis()
    );
    assert!(elapsed < Duration::from_secs(1), "it took {elapsed:?}");
}

/// Stands between a server and PostgreSQL, and holds everything back while it is frozen.
struct Relay {
    url: String,
    frozen: tokio::sync::watch::Sender<bool>,
}

impl Relay {
    async fn before(database: &Database) -> Self {
        let url = database.url();
        let (_, rest) = url.split_once("://").unwrap();
        let authority = rest.split('/').next().unwrap();
        let host = authority.rsplit('@').next().unwrap().to_owned();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap().to_string();
        let url = url.replacen(&host, &own, 1);
        let (frozen, melted) = tokio::sync::watch::channel(false);
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = tokio::net::TcpStream::connect(&host).await.unwrap();
                let (near, far) = (near.into_split(), far.into_split());
                tokio::spawn(hand_on(near.0, far.1, melted.clone()));
                tokio::spawn(hand_on(far.0, near.1, melted.clone()));
            }
        });
        Self { url, frozen }
    }
}

async fn hand_on(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut frozen: tokio::sync::watch::Receiver<bool>,
) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut piece = vec![0; 16 << 10];
    while let Ok(read) = from.read(&mut piece).await {
        if read == 0 || frozen.wait_for(|frozen| !frozen).await.is_err() {
            return;
        }
        if to.write_all(&piece[..read]).await.is_err() {
            return;
        }
    }
}

/// A database that answers nothing, and does not close its connections either. With two threads: starting a server
/// blocks one, and the relay needs another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_frozen_database_public_calls_are_answered_and_others_end() {
    let (folder, database) = (folder().0, Database::make().await);
    let relay = Relay::before(&database).await;
    let server = Server::start(&["--database", relay.url.as_str()], &folder.path().join("log"));
    let (url, client) = (server.url.clone(), client());
    let token = token(&["--database", database.url().as_str()], &["fleet"]);
    let get = |path: &str| {
        let request = client.get(format!("{url}{path}")).bearer_auth(&token);
        request.timeout(Duration::from_mins(1)).send()
    };
    assert_eq!(get("/api/v1/nodes").await.unwrap().status(), 200);
    relay.frozen.send_replace(true);

    for _ in 0..3 {
        let asked = Instant::now();
        let found = get("/api/v1/search?q=peer%20access").await.unwrap();
        assert_eq!(found.status(), 200);
        assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    }
    let asked = Instant::now();
    let nodes = get("/api/v1/nodes").await.unwrap();
    assert_eq!(nodes.status(), 503);
    assert!(asked.elapsed() < Duration::from_secs(50), "{:?}", asked.elapsed());
    assert_eq!(get("/readyz").await.unwrap().status(), 503);

    relay.frozen.send_replace(false);
    until("ready again", || async {
        get("/readyz").await.unwrap().status() == 200
    })
    .await;
    assert_eq!(get("/api/v1/nodes").await.unwrap().status(), 200);
    drop(server);
    database.end().await;
}
