//! Measurements that the issues demand, each with release binaries and each printing a Markdown table.

pub(crate) mod client;
mod daemon;
mod first_match;
mod http;
mod ingest;
mod load;
pub(crate) mod matching;
pub(crate) mod server;
mod start;
mod upload;

use anyhow::Result;

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// What an idle daemon takes of a node: processor time and memory.
    Daemon(daemon::Options),
    /// From the start of a fresh process to the first answer that finds record N's own line.
    FirstMatch(first_match::Options),
    /// Messages, or searches with --search, over HTTP in an open loop; also while an editor publishes.
    Http(http::Options),
    /// Reports of a large fleet: a backlog, then a steady rate with pages open, then every page and call about fleets.
    Ingest(ingest::Options),
    /// The engine: right answers, false alarms, speed beside Hyperscan, memory.
    Match(matching::Options),
    /// From the start of a server to its first answer, and how much of it went into reading and indexing the records.
    Start(start::Options),
    /// Uploads while agent, server and network are killed: what is lost, what is counted twice.
    Upload(upload::Options),
}

pub(crate) fn run(options: &Options) -> Result<()> {
    match &options.what {
        What::Daemon(options) => daemon::run(options),
        What::FirstMatch(options) => first_match::run(options),
        What::Http(options) => http::run(options),
        What::Ingest(options) => ingest::run(options),
        What::Match(options) => matching::run(options),
        What::Start(options) => start::run(options),
        What::Upload(options) => upload::run(options),
    }
}
