//! Examples planted in healthy logs: each on its line, and silence elsewhere.

use std::collections::BTreeSet;

use kb_core::ids::RecordId;
use serde_json::{Value, json};

use super::examples;
use crate::bench::matching::corpus::{healthy, planted};
use crate::eval::ask::{ask, first_few};
use crate::eval::knowledge::Knowledge;
use crate::eval::report::Report;

/// One planted line among so many, on average.
const EVERY: usize = 200;

pub(crate) fn judge(knowledge: &Knowledge, large: bool, report: &mut Report) {
    // What an example does not find alone cannot be found on its line either: that is counted elsewhere.
    let single = examples(&knowledge.generation).filter(|example| !example.text.contains('\n'));
    let known: Vec<(RecordId, &str)> = single
        .filter(|example| {
            ask(&knowledge.generation, example.text.as_bytes())
                .matches
                .contains(example.record)
        })
        .map(|example| (example.record.clone(), example.text))
        .collect();
    let texts: Vec<&str> = known.iter().map(|(_, text)| *text).collect();
    if texts.is_empty() {
        return;
    }
    let mut table =
        "| log | planted | found on their line | hits elsewhere |\n| --: | --: | --: | --: |\n".to_owned();
    let mut rows: Vec<Value> = Vec::new();
    let mut all_exact = true;
    let mut bytes = 10_000;
    while bytes <= if large { 100_000_000 } else { 10_000_000 } {
        let log = planted(bytes, EVERY, &texts, 7);
        let answer = ask(&knowledge.generation, log.text.as_bytes());
        let hits: BTreeSet<(u64, RecordId)> = answer.hits.into_iter().collect();
        let lines: BTreeSet<u64> = log.truth.iter().map(|(line, _)| *line).collect();
        let mut found = 0;
        for (line, at) in &log.truth {
            let id = known.get(*at).map(|(id, _)| id.clone());
            let is_found = id.is_some_and(|id| hits.contains(&(*line, id)));
            found += usize::from(is_found);
            if !is_found {
                let text = texts.get(*at).copied().unwrap_or_default();
                report.miss(format!("planted in {bytes} bytes, line {line}: {text}"));
            }
        }
        let elsewhere = hits.iter().filter(|(line, _)| !lines.contains(line)).count();
        let count = log.truth.len();
        all_exact &= found == count && elsewhere == 0;
        table.push_str(&format!("| {bytes} bytes | {count} | {found} | {elsewhere} |\n"));
        rows.push(json!({ "bytes": bytes, "planted": count, "found": found, "elsewhere": elsewhere }));
        bytes *= 10;
    }
    report.bar(
        "planted lines",
        "every one exact, nothing elsewhere",
        if all_exact { "exact" } else { "not exact" }.to_owned(),
        all_exact,
    );
    report.table("planted", "Planted logs", &table, rows.into());
}

/// Healthy lines only.
pub(crate) fn clean(knowledge: &Knowledge, large: bool, report: &mut Report) {
    let bytes = if large { 100_000_000 } else { 20_000_000 };
    let answer = ask(&knowledge.generation, healthy(bytes, 11).as_bytes());
    let alarms = answer.matches.len();
    if alarms > 0 {
        report.miss(format!("healthy lines: {}", first_few(&answer.matches)));
    }
    report.bar(
        format!("{} MB of healthy lines", bytes / 1_000_000),
        "no match",
        format!("{alarms} records"),
        alarms == 0,
    );
}
