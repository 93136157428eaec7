//! `cargo xtask bench start`: a release server is started again and again, first on nothing, so that it takes in the records
//! that it carries, then on the database of that start.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use super::client::Connection;
use super::server;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Starts of each kind.
    #[arg(long, default_value_t = 15)]
    starts: usize,
    /// A server that is built already, in place of building one. Nothing of the repository is needed then.
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

const LINE: &str = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.";

struct Start {
    /// To the first 200 of `POST /api/v1/match`.
    matched: Duration,
    /// To the first 200 of `/readyz`: with the search index.
    ready: Duration,
    /// Reading all records from the database, and building matcher and graph.
    load: Duration,
    records: usize,
}

/// The first message is answered earlier, in milliseconds.
const BAR: f64 = 500.0;

pub(crate) fn run(options: &Options) -> Result<()> {
    ensure!(options.starts > 0, "start it at least once");
    let program = server::given_or_built(options.server.as_deref())?;
    let scratch = std::env::temp_dir().join(format!("peerless-bench-{}", std::process::id()));
    let measured = measure(&program, &scratch, options.starts);
    fs::remove_dir_all(&scratch).ok();
    let (fresh, again) = measured?;

    println!(
        "| what | records | starts | min ms | median ms | max ms | bar |\n| --- | --- | --- | --- | --- | --- | --- |"
    );
    row("first match on nothing", &fresh, |start| start.matched, None);
    row("ready on nothing", &fresh, |start| start.ready, None);
    row(
        "first match on its database",
        &again,
        |start| start.matched,
        Some(BAR),
    );
    row("ready on its database", &again, |start| start.ready, None);
    let all: Vec<Start> = fresh.into_iter().chain(again).collect();
    row("of these: read", &all, |start| start.load, None);
    Ok(())
}

fn measure(program: &Path, scratch: &Path, starts: usize) -> Result<(Vec<Start>, Vec<Start>)> {
    let fresh = (0..starts).map(|number| one(program, &scratch.join(number.to_string())));
    let fresh = fresh.collect::<Result<_>>()?;
    let again = (0..starts).map(|_| one(program, &scratch.join("0")));
    Ok((fresh, again.collect::<Result<_>>()?))
}

fn one(program: &Path, data: &Path) -> Result<Start> {
    let address = server::free_address()?;
    let began = Instant::now();
    let server = server::Server::start(program, address, data)?;
    wait_for_match(address)?;
    let matched = began.elapsed();
    server.wait_until_ready()?;
    let ready = began.elapsed();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of records"
    )]
    let records = server.gauge("knowledge_records")? as usize;
    Ok(Start {
        matched,
        ready,
        load: Duration::try_from_secs_f64(server.gauge("knowledge_build_seconds")?)?,
        records,
    })
}

fn wait_for_match(address: SocketAddr) -> Result<()> {
    let began = Instant::now();
    while began.elapsed() < Duration::from_mins(2) {
        // It may not listen yet.
        if let Ok(mut connection) = Connection::open(address)
            && connection
                .post_text("/api/v1/match", LINE)
                .is_ok_and(|answer| answer.status == 200)
        {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    bail!("no message was answered within two minutes")
}

fn row(what: &str, starts: &[Start], time: impl Fn(&Start) -> Duration, bar: Option<f64>) {
    let mut times: Vec<f64> = starts
        .iter()
        .map(|start| time(start).as_secs_f64() * 1e3)
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |place: usize| times.get(place).copied().unwrap_or(f64::NAN);
    let slowest = at(times.len().saturating_sub(1));
    let verdict = bar.map_or_else(String::new, |bar| {
        let held = if slowest < bar { "held" } else { "**not held**" };
        format!("under {bar:.0} ms: {held}")
    });
    println!(
        "| {what} | {} | {} | {:.0} | {:.0} | {slowest:.0} | {verdict} |",
        starts.first().map_or(0, |start| start.records),
        starts.len(),
        at(0),
        at(times.len() / 2),
    );
}
