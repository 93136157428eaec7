//! From GPU to finding: the agent on a simulated node uploads to the real server, whose records explain the report.
//!
//! Knowledge changes while the server runs: a rule taken out of a record takes its finding away, a rule put into
//! another record makes one, and nothing is compiled or started again.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fake_gpu::Scenario;
use kb_core::report::Report;
use reqwest::blocking::{Client, Response};
use serde_json::{Value, json};

use crate::node::Node;

/// Explains what the driver refuses by product or platform, with a rule over the report.
const HARDWARE_RECORD: &str = "cuda/peer-access-unsupported-by-hardware";

/// The promise is a second for an edit to be seen; correlation follows it. Waiting ends as soon as it is.
const PATIENCE: Duration = Duration::from_mins(1);

/// The server's binary, as cargo built it beside the agent's.
fn server_binary() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_peerless-agent")).with_file_name("peerless");
    assert!(
        binary.is_file(),
        "{} is not built: run `cargo build --package peerless`, or all tests by `cargo xtask test`",
        binary.display()
    );
    binary
}

/// A server process with a database of its own.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: String,
    client: Client,
    data: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut process = Command::new(server_binary())
            .args(["serve", "--listen", "127.0.0.1:0", "--public-fleet", "--data-dir"])
            .arg(data.path())
            .args(arguments)
            .env("RUST_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let greeting = BufReader::new(process.stdout.take().unwrap());
        let address = greeting
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("Peerless serves on ").map(str::to_owned))
            .expect("the server ended before it served");
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().tls_certs_only([]).build().unwrap();
        Self {
            process,
            address,
            client,
            data,
        }
    }

    fn token(&self) -> String {
        self.token_with(&["--scope", "edit", "--scope", "publish", "--scope", "report"])
    }

    pub(crate) fn token_with(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(server_binary());
        command.args(["token", "create", "--init", "--name", "test", "--data-dir"]);
        command.arg(self.data.path());
        command.args(arguments);
        let output = command.output().unwrap();
        let words = String::from_utf8(output.stdout).unwrap();
        let token = words.split_whitespace().find(|word| word.starts_with("prl_"));
        token.unwrap().to_owned()
    }

    fn get(&self, path: &str) -> Response {
        self.client.get(format!("{}{path}", self.address)).send().unwrap()
    }

    fn findings(&self, report: &Report) -> Vec<Value> {
        self.findings_if_answered(report).unwrap()
    }

    /// Nothing where the server refuses, as it does when it is asked too often.
    fn findings_if_answered(&self, report: &Report) -> Option<Vec<Value>> {
        let path = format!("/api/v1/reports/{}", report.report_id);
        let answer: Value = self.get(&path).json().unwrap();
        answer["findings"].as_array().cloned()
    }

    /// Asks again until the findings are as wanted.
    fn wait_for_findings(&self, report: &Report, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let findings = self.findings_if_answered(report);
            match findings {
                Some(findings) if wanted(&findings) => return findings,
                _ => assert!(Instant::now() < deadline, "findings stayed: {findings:#?}"),
            }
            std::thread::yield_now();
        }
    }

    /// Replaces the rules of a record and publishes the revision. The rules before.
    fn set_rules(&self, id: &str, token: &str, rules: Value) -> Value {
        let path = format!("{}/api/v1/records/{id}?view=full", self.address);
        let full = self.client.get(&path).send().unwrap();
        let tag = full.headers()["etag"].clone();
        let mut full: Value = full.json().unwrap();
        let before = full["ext"]["probe"].take();
        full["ext"]["probe"] = rules;
        let change = json!({"document": full["document"], "ext": full["ext"]});
        let saved = self
            .client
            .put(format!("{path}&publish=true"))
            .bearer_auth(token)
            .header("if-match", tag)
            .json(&change)
            .send()
            .unwrap();
        assert_eq!(saved.status(), 200, "{}", saved.text().unwrap());
        before
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// The record of models whose peer access is off as product policy.
const MODEL_RECORD: &str = "p2p/gpu-model-without-peer-access";

fn upload(node: &Node, server: &Server, token: &str) -> Report {
    let printed = node.run("report", &["--print"]);
    let report = printed.report();
    let file = node.path("report.json");
    std::fs::write(&file, &printed.stdout).unwrap();
    let mut command = node.command("report");
    command.env("PEERLESS_TOKEN", token);
    command.args(["--server", &server.address, "--from"]).arg(&file);
    let output = command.output().unwrap();
    assert!(output.status.code().is_some(), "the agent was killed");
    let stored = server.get(&format!("/api/v1/reports/{}", report.report_id));
    assert_eq!(
        stored.status(),
        200,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    report
}

#[test]
fn a_refused_pair_is_explained_by_a_rule_that_can_be_changed() {
    let server = Server::start();
    let token = server.token();
    let node = Node::with(&Scenario::refused_gns());
    let report = upload(&node, &server, &token);
    assert!(report.simulated);

    // The record of the refusal itself, and the one of this model's policy.
    let findings = server.findings(&report);
    let mut records: Vec<_> = findings.iter().map(|finding| finding["record"].clone()).collect();
    records.sort_by_key(ToString::to_string);
    assert_eq!(records, [HARDWARE_RECORD, MODEL_RECORD], "{findings:#?}");
    let refused = |finding: &&Value| finding["record"] == HARDWARE_RECORD;
    let refused = findings.iter().find(refused).unwrap();
    assert_eq!(refused["rule"], "refused-without-link");
    assert!(refused["evidence"].to_string().contains("GNS"));

    let page = server
        .get(&format!("/reports/{}", report.report_id))
        .text()
        .unwrap();
    assert!(page.contains(HARDWARE_RECORD), "{page}");

    let rule = server.set_rules(HARDWARE_RECORD, &token, json!([]));
    server.set_rules(MODEL_RECORD, &token, json!([]));
    let unexplained = server.wait_for_findings(&report, |findings| {
        findings.iter().all(|finding| finding["record"].is_null())
    });
    assert_eq!(unexplained.len(), 1, "{unexplained:#?}");
    assert!(
        unexplained[0]["title"]
            .as_str()
            .unwrap()
            .contains("cause unknown")
    );

    let other = "tensorflow/gpu-peer-access-error";
    server.set_rules(other, &token, rule);
    let explained = server.wait_for_findings(&report, |findings| {
        findings.iter().any(|finding| finding["record"] == other)
    });
    assert_eq!(explained.len(), 1, "{explained:#?}");
}

#[test]
fn a_healthy_node_has_no_findings() {
    let server = Server::start();
    let token = server.token();
    let node = Node::with(&Scenario::healthy(2));
    let report = upload(&node, &server, &token);
    assert_eq!(server.findings(&report), [] as [Value; 0]);
    let nodes: Value = server.get("/api/v1/nodes").json().unwrap();
    assert_eq!(nodes["nodes"][0]["id"], report.node.id.as_str());
    assert_eq!(nodes["nodes"][0]["latest"]["verdict"], "healthy");
}
