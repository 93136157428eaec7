//! The server as the fleet sees it: tokens, enrolment, reports, questions.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use kb_core::report::Report;
use serde_json::{Value, json};

use super::plan::{self, Plan};
use crate::bench::client::{Connection, request};

/// How often a request is sent until it is answered in time: the same one again is no other.
const ATTEMPTS: usize = 10;

/// One client with a connection of its own, which is kept.
pub(super) struct Client {
    address: SocketAddr,
    token: String,
    connection: Option<Connection>,
}

impl Client {
    pub(super) fn new(address: SocketAddr, token: &str) -> Self {
        Self {
            address,
            token: token.to_owned(),
            connection: None,
        }
    }

    fn ask(&mut self, method: &str, path: &str, token: &str, body: &str) -> Result<(u16, Vec<u8>)> {
        let authorization = format!("Bearer {token}");
        let headers = [
            ("content-type", "application/json"),
            ("authorization", authorization.as_str()),
        ];
        let asked = request(method, path, self.address, &headers, body);
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut connection = match self.connection.take() {
                Some(connection) => connection,
                None => Connection::open(self.address)?,
            };
            let answered = connection
                .exchange(&asked)
                .map(|answer| (answer.status, answer.body.to_vec()));
            match answered {
                Ok((429 | 503, _)) if attempts < ATTEMPTS => std::thread::yield_now(),
                Ok(answer) => {
                    self.connection = Some(connection);
                    return Ok(answer);
                }
                Err(error) if attempts == ATTEMPTS => return Err(error),
                Err(_) => {}
            }
        }
    }

    /// The answer to a question; nothing where the server knows no such thing.
    pub(super) fn get(&mut self, path: &str) -> Result<Option<Value>> {
        let token = self.token.clone();
        let (status, body) = self.ask("GET", path, &token, "")?;
        if status == 404 {
            return Ok(None);
        }
        ensure!(
            status == 200,
            "{path}: {status}: {}",
            String::from_utf8_lossy(&body)
        );
        serde_json::from_slice(&body).with_context(|| format!("{path} is no JSON"))
    }

    fn post(&mut self, path: &str, token: &str, body: &Value) -> Result<Value> {
        let (status, answer) = self.ask("POST", path, token, &body.to_string())?;
        let is_good = matches!(status, 200 | 201);
        ensure!(is_good, "{path}: {status}: {}", String::from_utf8_lossy(&answer));
        serde_json::from_slice(&answer).with_context(|| format!("{path} is no JSON"))
    }

    /// A join token for each rack, whose nodes get it as their label; the token of each node.
    pub(super) fn enrol(&mut self, plan: &Plan) -> Result<Vec<String>> {
        let own = self.token.clone();
        let mut racks: BTreeMap<usize, String> = BTreeMap::new();
        let mut tokens = Vec::new();
        for (at, node) in plan.nodes.iter().enumerate() {
            let joins = if let Some(token) = racks.get(&node.rack) {
                token.clone()
            } else {
                let rack = plan::rack(node.rack);
                let order = json!({ "name": format!("rack {rack}"), "labels": { "rack": rack } });
                let made = self.post("/api/v1/join-tokens", &own, &order)?;
                let token = text(&made, "/tokens/0/token")?;
                racks.insert(node.rack, token.clone());
                token
            };
            let name = plan::name(at);
            let machine = format!("{name} {at:016x}");
            let answer = self.post(
                "/api/v1/enrol",
                &joins,
                &json!({ "node": name, "machine": machine }),
            )?;
            tokens.push(text(&answer, "/token")?);
        }
        Ok(tokens)
    }

    /// Sends a report; the verdict that the server gives it.
    pub(super) fn send(&mut self, token: &str, report: &Report) -> Result<String> {
        let answer = self.post("/api/v1/reports", token, &serde_json::to_value(report)?)?;
        text(&answer, "/verdict")
    }
}

fn text(value: &Value, pointer: &str) -> Result<String> {
    let found = value.pointer(pointer).and_then(Value::as_str);
    Ok(found
        .with_context(|| format!("the answer has no {pointer}"))?
        .to_owned())
}
