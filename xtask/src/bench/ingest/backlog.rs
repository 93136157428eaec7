//! A backlog: several clients, each of which sends its next report as soon as the one before is answered.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};

use super::nodes::{Fleet, name};
use crate::bench::client::{Connection, header, request};

#[derive(Default)]
pub(super) struct Sent {
    pub(super) latencies: Vec<Duration>,
    /// Answers that asked to come again later.
    pub(super) put_off: usize,
    pub(super) bytes: usize,
}

/// The credential of each node, for one join token.
pub(super) fn enrol(address: SocketAddr, admin: &str, nodes: usize, clients: usize) -> Result<Vec<String>> {
    let join = post(
        &mut Connection::open(address)?,
        ("/api/v1/join-tokens", admin),
        address,
        &json!({ "name": "bench" }),
    )?;
    let join = text(&join, "/tokens/0/token")?;
    let all = in_turn(
        clients,
        nodes,
        |connection, node| {
            let machine = format!("{} {node:016x}", name(node));
            let body = json!({ "node": name(node), "machine": machine });
            let answer = post(connection, ("/api/v1/enrol", &join), address, &body)?;
            Ok((node, text(&answer, "/token")?))
        },
        address,
        None,
    )?;
    let mut all: Vec<(usize, String)> = all;
    all.sort_unstable();
    Ok(all.into_iter().map(|(_, token)| token).collect())
}

/// Sends reports from number 0 on, until all are sent or the time is up; returns after the last answer.
pub(super) fn send(
    fleet: &Fleet,
    tokens: &[String],
    address: SocketAddr,
    clients: usize,
    (reports, until): (usize, Instant),
) -> Result<Sent> {
    let answered = in_turn(
        clients,
        reports,
        |connection, number| {
            let token = tokens.get(fleet.node(number)).map_or("", String::as_str);
            let request = fleet.request(number, token, address)?;
            let (mut put_off, began) = (0, Instant::now());
            loop {
                let answer = connection.exchange(&request)?;
                match answer.status {
                    200 | 201 => return Ok((began.elapsed(), put_off, request.len())),
                    429 | 503 => {
                        put_off += 1;
                        let seconds = header(answer.head, "retry-after").and_then(|told| told.parse().ok());
                        thread::sleep(Duration::from_secs(seconds.unwrap_or(1)));
                    }
                    status => bail!("{status}: {}", String::from_utf8_lossy(answer.body)),
                }
            }
        },
        address,
        Some(until),
    )?;
    let mut sent = Sent::default();
    for (latency, put_off, bytes) in answered {
        sent.latencies.push(latency);
        sent.put_off += put_off;
        sent.bytes += bytes;
    }
    Ok(sent)
}

/// Does `work` for each number below `count`, on several connections.
fn in_turn<T: Send>(
    clients: usize,
    count: usize,
    work: impl Fn(&mut Connection, usize) -> Result<T> + Sync,
    address: SocketAddr,
    until: Option<Instant>,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let client = || -> Result<Vec<T>> {
        let mut connection = Connection::open(address)?;
        let mut done = Vec::new();
        while until.is_none_or(|until| Instant::now() < until) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            done.push(work(&mut connection, number)?);
        }
        Ok(done)
    };
    thread::scope(|scope| {
        let started: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        let mut all = Vec::new();
        for client in started {
            match client.join() {
                Ok(done) => all.extend(done?),
                Err(_) => bail!("a client has panicked"),
            }
        }
        Ok(all)
    })
}

fn post(
    connection: &mut Connection,
    (path, token): (&str, &str),
    address: SocketAddr,
    body: &Value,
) -> Result<Value> {
    let authorization = format!("Bearer {token}");
    let headers = [
        ("content-type", "application/json"),
        ("authorization", authorization.as_str()),
    ];
    let answer = connection.exchange(&request("POST", path, address, &headers, &body.to_string()))?;
    ensure!(
        matches!(answer.status, 200 | 201),
        "{path}: {}: {}",
        answer.status,
        String::from_utf8_lossy(answer.body)
    );
    Ok(serde_json::from_slice(answer.body)?)
}

fn text(answer: &Value, pointer: &str) -> Result<String> {
    match answer.pointer(pointer).and_then(Value::as_str) {
        Some(text) => Ok(text.to_owned()),
        None => bail!("the answer has no {pointer}"),
    }
}
