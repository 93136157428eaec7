//! Every page and call about fleets.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::Value;

use super::nodes::name;
use crate::bench::client::{Connection, request};
use crate::bench::load::Times;

pub(super) struct Asked {
    pub(super) path: String,
    pub(super) times: Times,
    /// Bytes of the last answer.
    pub(super) bytes: usize,
}

/// Their addresses, those of one node and of one report among them.
pub(super) fn paths(report: &str) -> Vec<String> {
    let node = name(0);
    [
        "/nodes?simulated=true",
        "/nodes?simulated=true&verdict=healthy&sort=heard",
        "/nodes?simulated=true&sort=-gpus&q=n0",
        "/api/v1/nodes?simulated=true&limit=100",
        "/api/v1/fleet",
        "/fleet/facets?simulated=true",
        "/api/v1/fleet/facets?simulated=true",
        "/api/v1/reports?limit=100",
        "/metrics",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain([
        format!("/nodes/{node}"),
        format!("/api/v1/nodes/{node}"),
        format!("/api/v1/nodes/{node}/changes"),
        format!("/api/v1/nodes/{node}/case"),
        format!("/reports/{report}"),
        format!("/api/v1/reports/{report}"),
    ])
    .collect()
}

pub(super) fn newest_report(address: SocketAddr, token: &str) -> Result<String> {
    let mut connection = Connection::open(address)?;
    let path = format!("/api/v1/reports?node={}&limit=1", name(0));
    let answer = connection.exchange(&asked(&path, token, address))?;
    let body: Value = serde_json::from_slice(answer.body)?;
    let id = body
        .pointer("/reports/0/id")
        .or(body.pointer("/reports/0/report_id"));
    match id.and_then(Value::as_str) {
        Some(id) => Ok(id.to_owned()),
        None => anyhow::bail!("{path}: no report in {body}"),
    }
}

/// Asks for each, so often one after the other.
pub(super) fn ask(paths: &[String], asks: usize, token: &str, address: SocketAddr) -> Result<Vec<Asked>> {
    let mut connection = Connection::open(address)?;
    let mut all = Vec::new();
    for path in paths {
        let (mut latencies, mut bytes) = (Vec::new(), 0);
        for _ in 0..asks {
            let (latency, length) = one(&mut connection, path, token, address)?;
            latencies.push(latency);
            bytes = length;
        }
        all.push(Asked {
            path: path.clone(),
            times: Times::of(latencies, 0),
            bytes,
        });
    }
    Ok(all)
}

/// Asks for one after the other at this pace, until a moment.
pub(super) fn browse(
    paths: &[String],
    (pace, until): (Duration, Instant),
    token: &str,
    address: SocketAddr,
) -> Result<Times> {
    let mut connection = Connection::open(address)?;
    let (mut latencies, mut due) = (Vec::new(), Instant::now());
    for path in paths.iter().cycle() {
        if due >= until {
            break;
        }
        thread::sleep(due.saturating_duration_since(Instant::now()));
        one(&mut connection, path, token, address)?;
        latencies.push(due.elapsed());
        due += pace;
    }
    Ok(Times::of(latencies, 0))
}

fn one(
    connection: &mut Connection,
    path: &str,
    token: &str,
    address: SocketAddr,
) -> Result<(Duration, usize)> {
    let began = Instant::now();
    let answer = connection.exchange(&asked(path, token, address))?;
    ensure!(
        answer.status == 200,
        "{path}: {}: {}",
        answer.status,
        String::from_utf8_lossy(answer.body)
    );
    Ok((began.elapsed(), answer.body.len()))
}

fn asked(path: &str, token: &str, address: SocketAddr) -> Vec<u8> {
    let authorization = format!("Bearer {token}");
    request("GET", path, address, &[("authorization", &authorization)], "")
}

/// The reports that the server has of all nodes, by the number beside each.
pub(super) fn count(token: &str, address: SocketAddr) -> Result<u64> {
    let mut connection = Connection::open(address)?;
    let (mut reports, mut cursor) = (0, String::new());
    loop {
        let path = format!("/api/v1/nodes?simulated=true&limit=200{cursor}");
        let answer = connection.exchange(&asked(&path, token, address))?;
        ensure!(answer.status == 200, "{path}: {}", answer.status);
        let body: Value = serde_json::from_slice(answer.body)?;
        let nodes = body.pointer("/nodes").and_then(Value::as_array);
        reports += nodes
            .into_iter()
            .flatten()
            .filter_map(|node| node.get("reports").and_then(Value::as_u64))
            .sum::<u64>();
        match body
            .pointer("/next_cursor")
            .or(body.pointer("/next"))
            .and_then(Value::as_str)
        {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(reports),
        }
    }
}
