//! `cargo xtask bench http`: a release server under an open loop of requests, each timed from when it should have been
//! sent, so that a server that stalls is charged for all who would have come meanwhile.
//!
//! ```text
//! texts      messages and queries, made from the signatures that the server knows
//! editor     publishes a record every second meanwhile
//! grown      more records than there are, made and put into the database
//! ```

mod editor;
mod grown;
mod texts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::client::request;
use super::load::{Load, Times};
use super::server;
use crate::shell;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Requests a second.
    #[arg(long, default_value_t = 2_000)]
    rate: u32,
    /// Seconds of each row, after one pass over all texts that is not counted.
    #[arg(long, default_value_t = 30)]
    seconds: u32,
    /// Distinct texts.
    #[arg(long, default_value_t = 1_000)]
    texts: usize,
    /// Connections that are kept open.
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// Search in place of matching.
    #[arg(long)]
    search: bool,
    /// Words of a query, with --search. A query of more words than a signature has runs over several.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=64), requires = "search")]
    words: u8,
    /// A server that is built already, in place of building one. Nothing of the repository is needed then.
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
    /// Also import the canons of a copy of the repository dbwls99706/deadends.dev.
    #[arg(long)]
    canons: Option<PathBuf>,
    /// N records in all, up to 200,000: the rest are made of words drawn from the records, and put into the database before, past
    /// the gate. The texts are those that are sent without. Built with the server inside; some 2 GB of memory and disk.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200_000))]
    grown: Option<u32>,
}

/// What must hold: the most milliseconds at a share of all requests.
type Bar = &'static [(f64, f64)];
const MATCH_BAR: Bar = &[(0.99, 5.0)];
const SEARCH_BAR: Bar = &[(0.5, 2.0), (0.99, 10.0)];

/// How long the records are waited for.
const PATIENCE: Duration = Duration::from_mins(10);

/// Allowed a second and client: an operator who expects such load says so, and the limiter stays in the way.
const RATE_LIMIT: &str = "100000";

pub(crate) fn run(options: &Options) -> Result<()> {
    #[cfg(not(feature = "evaluation"))]
    if options.grown.is_some() {
        return crate::eval::again_with_server(true);
    }
    let program = server::given_or_built(options.server.as_deref())?;
    let scratch = std::env::temp_dir().join(format!("peerless-bench-{}", std::process::id()));
    let measured = measure(options, &program, &scratch.join("data"));
    fs::remove_dir_all(&scratch).ok();
    measured
}

fn measure(options: &Options, program: &Path, data: &Path) -> Result<()> {
    if let Some(canons) = &options.canons {
        let mut import = Command::new(program);
        import.args(["import", "--from", "deadends"]);
        import.arg(canons.join("data/canons")).arg("--data-dir").arg(data);
        shell::run(import.stdout(Stdio::null()))?;
    }
    let documents = records(program, data)?;
    let signatures = texts::signatures(&documents)?;
    if let Some(count) = options.grown {
        grown::import(data, &documents, count as usize)?;
    }
    let address = server::free_address()?;
    let arguments = ["--rate-limit", RATE_LIMIT];
    let server = server::Server::start_with(program, address, data, &arguments)?;
    server.wait_until_ready_within(PATIENCE)?;
    println!(
        "{} records, read and indexed in {:.1} s; memory {} MB, at most {} MB so far",
        server.gauge("knowledge_records")?,
        server.gauge("knowledge_build_seconds")?,
        server.memory("VmRSS")? / 1_000,
        server.memory("VmHWM")? / 1_000,
    );
    let document = documents.into_iter().next().context("there is no record")?;
    let editor = editor::Editor::new(program, address, data, document)?;
    let texts = if options.search {
        texts::queries(&signatures, usize::from(options.words), options.texts)
    } else {
        texts::messages(&signatures, options.texts)
    };
    let requests: Vec<Vec<u8>> = texts
        .iter()
        .map(|text| {
            if options.search {
                let path = format!("/api/v1/search?q={}", texts::escaped(text));
                request("GET", &path, address, &[], "")
            } else {
                let headers = [("content-type", "text/plain")];
                request("POST", "/api/v1/match", address, &headers, text)
            }
        })
        .collect();
    let load = |seconds: f64| Load {
        address,
        requests: &requests,
        rate: f64::from(options.rate),
        seconds,
        connections: options.connections,
        explained: !options.search,
    };
    #[expect(clippy::cast_precision_loss, reason = "a few thousand texts")]
    let one_pass = requests.len() as f64 / f64::from(options.rate);
    load(one_pass.max(1.0)).run()?;

    let (what, bar) = if options.search {
        ("search", SEARCH_BAR)
    } else {
        ("match", MATCH_BAR)
    };
    println!(
        "{} distinct texts, {} connections, {} a second for {} s; load average before: {}\n",
        requests.len(),
        options.connections,
        options.rate,
        options.seconds,
        load_average()
    );
    println!(
        "| what | answers | explained | failed | sent late p99 ms | p50 ms | p99 ms | p99.9 ms | max ms | bar |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let seconds = f64::from(options.seconds);
    row(what, load(seconds).run()?, bar);
    let publishing = editor.publish_each_second(options.seconds);
    let times = load(seconds).run();
    let published = publishing.finish()?;
    row(
        &format!("{what} while an editor publishes each second"),
        times?,
        bar,
    );
    println!(
        "\n{} records published meanwhile, slowest answer {:.0} ms; memory {} MB, at most {} MB; load average after: {}",
        published.count,
        published.slowest.as_secs_f64() * 1e3,
        server.memory("VmRSS")? / 1_000,
        server.memory("VmHWM")? / 1_000,
        load_average()
    );
    Ok(())
}

/// The documents of all records, after a first start, which takes in those that the server carries.
fn records(program: &Path, data: &Path) -> Result<Vec<Value>> {
    let server = server::Server::start(program, server::free_address()?, data)?;
    server.wait_until_ready()?;
    texts::documents(program, data)
}

fn row(what: &str, mut times: Times, bar: Bar) {
    times.sort();
    let at = |share| times.latency(share).as_secs_f64() * 1e3;
    let holds = times.failed == 0 && bar.iter().all(|(share, most)| at(*share) < *most);
    let wanted: Vec<String> = bar
        .iter()
        .map(|(share, most)| format!("p{} under {most} ms", share * 100.0))
        .collect();
    println!(
        "| {what} | {} | {} | {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {}: {} |",
        times.answers(),
        times.explained,
        times.failed,
        times.lateness(0.99).as_secs_f64() * 1e3,
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0),
        wanted.join(", "),
        if holds { "held" } else { "**not held**" },
    );
}

/// Of one, five and fifteen minutes: what else the machine did.
fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").context("no /proc/loadavg");
    let text = text.unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
