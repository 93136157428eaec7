//! kill -9 while records are saved, published and merged: every record is as it was before the step or as after it, and the audit
//! tells the same.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kb_core::ids::{RecordId, Revision};
use peerless::store::{AuditEntry, ConnectOptions, RecordState, Store, connect};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::agreement;
use crate::database::Database;
use crate::durability::Chance;
use crate::process::{PATIENCE, Server, folder, token};
use crate::records::document;
use crate::test_app::client;

/// A kill comes after fewer answers than this,
const ANSWERS: u64 = 6;
/// and at the latest so many milliseconds later. A step takes about as long.
const LATEST: u64 = 150;
const SAVED: &str = "cuda/killed-saved";
const PUBLISHED: &str = "cuda/killed-published";
const TARGET: &str = "cuda/killed-target";
const MERGED: [&str; 3] = [
    "cuda/killed-merged-a",
    "cuda/killed-merged-b",
    "cuda/killed-merged-c",
];

/// What a writer was told before the kill.
#[derive(Debug)]
enum Told {
    Saved(&'static str, u64),
    Published(&'static str, u64),
    Merged(&'static str, u64),
}

#[derive(Clone)]
struct Writer {
    client: Client,
    url: String,
    token: String,
    /// A permit for each step that was answered.
    answers: Arc<Semaphore>,
}

fn line(id: &str, number: u64) -> String {
    let words = id.replace(['/', '-'], " ");
    format!("made up to be killed: {words} failed with {number:06} left")
}

impl Writer {
    fn call(&self, method: Method, id: &str, rest: &str) -> RequestBuilder {
        let request = self
            .client
            .request(method, format!("{}/api/v1/records/{id}{rest}", self.url));
        request.bearer_auth(&self.token)
    }

    /// The answer, or nothing where the server is gone.
    async fn send(&self, request: RequestBuilder) -> Option<Value> {
        let answer = request.send().await.ok()?;
        let status = answer.status();
        let body = answer.text().await.ok()?;
        assert!(status.is_success(), "{status} {body}");
        self.answers.add_permits(1);
        Some(serde_json::from_str(&body).unwrap())
    }

    async fn head(&self, id: &str) -> Option<u64> {
        let answer = self
            .call(Method::GET, id, "?view=full&revision=head")
            .send()
            .await
            .ok()?;
        if answer.status() == 404 {
            return Some(0);
        }
        let full: Value = serde_json::from_str(&answer.text().await.ok()?).unwrap();
        Some(full["head_revision"].as_u64().unwrap())
    }

    async fn put(&self, id: &'static str, head: u64, query: &str) -> Option<Value> {
        let request = self.call(Method::PUT, id, query);
        let request = match head {
            0 => request.header("if-none-match", "*"),
            head => request.header("if-match", format!("\"r{head}\"")),
        };
        let text = document(id, &line(id, head + 1));
        self.send(request.header("content-type", "application/json").body(text))
            .await
    }

    /// Saves one head after the other, and publishes none.
    async fn save(self, told: &mut Vec<Told>) -> Option<()> {
        let mut head = self.head(SAVED).await?;
        loop {
            self.put(SAVED, head, "").await?;
            head += 1;
            told.push(Told::Saved(SAVED, head));
        }
    }

    /// Saves and publishes, in one request and in two.
    async fn publish(self, told: &mut Vec<Told>) -> Option<()> {
        let mut head = self.head(PUBLISHED).await?;
        loop {
            let answer = if head.is_multiple_of(2) {
                self.put(PUBLISHED, head, "?publish=true").await?["published"].clone()
            } else {
                self.put(PUBLISHED, head, "").await?;
                told.push(Told::Saved(PUBLISHED, head + 1));
                self.send(self.call(Method::POST, PUBLISHED, "/-/publish"))
                    .await?
            };
            head += 1;
            told.push(Told::Saved(PUBLISHED, head));
            told.push(Told::Published(PUBLISHED, answer["seq"].as_u64().unwrap()));
        }
    }

    /// Merges one record after the other into another one, and brings it back.
    async fn merge(self, told: &mut Vec<Told>) -> Option<()> {
        self.bring(TARGET, told).await?;
        loop {
            for id in MERGED {
                self.bring(id, told).await?;
                let merge = self.call(Method::POST, id, &format!("/-/merge?into={TARGET}"));
                let merged = self.send(merge).await?;
                told.push(Told::Merged(id, merged["seq"].as_u64().unwrap()));
            }
        }
    }

    /// Publishes a record that readers do not see, and makes it where there is none.
    async fn bring(&self, id: &'static str, told: &mut Vec<Told>) -> Option<()> {
        let there = self.call(Method::GET, id, "?revision=head").send().await.ok()?;
        let published = if there.status() == 404 {
            let answer = self.put(id, 0, "?publish=true").await?;
            told.push(Told::Saved(id, 1));
            answer["published"].clone()
        } else if there
            .headers()
            .get("peerless-state")
            .is_some_and(|state| state == "published")
        {
            return Some(());
        } else {
            self.send(self.call(Method::POST, id, "/-/publish")).await?
        };
        told.push(Told::Published(id, published["seq"].as_u64().unwrap()));
        Some(())
    }
}

/// Lets the writers write until the server is gone.
async fn write(writer: Writer) -> Vec<Told> {
    let (mut saved, mut published, mut merged) = (Vec::new(), Vec::new(), Vec::new());
    tokio::join!(
        writer.clone().save(&mut saved),
        writer.clone().publish(&mut published),
        writer.merge(&mut merged),
    );
    saved.extend(published);
    saved.extend(merged);
    saved
}

/// What was told is in the audit.
fn check_told(told: &[Told], rows: &[AuditEntry]) {
    for told in told {
        let found = rows.iter().rev().any(|row| {
            let seq = row.detail["seq"].as_u64();
            match *told {
                Told::Saved(id, revision) => {
                    let revision = Revision(u32::try_from(revision).unwrap());
                    row.action == "record.save" && row.subject == id && row.to_revision == Some(revision)
                }
                Told::Published(id, told) => {
                    row.action == "record.publish" && row.subject == id && seq == Some(told)
                }
                Told::Merged(id, told) => {
                    row.action == "record.merge" && row.subject == id && seq == Some(told)
                }
            }
        });
        assert!(found, "{told:?} was said, and the audit does not know it");
    }
}

/// Readers see the records as the store has them, whole: each is found by its own line unless it is merged away or was never published.
async fn check_readers(store: &dyn Store, client: &Client, url: &str) {
    for id in MERGED.iter().chain(&[SAVED, PUBLISHED, TARGET]) {
        let parsed: RecordId = id.parse().unwrap();
        let Some(status) = store.status(&parsed).await.unwrap() else {
            continue;
        };
        let Some(revision) = status.published else {
            continue;
        };
        let asked = client
            .post(format!("{url}/api/v1/match"))
            .body(line(id, revision.0.into()));
        let found: Value = asked.send().await.unwrap().json().await.unwrap();
        let is_found = found["root_cause"] == *id;
        assert_eq!(
            is_found,
            status.state == RecordState::Published,
            "{status:?}: {found}"
        );
        if is_found {
            let seen = client
                .get(format!("{url}/api/v1/records/{id}"))
                .send()
                .await
                .unwrap();
            let texts = store.revision(&parsed, revision).await.unwrap().unwrap();
            assert_eq!(seen.text().await.unwrap(), texts.document);
        }
    }
}

/// Rows that tell of a step of the writers.
fn steps(rows: &[AuditEntry]) -> usize {
    rows.iter()
        .filter(|row| row.action.starts_with("record."))
        .count()
}

async fn killed(kills: u32, store: &str, arguments: &[&str], log: &Path) {
    let seed = std::env::var("PEERLESS_TEST_SEED").map_or_else(
        |_| {
            let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
            u64::try_from(now.as_micros()).unwrap()
        },
        |text| text.parse().unwrap(),
    );
    println!("PEERLESS_TEST_SEED={seed}");
    let mut chance = Chance(seed);
    let token = token(arguments, &["edit", "publish"]);
    let serving = [arguments, &["--without-shipped"]].concat();
    let client = client();
    let (mut answered, mut unanswered, mut done) = (0, 0, 0);
    let mut server = Server::start(&serving, log);
    for kill in 0..kills {
        let writer = Writer {
            client: client.clone(),
            url: server.url.clone(),
            token: token.clone(),
            answers: Arc::new(Semaphore::new(0)),
        };
        let answers = Arc::clone(&writer.answers);
        let writing = tokio::spawn(write(writer));
        let some = answers.acquire_many(u32::try_from(chance.below(ANSWERS)).unwrap());
        let some = tokio::time::timeout(PATIENCE, some).await;
        drop(some.expect("the writers are answered"));
        tokio::time::sleep(Duration::from_millis(chance.below(LATEST))).await;
        server.kill();
        let told = writing.await.unwrap();

        let left = connect(store, &ConnectOptions::default()).await.unwrap();
        let rows = agreement::check(left.as_ref()).await;
        check_told(&told, &rows);
        let since = steps(&rows) - done;
        done += since;
        answered += told.len();
        unanswered += u32::from(since > told.len());
        println!("kill {kill}: {} steps were answered, {since} done", told.len());
        server = Server::start(&serving, log);
        check_readers(left.as_ref(), &client, &server.url).await;
    }
    println!(
        "{kills} kills, {answered} steps answered; after {unanswered} of them more was done than answered"
    );
    assert!(
        answered >= kills as usize,
        "only {answered} steps in {kills} kills: nothing was tried"
    );
}

async fn on_sqlite(kills: u32) {
    let (folder, data) = folder();
    let store = format!("sqlite:{data}/peerless.db");
    killed(kills, &store, &["--data-dir", &data], &folder.path().join("log")).await;
}

async fn on_postgres(kills: u32) {
    let (folder, database) = (folder().0, Database::make().await);
    let url = database.url();
    killed(kills, &url, &["--database", &url], &folder.path().join("log")).await;
    database.end().await;
}

#[tokio::test]
async fn thirty_kills_leave_the_old_or_the_new_on_sqlite() {
    on_sqlite(30).await;
}

#[tokio::test]
async fn thirty_kills_leave_the_old_or_the_new_on_postgres() {
    on_postgres(30).await;
}

#[tokio::test]
#[ignore = "minutes long: docs/benchmarks/foundation.md says how to run it"]
async fn three_hundred_kills_leave_the_old_or_the_new_on_sqlite() {
    on_sqlite(300).await;
}

#[tokio::test]
#[ignore = "minutes long: docs/benchmarks/foundation.md says how to run it"]
async fn three_hundred_kills_leave_the_old_or_the_new_on_postgres() {
    on_postgres(300).await;
}
