//! `cargo xtask eval`: how often matching and search are right, on collected messages, logs and queries, and on
//! texts made from the records. It builds itself in release with the server inside.
//!
//! ```text
//! data       evaluation/*.jsonl and evaluation/logs as evaluation/README.md says
//! knowledge  the records, and which of them a label means
//! ask        one text, as POST /api/v1/match answers it
//! score      ranks counted; report: tables, bars, misses, JSON
//! real       messages, negatives, logs, queries, the clean corpus
//! synthetic  signatures, examples, mutated examples, planted and clean logs, two hosts
//! canons     the scenarios and records of deadends.dev
//! fts5       the same queries put to SQLite's full-text search
//! ```
#![allow(
    clippy::cast_precision_loss,
    clippy::format_push_string,
    reason = "shares of a few thousand items, in tables of a few lines"
)]

#[cfg(feature = "evaluation")]
mod ask;
#[cfg(feature = "evaluation")]
mod canons;
#[cfg(feature = "evaluation")]
mod data;
#[cfg(feature = "evaluation")]
mod fts5;
#[cfg(feature = "evaluation")]
mod knowledge;
#[cfg(feature = "evaluation")]
mod measure;
#[cfg(feature = "evaluation")]
mod real;
#[cfg(feature = "evaluation")]
mod report;
#[cfg(feature = "evaluation")]
mod score;
#[cfg(feature = "evaluation")]
mod synthetic;

use std::path::PathBuf;

use anyhow::Result;

#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub(crate) struct Options {
    /// The records.
    #[arg(long, default_value = "kb-seed")]
    records: PathBuf,
    /// The collected messages, logs and queries.
    #[arg(long, default_value = "evaluation")]
    data: PathBuf,
    /// Only these parts.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Print each miss with what came instead.
    #[arg(long)]
    misses: bool,
    /// One JSON object in place of the tables.
    #[arg(long)]
    json: bool,
    /// End with 1 when a bar is missed.
    #[arg(long)]
    bars: bool,
    /// Logs up to 100 MB in place of 10 MB.
    #[arg(long)]
    large: bool,
    /// A copy of the repository dbwls99706/deadends.dev: its 20 scenarios over its records.
    #[arg(long)]
    canons: Option<PathBuf>,
    /// Put the queries to SQLite's FTS5 too, over the same fields.
    #[arg(long)]
    fts5: bool,
    /// With --fts5: N records in all, the rest made from the vocabulary of these.
    #[arg(long, value_name = "N", requires = "fts5")]
    grown: Option<usize>,
    /// Without optimisation: built sooner, the same answers, no times worth reading.
    #[arg(long)]
    debug: bool,
}

/// A part of the evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Messages,
    Negatives,
    Queries,
    Logs,
    Own,
    Mutated,
    Planted,
    Clean,
    Hosts,
}

#[cfg(feature = "evaluation")]
pub(crate) fn run(options: &Options) -> Result<()> {
    measure::run(options)
}

/// Runs this command again with the server built in.
#[cfg(not(feature = "evaluation"))]
pub(crate) fn run(options: &Options) -> Result<()> {
    again_with_server(!options.debug)
}

/// Builds this program with the server inside, and runs it with the same arguments.
#[cfg(not(feature = "evaluation"))]
pub(crate) fn again_with_server(optimised: bool) -> Result<()> {
    use crate::shell;

    let mut command = shell::xtask_with("evaluation", optimised);
    command.args(std::env::args_os().skip(1));
    shell::run(&mut command)
}
