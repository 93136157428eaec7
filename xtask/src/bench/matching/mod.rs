//! `cargo xtask bench match`: what the matching engine must hold, measured in a release process of its own.
//!
//! ```text
//! canons     the records of deadends.dev, read from a copy of that repository
//! corpus     healthy logs and logs with planted errors, made from a seed
//! table      the printed rows
//! quality    their scenarios, every signature, false alarms, planted lines
//! speed      the log's throughput, one message, start, memory; hyperscan: the same lines by another engine
//! own        each message of our own records, and which are the slowest
//! ```
#![cfg_attr(
    feature = "matching",
    allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts and shares of a measurement are far below 2^52"
    )
)]

#[cfg(feature = "matching")]
mod canons;
#[cfg(feature = "matching")]
pub(crate) mod corpus;
#[cfg(feature = "hyperscan")]
mod hyperscan;
#[cfg(feature = "matching")]
mod measure;
#[cfg(feature = "matching")]
mod own;
#[cfg(feature = "matching")]
mod quality;
#[cfg(feature = "matching")]
mod speed;
#[cfg(feature = "matching")]
mod table;

use std::path::PathBuf;

use anyhow::Result;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// A copy of the repository dbwls99706/deadends.dev: its `data/canons` and `benchmarks` are read.
    #[arg(long)]
    canons: PathBuf,
    /// Compare with Hyperscan (needs libhyperscan-dev).
    #[arg(long)]
    hyperscan: bool,
    /// Our own records, whose messages are asked for one by one; `kb-seed` of this repository if not given.
    #[arg(long)]
    records: Option<PathBuf>,
    /// Runs of each timed part; the least time counts.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Size of the largest planted log, in MB.
    #[arg(long, default_value_t = 100)]
    planted_mb: usize,
    /// Only these parts.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Print each miss.
    #[arg(long)]
    misses: bool,
}

/// A part of the measurement.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Scenarios,
    Signatures,
    Clean,
    Speed,
    Message,
    Own,
    Memory,
    Planted,
}

#[cfg(feature = "matching")]
pub(crate) fn run(options: &Options) -> Result<()> {
    measure::run(options)
}

/// Runs this command again in release, with the engine built in.
#[cfg(not(feature = "matching"))]
pub(crate) fn run(options: &Options) -> Result<()> {
    use clap::ValueEnum;

    use crate::shell;

    let features = if options.hyperscan {
        "hyperscan"
    } else {
        "matching"
    };
    let mut command = shell::xtask_with(features, true);
    command.args(["bench", "match", "--canons"]);
    command.arg(&options.canons);
    command.arg(format!("--runs={}", options.runs));
    command.arg(format!("--planted-mb={}", options.planted_mb));
    if let Some(records) = &options.records {
        command.arg("--records").arg(records);
    }
    for part in &options.only {
        let name = part.to_possible_value().map(|value| value.get_name().to_owned());
        command.arg(format!("--only={}", name.unwrap_or_default()));
    }
    for (given, flag) in [(options.hyperscan, "--hyperscan"), (options.misses, "--misses")] {
        if given {
            command.arg(flag);
        }
    }
    shell::run(&mut command)
}
