//! One after the other, and the table.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};

use super::{Options, backlog, nodes::Fleet, pages};
use crate::bench::load::{Load, Times};
use crate::bench::server;
use crate::scratch_server::ScratchServer;

/// A page every quarter of a second: some operators look.
const PACE: Duration = Duration::from_millis(250);
/// Latencies that must hold at 99 %.
const MOST: Duration = Duration::from_millis(100);

pub(super) fn run(options: &Options) -> Result<()> {
    let program = server::given_or_built(options.server.as_deref())?;
    let (clients, nodes) = (usize::from(options.clients), usize::try_from(options.nodes)?);
    let steady = usize::try_from(options.rate * options.seconds)?;
    let backlog = usize::try_from(options.backlog)?;
    let fleet = Fleet::read(options, backlog + steady)?;
    let scratch = ScratchServer::start_program("ingest", &program)?;
    let (address, admin) = (scratch.address, scratch.token.as_str());

    let began = Instant::now();
    let tokens = backlog::enrol(address, admin, nodes, clients)?;
    println!(
        "{nodes} nodes of {} GPUs enrolled in {:.0} s, one report of 24 a whole bench; {clients} clients\n",
        fleet.gpus(),
        began.elapsed().as_secs_f64()
    );
    println!("| what | number | a second | p50 ms | p99 ms | most ms | |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");

    let began = Instant::now();
    let until = began + Duration::from_secs(options.at_most);
    let sent = backlog::send(&fleet, &tokens, address, clients, (backlog, until))?;
    let seconds = began.elapsed().as_secs_f64();
    let taken = sent.latencies.len();
    let about = format!(
        "{:.1} kB each, compressed; put off {} times; {seconds:.0} s",
        kb(sent.bytes / taken.max(1)),
        sent.put_off
    );
    row(("backlog", &about), &Times::of(sent.latencies, 0), seconds);

    let requests = (taken..taken + steady)
        .map(|number| {
            fleet.request(
                number,
                tokens.get(fleet.node(number)).map_or("", String::as_str),
                address,
            )
        })
        .collect::<Result<Vec<_>>>()?;
    let seconds = f64::from(options.seconds);
    let load = Load {
        address,
        requests: &requests,
        rate: f64::from(options.rate),
        seconds,
        connections: 32,
        explained: false,
    };
    let paths = pages::paths(&pages::newest_report(address, admin)?);
    let until = Instant::now() + Duration::from_secs(u64::from(options.seconds));
    let (reports, browsed) = thread::scope(|scope| {
        let browsing = scope.spawn(|| pages::browse(&paths, (PACE, until), admin, address));
        let reports = load.run();
        let browsed = browsing.join().map_err(|_| anyhow!("browsing has panicked"));
        (reports, browsed)
    });
    let (mut reports, browsed) = (reports?, browsed??);
    reports.sort();
    let refused = format!("{} refused", reports.failed);
    row(("reports, pages open", &refused), &reports, seconds);
    row(("pages, reports coming", ""), &browsed, seconds);

    for asked in pages::ask(&paths, usize::try_from(options.asks)?, admin, address)? {
        let about = format!("{:.0} kB", kb(asked.bytes));
        let whole = asked.times.sum().as_secs_f64();
        row((&format!("`{}`", asked.path), &about), &asked.times, whole);
    }
    let expected = u64::try_from(taken + reports.answers() - reports.failed)?;
    let counted = pages::count(admin, address)?;
    println!("\n{counted} reports counted beside the nodes, {expected} acknowledged");
    ensure!(
        counted == expected,
        "{counted} reports, and {expected} were acknowledged"
    );
    Ok(())
}

fn row((what, about): (&str, &str), times: &Times, seconds: f64) {
    let ms = |share| times.latency(share).as_secs_f64() * 1e3;
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52 answers")]
    let rate = times.answers() as f64 / seconds;
    let held = if times.latency(0.99) < MOST {
        ""
    } else {
        " **over 100 ms**"
    };
    println!(
        "| {what} | {} | {rate:.0} | {:.1} | {:.1}{held} | {:.1} | {about} |",
        times.answers(),
        ms(0.5),
        ms(0.99),
        ms(1.0),
    );
}

fn kb(bytes: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52 bytes")]
    let kb = bytes as f64 / 1e3;
    kb
}
