//! Measurements that the issues demand, each with release binaries and each printing a Markdown table.

mod first_match;
mod http;
pub(crate) mod matching;
mod server;

use anyhow::Result;

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// From the start of a fresh process to the first answer that finds record N's own line.
    FirstMatch(first_match::Options),
    /// The engine: right answers, false alarms, speed beside Hyperscan, memory.
    Match(matching::Options),
}

pub(crate) fn run(options: &Options) -> Result<()> {
    match &options.what {
        What::FirstMatch(options) => first_match::run(options),
        What::Match(options) => matching::run(options),
    }
}
