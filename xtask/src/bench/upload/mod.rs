//! Whether reports are lost or counted twice when agent, server or network are killed at any moment: real processes, a
//! service manager's restarts, and at the end a count of what the server has.

mod count;
mod lane;
mod relay;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::server;
use crate::shell;
use lane::Lane;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Reports, each with kills at random moments until its agent has ended by itself.
    #[arg(long, default_value_t = 1_000)]
    trials: u64,
    /// Lanes that work at the same time, each with a server, a network and a spool of its own.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    at_once: u64,
    /// Seed of the moments.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A built agent to take in place of building a release one.
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
    /// A built server, the same.
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

struct Programs {
    agent: PathBuf,
    server: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let programs = Programs {
        agent: match &options.agent {
            Some(agent) => std::path::absolute(agent)?,
            None => build_agent()?,
        },
        server: match &options.server {
            Some(server) => std::path::absolute(server)?,
            None => server::build()?,
        },
    };
    let folder = std::env::temp_dir().join(format!("peerless-upload-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let began = Instant::now();
    let lanes: Vec<Result<Outcome>> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..options.at_once)
            .map(|number| {
                let lane = Lane {
                    programs: &programs,
                    folder: folder.join(number.to_string()),
                    seed: options
                        .seed
                        .wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
                    trials: (number..options.trials).step_by(usize::try_from(options.at_once).unwrap_or(1)),
                };
                scope.spawn(move || lane.run())
            })
            .collect();
        let ended = started.into_iter().map(|lane| {
            let panicked = |_| Err(anyhow::anyhow!("a lane panicked"));
            lane.join().unwrap_or_else(panicked)
        });
        ended.collect()
    });
    let result = lanes
        .into_iter()
        .try_fold(Outcome::default(), |sum, lane| anyhow::Ok(sum.with(&lane?)))
        .and_then(|sum| sum.tell(options, began.elapsed()));
    // Kept where something is wrong: it holds the evidence.
    if result.is_ok() {
        std::fs::remove_dir_all(&folder)?;
    } else {
        eprintln!("spools and databases are kept in {}", folder.display());
    }
    result
}

fn build_agent() -> Result<PathBuf> {
    let arguments = ["build", "--release", "--locked", "--package", "peerless-agent"];
    shell::run(&mut shell::cargo(&arguments))?;
    Ok(shell::target().join("release").join("peerless-agent"))
}

/// What was done to the three, and what came of it.
#[derive(Default)]
struct Outcome {
    trials: u64,
    agent_killed: u64,
    server_killed: u64,
    connections_broken: u64,
    lost: u64,
    twice: u64,
    unknown: u64,
}

impl Outcome {
    fn with(&self, other: &Self) -> Self {
        Self {
            trials: self.trials + other.trials,
            agent_killed: self.agent_killed + other.agent_killed,
            server_killed: self.server_killed + other.server_killed,
            connections_broken: self.connections_broken + other.connections_broken,
            lost: self.lost + other.lost,
            twice: self.twice + other.twice,
            unknown: self.unknown + other.unknown,
        }
    }

    fn tell(&self, options: &Options, took: Duration) -> Result<()> {
        println!(
            "| trials | at once | agent killed | server killed | connections broken | lost | counted twice | seconds |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {:.0} |",
            self.trials,
            options.at_once,
            self.agent_killed,
            self.server_killed,
            self.connections_broken,
            self.lost,
            self.twice,
            took.as_secs_f64()
        );
        let Self {
            lost, twice, unknown, ..
        } = self;
        ensure!(self.trials == options.trials, "{} trials were made", self.trials);
        ensure!(
            (*lost, *twice, *unknown) == (0, 0, 0),
            "{lost} lost, {twice} counted twice, {unknown} that nobody sent"
        );
        Ok(())
    }
}
