//! `cargo xtask fleet`: a simulated fleet, sent through the real interface to a server that was just started, and what the
//! server makes of it.
//!
//! ```text
//! real reports -> noise (how runs and machines differ) -> nodes (healthy reports) -> faults (planted) -> server -> judge
//! ```
//!
//! Every report says `simulated`, so that the server keeps these nodes apart from real ones.

mod faults;
mod judge;
mod nodes;
mod noise;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::bench::client::{Connection, request};
use crate::random::Random;
use crate::scratch_server::ScratchServer;
use faults::{Fault, Kind};
use judge::Tally;
use nodes::Fleet;

/// How often a report is sent until it is answered in time: the same one again is no other.
const ATTEMPTS: usize = 10;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Nodes of the fleet.
    #[arg(long, default_value_t = 60)]
    nodes: usize,
    /// Kinds of faults to plant, separated by commas, each with how often: `slow-pair=3,slow-gpu=2`; `all=2` plants each
    /// kind twice.
    #[arg(long, default_value = "all=2")]
    faults: String,
    /// The same seed makes the same fleet.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The server program; built now where it is not named.
    #[arg(long)]
    program: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let wanted = faults::parse(&options.faults)?;
    ensure!(
        wanted.len() <= options.nodes / 2,
        "{} faults on {} nodes: at most half of the nodes may have one",
        wanted.len(),
        options.nodes
    );
    let mut random = Random::new(options.seed);
    let fleet = Fleet::read()?;
    let planted = plant(&wanted, options.nodes, &mut random);
    let server = match &options.program {
        Some(program) => ScratchServer::start_program("fleet", &std::path::absolute(program)?)?,
        None => ScratchServer::start("fleet")?,
    };
    let began = Instant::now();
    let sent = send(&fleet, options.nodes, &planted, &server, &mut random)?;
    let took = began.elapsed().as_secs_f64();

    let mut tally = Tally::default();
    for node in 0..options.nodes {
        let answer = get(
            &server,
            &format!("/api/v1/nodes/{}/measurements", nodes::name(node)),
        )?;
        let fault = planted.iter().find(|(at, _)| *at == node).map(|(_, fault)| fault);
        tally.add(&nodes::name(node), fault, &answer)?;
    }
    println!("Simulated: no figure is of a machine.");
    println!(
        "{} nodes of 4 GPUs, {} reports ({:.1} a second), seed {}\n",
        options.nodes,
        sent,
        per_second(sent, took),
        options.seed
    );
    println!("{}", tally.table());
    Ok(())
}

fn per_second(count: usize, seconds: f64) -> f64 {
    u32::try_from(count).map_or(f64::NAN, f64::from) / seconds
}

/// Which node has which fault; each node has one at most.
fn plant(wanted: &[Kind], nodes: usize, random: &mut Random) -> Vec<(usize, Fault)> {
    let mut free: Vec<usize> = (0..nodes).collect();
    let plant = |kind: &Kind| {
        let node = free.swap_remove(random.below(free.len()));
        (node, Fault::drawn(*kind, random))
    };
    wanted.iter().map(plant).collect()
}

/// Each node first has a good run, then one with its fault, if it has one. First runs come first, so that there are peers.
fn send(
    fleet: &Fleet,
    nodes: usize,
    planted: &[(usize, Fault)],
    server: &ScratchServer,
    random: &mut Random,
) -> Result<usize> {
    let mut sent = 0;
    let machines: Vec<noise::Machine> = (0..nodes).map(|_| fleet.machine(random)).collect();
    for run in 0..2 {
        for (node, machine) in machines.iter().enumerate() {
            let mut report = fleet.report(node, run, machine, random);
            let fault = planted.iter().find(|(at, _)| *at == node).map(|(_, fault)| fault);
            if let Some(fault) = fault.filter(|fault| run == 1 || fault.is_from_the_start()) {
                fault.apply(&mut report);
            }
            let verdict = post(server, &report)?;
            // Of a fault the server may say more than that something is slow.
            ensure!(
                fault.is_some() || verdict == "healthy",
                "the server calls a healthy report {verdict}"
            );
            sent += 1;
        }
    }
    Ok(sent)
}

/// Sends a report until it is answered; the verdict that the server gives it.
fn post(server: &ScratchServer, report: &Value) -> Result<String> {
    let authorization = format!("Bearer {}", server.token);
    let headers = [
        ("content-type", "application/json"),
        ("authorization", authorization.as_str()),
    ];
    let asked = request(
        "POST",
        "/api/v1/reports",
        server.address,
        &headers,
        &report.to_string(),
    );
    let (status, body) = asked_again(server, &asked)?;
    ensure!(
        matches!(status, 200 | 201),
        "{status}: {}",
        String::from_utf8_lossy(&body)
    );
    let answer: Value = serde_json::from_slice(&body)?;
    let verdict = answer.get("verdict").and_then(Value::as_str);
    Ok(verdict.context("the answer has no verdict")?.to_owned())
}

/// Asks anew where no answer came in time; status and body.
fn asked_again(server: &ScratchServer, asked: &[u8]) -> Result<(u16, Vec<u8>)> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let mut connection = Connection::open(server.address)?;
        match connection.exchange(asked) {
            Ok(answer) => return Ok((answer.status, answer.body.to_vec())),
            Err(error) if attempts == ATTEMPTS => return Err(error),
            Err(_) => {}
        }
    }
}

fn get(server: &ScratchServer, path: &str) -> Result<Value> {
    let authorization = format!("Bearer {}", server.token);
    let headers = [("authorization", authorization.as_str())];
    let asked = request("GET", path, server.address, &headers, "");
    let (status, body) = asked_again(server, &asked)?;
    ensure!(status == 200, "{path}: {status}");
    serde_json::from_slice(&body).with_context(|| format!("{path} is no JSON"))
}
