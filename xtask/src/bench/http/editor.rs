//! An editor who publishes a changed record every second.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};

use crate::bench::client::{Connection, request};

pub(super) struct Editor {
    address: SocketAddr,
    token: String,
    document: Value,
}

pub(super) struct Published {
    pub(super) count: usize,
    pub(super) slowest: Duration,
}

pub(super) struct Publishing(JoinHandle<Result<Published>>);

/// The record that is made and changed.
const RECORD: &str = "bench/edited-each-second";

impl Editor {
    /// Makes a token, and takes `document` as the text to change.
    pub(super) fn new(program: &Path, address: SocketAddr, data: &Path, document: Value) -> Result<Self> {
        let arguments = [
            "token", "create", "--init", "--name", "bench", "--scope", "edit", "--scope", "publish",
        ];
        let mut create = Command::new(program);
        let output = create.args(arguments).arg("--data-dir").arg(data).output()?;
        ensure!(output.status.success(), "no token: {}", output.status);
        let token = String::from_utf8(output.stdout)?.trim().to_owned();
        Ok(Self {
            address,
            token,
            document,
        })
    }

    /// Begins at once, on a thread of its own.
    pub(super) fn publish_each_second(self, seconds: u32) -> Publishing {
        Publishing(thread::spawn(move || self.publish(seconds)))
    }

    fn publish(mut self, seconds: u32) -> Result<Published> {
        let authorization = format!("Bearer {}", self.token);
        let start = Instant::now();
        let mut published = Published {
            count: 0,
            slowest: Duration::ZERO,
        };
        for second in 0..seconds {
            let due = start + Duration::from_secs(second.into());
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let keys = self.document.as_object_mut().context("a seed is an object")?;
            let signature = format!("bench: the edited thing failed {second} times");
            keys.insert("id".into(), json!(RECORD));
            keys.insert("domain".into(), json!("bench"));
            keys.insert("signature".into(), json!(signature));
            keys.insert("regex".into(), json!(signature));
            keys.insert("error_code".into(), Value::Null);
            keys.insert("aliases".into(), json!([]));
            let revision = format!("\"r{second}\"");
            let condition = if second == 0 {
                ("if-none-match", "*")
            } else {
                ("if-match", revision.as_str())
            };
            let headers = [
                ("content-type", "application/json"),
                ("authorization", authorization.as_str()),
                condition,
            ];
            let path = format!("/api/v1/records/{RECORD}?publish=true");
            let put = request("PUT", &path, self.address, &headers, &self.document.to_string());
            let answer_is_due = Instant::now();
            let mut connection = Connection::open(self.address)?;
            let answer = connection.exchange(&put)?;
            let body = String::from_utf8_lossy(answer.body);
            ensure!(
                matches!(answer.status, 200 | 201),
                "the record was refused: {body}"
            );
            published.count += 1;
            published.slowest = published.slowest.max(answer_is_due.elapsed());
        }
        Ok(published)
    }
}

impl Publishing {
    pub(super) fn finish(self) -> Result<Published> {
        self.0.join().map_err(|_| anyhow!("the editor panicked"))?
    }
}
