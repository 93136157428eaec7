//! `cargo xtask fleet`: a simulated fleet, sent through the real interface to a server that was just started, and what the
//! server makes of it.
//!
//! ```text
//! real reports -> boards (healthy templates) -> noise, quirks -> symptoms (of planted faults) -> reports -> server -> judge
//!                                                plan (racks, updates, who has which fault)
//! ```
//!
//! Boards, noise, plan and symptoms were written without having read what the server judges by; `expected` before it was asked.
//! Every report says `simulated`, so that the server keeps these nodes apart from real ones.

mod boards;
mod expected;
mod faults;
mod judge;
mod noise;
mod pcie;
mod plan;
mod quirks;
mod reports;
mod server;
mod symptoms;
mod table;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use time::OffsetDateTime;

use crate::random::Random;
use crate::scratch_server::ScratchServer;
use judge::Judge;
use plan::{DAYS, Plan};
use reports::Life;
use server::Client;
use symptoms::Moment;
use table::About;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Nodes of the fleet.
    #[arg(long, default_value_t = 200)]
    nodes: usize,
    /// Kinds of faults to plant, separated by commas, each with how often: `slow-pair=3,lost-gpu=2`; `all=4` plants each
    /// kind four times.
    #[arg(long, default_value = "all=1")]
    faults: String,
    /// The same seed makes the same fleet.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The server program; built now where it is not named.
    #[arg(long, visible_alias = "server")]
    program: Option<PathBuf>,
    /// Clients that send at the same time.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    lanes: u8,
    /// The result as JSON in place of Markdown.
    #[arg(long)]
    json: bool,
    /// Ends with an error if it takes longer than so many minutes.
    #[arg(long, default_value_t = 60)]
    minutes: u64,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let wanted = faults::parse(&options.faults)?;
    ensure!(
        wanted.len() * 10 <= options.nodes,
        "{} faults on {} nodes: at most one for ten nodes",
        wanted.len(),
        options.nodes
    );
    ensure!(options.nodes <= 10_000, "at most 10000 nodes");
    let until = Instant::now() + Duration::from_secs(60 * options.minutes);
    let plan = Plan::drawn(options.nodes, &wanted, &mut Random::new(options.seed))?;
    let server = match &options.program {
        Some(program) => ScratchServer::start_program("fleet", &std::path::absolute(program)?)?,
        None => ScratchServer::start("fleet")?,
    };
    let mut client = Client::new(server.address, &server.token);
    let tokens = client.enrol(&plan)?;

    let began = Instant::now();
    let sent = send(options, &plan, &tokens, &server, until)?;
    let sending_seconds = began.elapsed().as_secs_f64();
    let asked = Instant::now();
    let verdict = Judge::new(&mut client).fleet(&plan)?;
    let about = About {
        nodes: options.nodes,
        seed: options.seed,
        reports: sent,
        sending_seconds,
        asking_seconds: asked.elapsed().as_secs_f64(),
    };
    if options.json {
        println!("{}", verdict.json(&about));
    } else {
        println!("{}", verdict.markdown(&about));
    }
    Ok(())
}

/// Each node sends its reports in their order, and no day begins before all have told of the one before.
fn send(
    options: &Options,
    plan: &Plan,
    tokens: &[String],
    server: &ScratchServer,
    until: Instant,
) -> Result<usize> {
    let kinds = reports::kinds()?;
    let days = i64::try_from(DAYS).context("too many days")?;
    #[expect(
        clippy::disallowed_methods,
        reason = "a server minds by its own clock how old a report is"
    )]
    let today = OffsetDateTime::now_utc();
    let start = today - time::Duration::days(days);
    let lanes = usize::from(options.lanes);
    let mut lives: Vec<Vec<(usize, Life<'_>)>> = (0..lanes).map(|_| Vec::new()).collect();
    for (at, node) in plan.nodes.iter().enumerate() {
        let life = Life::new(at, node, &kinds, options.seed)?;
        if let Some(lane) = lives.get_mut(at % lanes) {
            lane.push((at, life));
        }
    }
    let mut clients: Vec<Client> = (0..lanes).map(|_| Client::new(server.address, "")).collect();
    let mut sent = 0;
    for (day, is_look) in (0..DAYS).flat_map(|day| [(day, false), (day, true)]) {
        let moment = Moment { day, is_look };
        let counts: Vec<Result<usize>> = std::thread::scope(|scope| {
            let lanes = lives.iter_mut().zip(&mut clients);
            let started: Vec<_> = lanes
                .map(|(lane, client)| {
                    scope.spawn(move || send_lane(lane, client, tokens, moment, (start, until)))
                })
                .collect();
            let ended = started.into_iter().map(|lane| match lane.join() {
                Ok(count) => count,
                Err(_) => bail!("a lane has panicked"),
            });
            ended.collect()
        });
        for count in counts {
            sent += count?;
        }
    }
    Ok(sent)
}

fn send_lane(
    lane: &mut [(usize, Life<'_>)],
    client: &mut Client,
    tokens: &[String],
    moment: Moment,
    (start, until): (OffsetDateTime, Instant),
) -> Result<usize> {
    let mut sent = 0;
    for (at, life) in lane {
        ensure!(Instant::now() < until, "it takes longer than --minutes allows");
        let Some(report) = life.report(moment, start)? else {
            continue;
        };
        let token = tokens.get(*at).context("a node without a token")?;
        client.send(token, &report)?;
        sent += 1;
    }
    Ok(sent)
}
