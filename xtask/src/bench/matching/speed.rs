//! Times and sizes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kb_core::scanner::{Event, ScanOptions, scan};

use super::Options;
use super::corpus;
use super::measure::Subject;
use super::table::{Row, print};

/// A body arrives in chunks of about this size, in bytes.
const CHUNK: usize = 64 * 1024;

/// Messages of one line, each asked for in full, the answer dropped.
pub(crate) fn message(subject: &Subject) {
    let messages: Vec<&str> = subject
        .records
        .iter()
        .map(|record| record.signature.as_str())
        .collect();
    let ask = |message: &str| scan(&subject.matcher, message.as_bytes(), ScanOptions::default());
    for message in &messages {
        black_box(ask(message));
    }
    let mut times = Vec::with_capacity(messages.len() * 5);
    for _ in 0..5 {
        for message in &messages {
            let started = Instant::now();
            black_box(ask(message));
            times.push(started.elapsed());
        }
    }
    times.sort_unstable();
    let at = |share: f64| {
        let place = (times.len() as f64 * share) as usize;
        times.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
    };
    print(&Row::new(
        format!("one message in process, full answer, {} messages", messages.len()),
        "p50 under 30 us",
        format!("p50 {:.1} us, p99 {:.1} us", at(0.5), at(0.99)),
        at(0.5) < 30.0,
    ));
}

/// A log of 10 MB through the public scanner, and the same lines through Hyperscan.
pub(crate) fn log(subject: &Subject, options: &Options) -> Result<()> {
    let errors: Vec<&str> = subject
        .records
        .iter()
        .map(|record| record.signature.as_str())
        .filter(|signature| !signature.contains('\n'))
        .collect();
    let sparse = corpus::planted(10_000_000, 10_000, &errors, 3).text;
    let dense = corpus::planted(10_000_000, 20, &errors, 3).text;
    for (name, text) in [("a few hits", &sparse), ("5 % of lines hitting", &dense)] {
        let mut hits = 0;
        scan_log(subject, text, |events| hits += events.len());
        compare(subject, options, name, text, hits)?;
    }
    Ok(())
}

fn alone(subject: &Subject, options: &Options, name: &str, text: &str, hits: usize) {
    let ours = || scan_log(subject, text, |events| drop(black_box(events)));
    let time = (0..options.runs.max(1))
        .map(|_| timed(ours))
        .min()
        .unwrap_or_default();
    print(&Row::new(
        format!("10 MB log, {name}, one core"),
        "faster than Hyperscan",
        format!("{}; {hits} hits; not compared", pace(text, time)),
        false,
    ));
}

#[cfg(not(feature = "hyperscan"))]
#[allow(clippy::unnecessary_wraps, reason = "with Hyperscan it can fail")]
fn compare(subject: &Subject, options: &Options, name: &str, text: &str, hits: usize) -> Result<()> {
    alone(subject, options, name, text, hits);
    Ok(())
}

#[cfg(feature = "hyperscan")]
fn compare(subject: &Subject, options: &Options, name: &str, text: &str, hits: usize) -> Result<()> {
    use super::hyperscan::Other;

    if !options.hyperscan {
        alone(subject, options, name, text, hits);
        return Ok(());
    }
    let started = Instant::now();
    let other = Other::build(&subject.records)?;
    let ready = started.elapsed();
    // In turns, so that what else the machine does meets both.
    let (mut time, mut theirs) = (Duration::MAX, Duration::MAX);
    for _ in 0..options.runs.max(1) {
        time = time.min(timed(|| {
            scan_log(subject, text, |events| drop(black_box(events)));
        }));
        theirs = theirs.min(timed(|| {
            let mut count = 0_usize;
            other.scan(text, |_, _| count += 1);
            black_box(count);
        }));
    }
    let their_set = other.set(text);
    let our_set = our_set(subject, text);
    let missing = their_set.difference(&our_set).collect::<Vec<_>>();
    let more = our_set.difference(&their_set).collect::<Vec<_>>();
    if options.misses {
        for (sign, list) in [("missing", &missing), ("more", &more)] {
            for (line, record) in list.iter().take(20) {
                let text = text.lines().nth(*line as usize - 1).unwrap_or_default();
                let record = subject.records.get(*record);
                eprintln!(
                    "{sign} {line} {:?} {:?}: {text}",
                    record.map(|record| record.id.as_str()),
                    record.and_then(|record| Some(record.patterns.first()?.regex.as_str()))
                );
            }
        }
    }
    print(&Row::new(
        format!("10 MB log, {name}, one core"),
        "faster than Hyperscan, same (line, pattern) set",
        format!(
            "{} ({hits} events); Hyperscan {} after {:.1} s of compiling; {} pairs, {} missing, {} more",
            pace(text, time),
            pace(text, theirs),
            ready.as_secs_f64(),
            their_set.len(),
            missing.len(),
            more.len()
        ),
        time < theirs && missing.is_empty() && more.is_empty(),
    ));
    Ok(())
}

/// Every (line, record) whose pattern matches, as a match or as a candidate.
#[cfg(feature = "hyperscan")]
fn our_set(subject: &Subject, text: &str) -> std::collections::BTreeSet<(u64, usize)> {
    let places: std::collections::HashMap<&str, usize> = subject
        .records
        .iter()
        .enumerate()
        .map(|(at, record)| (record.id.as_str(), at))
        .collect();
    let mut set = std::collections::BTreeSet::new();
    scan_log(subject, text, |events| {
        for event in events {
            let (Event::Hit(hit) | Event::Candidate(hit)) = event else {
                continue;
            };
            let by_pattern = hit.pattern == "0" || hit.also.iter().any(|name| name == "0");
            if let (true, Some(place)) = (by_pattern, places.get(hit.record.as_str())) {
                set.insert((hit.line, *place));
            }
        }
    });
    set
}

fn scan_log(subject: &Subject, text: &str, mut each: impl FnMut(Vec<Event>)) {
    let mut scanner = subject.matcher.scanner(ScanOptions {
        keep_text: false,
        report_candidates: true,
        ..ScanOptions::default()
    });
    for chunk in text.as_bytes().chunks(CHUNK) {
        each(scanner.push(chunk));
    }
    let (events, summary) = scanner.finish_with_events();
    each(events);
    black_box(summary);
}

fn timed(run: impl FnOnce()) -> Duration {
    let started = processor_time();
    run();
    processor_time().saturating_sub(started)
}

/// Time that this thread has been running on a processor: what others do on the machine does not count.
pub(crate) fn processor_time() -> Duration {
    let status = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = status.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

fn pace(text: &str, time: Duration) -> String {
    let rate = text.len() as f64 / 1e6 / time.as_secs_f64();
    format!("{:.3} s ({rate:.0} MB/s)", time.as_secs_f64())
}

/// Memory of this process after logs of three sizes.
pub(crate) fn memory(subject: &Subject) -> Result<()> {
    let mut sizes = Vec::new();
    for megabytes in [1, 10, 100] {
        let mut scanner = subject.matcher.scanner(ScanOptions::default());
        let piece = corpus::healthy(1_000_000, 5);
        for _ in 0..megabytes {
            scanner.feed(piece.as_bytes());
        }
        black_box(scanner.finish());
        sizes.push(format!("{:.0} MiB after {megabytes} MB", resident_mib()?));
    }
    let last = resident_mib()?;
    print(&Row::new(
        "resident memory of this process",
        "under 200 MiB, flat",
        sizes.join(", "),
        last < 200.0,
    ));
    Ok(())
}

fn resident_mib() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib: f64 = line
        .and_then(|line| line.split_whitespace().nth(1))
        .context("no VmRSS")?
        .parse()?;
    Ok(kib / 1024.0)
}
