//! Each of our records' own messages by itself: how long the slowest take, when first asked for and from then on.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use kb_core::annex::EMPTY;
use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::record::{Record, signature_set};
use kb_core::scanner::{ScanOptions, scan};
use kb_core::validate::is_record_file;

use super::table::{Row, print};

const NAMED: usize = 10;

/// A message and the record that it is of.
struct Message {
    record: String,
    text: String,
}

/// Signature and examples of each record, asked for one by one. Of each message the least time of several runs counts:
/// what else the machine does is not the engine's. First times are those of matchers newly built.
pub(crate) fn messages(folder: &Path, runs: usize) -> Result<()> {
    let mut records = Vec::new();
    read(folder, "", &mut records)?;
    ensure!(!records.is_empty(), "no records in {}", folder.display());
    let messages: Vec<Message> = records.iter().flat_map(messages_of).collect();
    let signatures = signature_set(records.iter().map(|record| (record, Revision(1))));
    let mut first = vec![Duration::MAX; messages.len()];
    let mut again = first.clone();
    for _ in 0..runs.max(1) {
        let matcher = Arc::new(Matcher::build(signatures.clone()).0);
        ask(&matcher, &messages, &mut first);
        for _ in 0..3 {
            ask(&matcher, &messages, &mut again);
        }
    }
    let what = format!("{} messages of our {} records", messages.len(), records.len());
    report(&format!("{what}, asked for again"), 1_000.0, &messages, &again);
    report(&format!("{what}, asked for first"), 5_000.0, &messages, &first);
    Ok(())
}

fn read(folder: &Path, prefix: &str, into: &mut Vec<Record>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    let mut entries: Vec<_> = entries.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if path.is_dir() {
            read(&path, &format!("{name}/"), into)?;
        } else if is_record_file(&name) && !name.ends_with(".ext.json") {
            let document = fs::read_to_string(&path)?;
            let annex = path.with_extension("ext.json");
            let annex = if annex.try_exists()? {
                fs::read_to_string(annex)?
            } else {
                EMPTY.to_owned()
            };
            let record = Record::parse(&document, &annex);
            into.push(record.map_err(|violations| anyhow!("{name}: {violations:?}"))?);
        }
    }
    Ok(())
}

fn messages_of(record: &Record) -> Vec<Message> {
    let examples = record.annex.examples.iter().map(|example| &example.text);
    std::iter::once(&record.document.signature)
        .chain(examples)
        .map(|text| Message {
            record: record.id().to_string(),
            text: text.clone(),
        })
        .collect()
}

/// Asks for each message in full and keeps the least time of each.
fn ask(matcher: &Arc<Matcher>, messages: &[Message], least: &mut [Duration]) {
    for (message, least) in messages.iter().zip(least) {
        let started = Instant::now();
        black_box(scan(matcher, message.text.as_bytes(), ScanOptions::default()));
        *least = (*least).min(started.elapsed());
    }
}

fn report(what: &str, bar: f64, messages: &[Message], times: &[Duration]) {
    let micros = |time: &Duration| time.as_secs_f64() * 1e6;
    let mut slowest: Vec<(f64, &Message)> = times.iter().map(micros).zip(messages).collect();
    slowest.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let slower_than = |share: f64| {
        let place = slowest.len() as f64 * share;
        slowest.get(place as usize).map_or(f64::NAN, |(time, _)| *time)
    };
    print(&Row::new(
        what,
        format!("each under {bar} us"),
        format!(
            "p50 {:.1} us, p99 {:.1} us, longest {:.1} us",
            slower_than(0.5),
            slower_than(0.01),
            slower_than(0.0)
        ),
        slower_than(0.0) < bar,
    ));
    for (time, message) in slowest.iter().take(NAMED) {
        let start: String = message.text.chars().take(70).collect();
        eprintln!("{time:8.1} us  {}  {start:?}", message.record);
    }
}
