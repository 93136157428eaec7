//! The project's own chores. `cargo xtask --help` lists them.

mod bench;
mod lint;
mod shell;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The chores of the Peerless project")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check formatting and lints; with cargo-deny installed also licences, bans and sources.
    Lint,
    /// Measure what the issues demand, with release binaries; prints a Markdown table.
    Bench(bench::Options),
}

fn main() -> Result<()> {
    match Cli::parse().chore {
        Chore::Lint => lint::run(),
        Chore::Bench(options) => bench::run(&options),
    }
}
