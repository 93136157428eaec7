//! Right answers: their scenarios, every record's own signature, silence on healthy logs, planted lines.

use anyhow::Result;
use kb_core::scanner::{Event, ScanOptions, Summary, scan};

use super::corpus;
use super::measure::Subject;
use super::table::{Row, print};
use super::{Options, canons};

/// Their 20 scenarios, judged by domain over the whole list: matches first, then candidates.
pub(crate) fn scenarios(subject: &Subject, options: &Options) -> Result<()> {
    let scenarios = canons::scenarios(&options.canons)?;
    let (mut first, mut third, mut reciprocal) = (0.0, 0.0, 0.0);
    for scenario in &scenarios {
        let ranked = ranked(&read(subject, &scenario.message));
        let rank = ranked.iter().position(|id| {
            let domain = subject.records.iter().find(|record| record.id.as_str() == id);
            domain.is_some_and(|record| record.domain == scenario.domain)
        });
        if rank != Some(0) && options.misses {
            eprintln!(
                "scenario {:?}: {} at {rank:?} of {}, first {:?}",
                scenario.message,
                scenario.domain,
                ranked.len(),
                ranked.get(..3).unwrap_or(&ranked)
            );
        }
        if let Some(rank) = rank {
            first += f64::from(u8::from(rank == 0));
            third += f64::from(u8::from(rank < 3));
            reciprocal += 1.0 / (rank as f64 + 1.0);
        }
    }
    let count = scenarios.len() as f64;
    let (first, third, mrr) = (first / count, third / count, reciprocal / count);
    print(&Row::new(
        format!("their {count} scenarios over their records"),
        "P@1 0.95, MRR 0.96",
        format!("P@1 {first:.2}, P@3 {third:.2}, MRR {mrr:.3}"),
        first >= 0.95 && mrr >= 0.96,
    ));
    Ok(())
}

/// Every signature as a text: does its record, or one with the identical signature, come first?
pub(crate) fn signatures(subject: &Subject, options: &Options) {
    let (mut first, mut as_match) = (0, 0);
    for record in &subject.records {
        let summary = read(subject, &record.signature);
        let ranked = ranked(&summary);
        let best = ranked
            .first()
            .and_then(|id| subject.records.iter().find(|record| record.id.as_str() == id));
        let right = best.is_some_and(|best| best.signature == record.signature);
        first += usize::from(right);
        as_match += usize::from(right && !summary.matches.is_empty());
        if !right && options.misses {
            eprintln!(
                "signature of {}: {:?}; first {:?}",
                record.id,
                record.signature,
                ranked.get(..2).unwrap_or(&ranked)
            );
        }
    }
    let share = first as f64 / subject.records.len() as f64;
    print(&Row::new(
        format!("own signature at rank 1, all {}", subject.records.len()),
        "0.99",
        format!("{share:.4} ({as_match} of {first} as a match, the rest as a candidate)"),
        share >= 0.99,
    ));
}

pub(crate) fn clean(subject: &Subject, options: &Options) {
    let text = corpus::healthy(20_000_000, 1);
    let summary = read(subject, &text);
    if options.misses {
        for found in &summary.matches {
            let line = found.lines.first().and_then(|line| line.text.as_ref());
            eprintln!(
                "false alarm {} x{}: {:?}",
                found.id,
                found.count,
                line.map(|line| &line.text)
            );
        }
    }
    let measured = format!(
        "{} records match, {} candidates, {} lines",
        summary.matches.len(),
        summary.candidates.len(),
        summary.lines_scanned
    );
    print(&Row::new(
        "20 MB of healthy GPU logs and everyday sentences",
        "no match",
        measured,
        summary.matches.is_empty(),
    ));
}

/// Signatures planted in healthy logs: each on its line, nothing elsewhere.
pub(crate) fn planted(subject: &Subject, options: &Options) {
    // What a record's own signature does not find alone cannot be planted as a match.
    let known: Vec<usize> = (0..subject.records.len())
        .filter(|at| {
            subject.records.get(*at).is_some_and(|record| {
                let alone = read(subject, &record.signature);
                let own = |id: &str| id == record.id.as_str();
                alone.lines_scanned == 1 && alone.matches.iter().any(|found| own(found.id.as_str()))
            })
        })
        .collect();
    let errors: Vec<&str> = known
        .iter()
        .filter_map(|at| Some(subject.records.get(*at)?.signature.as_str()))
        .collect();
    let mut bytes = 10_000;
    while bytes <= options.planted_mb * 1_000_000 {
        // A small log holds some errors too.
        let every = if bytes < 100_000 { 10 } else { 200 };
        let log = corpus::planted(bytes, every, &errors, 7);
        let mut scanner = subject.matcher.scanner(ScanOptions {
            keep_text: false,
            ..ScanOptions::default()
        });
        let mut hits: Vec<(u64, String)> = Vec::new();
        for chunk in log.text.as_bytes().chunks(64 * 1024) {
            collect(scanner.push(chunk), &mut hits);
        }
        let (events, _) = scanner.finish_with_events();
        collect(events, &mut hits);
        hits.sort();
        let mut found = 0;
        for (line, at) in &log.truth {
            let id = known.get(*at).and_then(|at| subject.records.get(*at));
            let wanted = (*line, id.map(|record| record.id.to_string()).unwrap_or_default());
            found += usize::from(hits.binary_search(&wanted).is_ok());
        }
        let elsewhere = hits
            .iter()
            .filter(|(line, _)| log.truth.binary_search_by_key(line, |(line, _)| *line).is_err())
            .count();
        print(&Row::new(
            format!("planted log of {bytes} bytes"),
            "every planted line exact",
            format!("{found} of {} lines, {elsewhere} hits elsewhere", log.truth.len()),
            found == log.truth.len() && elsewhere == 0,
        ));
        bytes *= 10;
    }
}

fn collect(events: Vec<Event>, hits: &mut Vec<(u64, String)>) {
    for event in events {
        if let Event::Hit(hit) = event {
            hits.push((hit.line, hit.record.to_string()));
        }
    }
}

fn read(subject: &Subject, text: &str) -> Summary {
    scan(&subject.matcher, text.as_bytes(), ScanOptions::default())
}

/// The answer as one list of ids.
fn ranked(summary: &Summary) -> Vec<String> {
    let matches = summary.matches.iter().map(|found| found.id.to_string());
    let candidates = summary.candidates.iter().map(|found| found.id.to_string());
    matches.chain(candidates).collect()
}
