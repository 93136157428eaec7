//! Several processes on one database: what one does the others see, and a kill in the middle leaves the old or the new.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

use crate::process::{Server, folder, peerless, token, until};
use crate::records::document;
use crate::test_app::client;

/// Databases made by this process.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A database of its own on the test server; dropped by [`Database::end`].
struct Database {
    server: String,
    name: String,
}

impl Database {
    async fn make() -> Self {
        let server = std::env::var("PEERLESS_TEST_POSTGRES").expect(
            "PEERLESS_TEST_POSTGRES is not set: run `cargo xtask test`, \
             or `cargo xtask postgres -- cargo nextest run -p peerless --test api`",
        );
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("peerless_api_{}_{number}", std::process::id());
        let database = Self { server, name };
        database
            .run(format!("DROP DATABASE IF EXISTS {}", database.name))
            .await;
        database
            .run(format!(
                "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'",
                database.name
            ))
            .await;
        database
    }

    fn url(&self) -> String {
        let (authority, _) = self.server.rsplit_once('/').unwrap();
        format!("{authority}/{}", self.name)
    }

    async fn end(self) {
        self.run(format!("DROP DATABASE {} WITH (FORCE)", self.name))
            .await;
    }

    async fn run(&self, sql: String) {
        let mut connection = PgConnection::connect(&self.server).await.unwrap();
        connection.execute(AssertSqlSafe(sql)).await.unwrap();
        connection.close().await.unwrap();
    }
}

/// True when the server's matcher knows `line` as `id`.
async fn finds(client: &reqwest::Client, url: &str, line: &str, id: &str) -> bool {
    let request = client.post(format!("{url}/api/v1/match")).body(line.to_owned());
    let found: Value = request.send().await.unwrap().json().await.unwrap();
    found["root_cause"] == id
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
    let client = client();
    let elapsed = until("found", || finds(&client, &server.url, line, "cuda/imported")).await;
    println!(
        "an import was found {} ms after it had ended",
        elapsed.as_millis()
    );
    assert!(elapsed < Duration::from_secs(1), "it took {elapsed:?}");
}
