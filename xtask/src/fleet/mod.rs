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

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::bench::client::{Connection, request};
use crate::random::Random;
use crate::scratch_server::ScratchServer;
use faults::{Fault, Kind};
use judge::Tally;
use nodes::Fleet;

/// Reports are sent over so many requests of one connection before another is opened.
const REQUESTS: usize = 50;

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
    let mut connection = Connection::open(server.address)?;
    let machines: Vec<noise::Machine> = (0..nodes).map(|_| fleet.machine(random)).collect();
    for run in 0..2 {
        for (node, machine) in machines.iter().enumerate() {
            let mut report = fleet.report(node, run, machine, random);
            let fault = planted.iter().find(|(at, _)| *at == node).map(|(_, fault)| fault);
            if let Some(fault) = fault.filter(|fault| run == 1 || fault.is_from_the_start()) {
                fault.apply(&mut report);
            }
            if sent % REQUESTS == 0 {
                connection = Connection::open(server.address)?;
            }
            post(&mut connection, server, &report)?;
            sent += 1;
        }
    }
    Ok(sent)
}

fn post(connection: &mut Connection, server: &ScratchServer, report: &Value) -> Result<()> {
    let authorization = format!("Bearer {}", server.token);
    let headers = [
        ("content-type", "application/json"),
        ("authorization", authorization.as_str()),
    ];
    let body = report.to_string();
    let asked = request("POST", "/api/v1/reports", server.address, &headers, &body);
    let answer = connection.exchange(&asked)?;
    if answer.status != 201 {
        bail!("{}: {}", answer.status, String::from_utf8_lossy(answer.body));
    }
    let answer: Value = serde_json::from_slice(answer.body)?;
    let verdict = answer.get("verdict").and_then(Value::as_str).unwrap_or_default();
    ensure!(
        verdict == "healthy",
        "the server calls a report {verdict}: {answer}"
    );
    Ok(())
}

fn get(server: &ScratchServer, path: &str) -> Result<Value> {
    let authorization = format!("Bearer {}", server.token);
    let headers = [("authorization", authorization.as_str())];
    let mut connection = Connection::open(server.address)?;
    let asked = request("GET", path, server.address, &headers, "");
    let answer = connection.exchange(&asked)?;
    ensure!(answer.status == 200, "{path}: {}", answer.status);
    serde_json::from_slice(answer.body).with_context(|| format!("{path} is no JSON"))
}
