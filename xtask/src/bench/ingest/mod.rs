//! `cargo xtask bench ingest`: what reports of a large fleet cost a server, and what its pages cost afterwards. Every report says
//! `simulated`.
//!
//! ```text
//! nodes      reports of many nodes, made from two that an agent has written
//! backlog    sent by several clients, each as fast as it is answered
//! pages      every page and call about fleets, asked for again and again
//! measured   one after the other, and the table
//! ```

#[cfg(feature = "evaluation")]
mod backlog;
#[cfg(feature = "evaluation")]
mod measured;
#[cfg(feature = "evaluation")]
mod nodes;
#[cfg(feature = "evaluation")]
mod pages;

use std::path::PathBuf;

use anyhow::Result;
use clap::value_parser;

#[cfg_attr(
    not(feature = "evaluation"),
    allow(dead_code, reason = "the build with the feature reads them")
)]
#[derive(clap::Args)]
pub(crate) struct Options {
    /// A report of `peerless-agent probe --json`.
    #[arg(long, value_name = "FILE")]
    probe: PathBuf,
    /// A report of `peerless-agent bench --json`, which takes the place of every 24th.
    #[arg(long, value_name = "FILE")]
    bench: PathBuf,
    /// Nodes of the fleet. Each sends a report an hour.
    #[arg(long, default_value_t = 10_000, value_parser = value_parser!(u32).range(1..=100_000))]
    nodes: u32,
    /// Reports that are sent as fast as they are taken.
    #[arg(long, default_value_t = 160_000)]
    backlog: u32,
    /// The backlog ends after so many seconds, however many are sent by then.
    #[arg(long, default_value_t = 1_200)]
    at_most: u64,
    /// Clients that send the backlog.
    #[arg(long, default_value_t = 8, value_parser = value_parser!(u8).range(1..=64))]
    clients: u8,
    /// Reports a second afterwards, with pages open.
    #[arg(long, default_value_t = 150, value_parser = value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// Seconds of that.
    #[arg(long, default_value_t = 60, value_parser = value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// How often each page is asked for at the end.
    #[arg(long, default_value_t = 100, value_parser = value_parser!(u32).range(1..=10_000))]
    asks: u32,
    /// A server that is built already, in place of building one.
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

/// Reports are compressed as an agent does it, by a library that the plain chores do not build.
#[cfg(not(feature = "evaluation"))]
pub(crate) fn run(_: &Options) -> Result<()> {
    crate::eval::again_with_server(true)
}

#[cfg(feature = "evaluation")]
pub(crate) fn run(options: &Options) -> Result<()> {
    measured::run(options)
}
