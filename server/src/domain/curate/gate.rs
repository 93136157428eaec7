//! The gate in front of what readers see: may these records join a generation?
//!
//! A record must find its own examples and none of its near misses. It must not match a line of a healthy run, nor come
//! before another record on that one's own example, and no pattern of it may be asked of every line or cost too much. What
//! else a text must keep is told by [`super::check_texts`].

use std::collections::BTreeMap;
use std::sync::Arc;

use kb_core::ids::{RecordId, Revision};
use kb_core::matcher::Matcher;
use kb_core::record::{Record, signature_set};
use kb_core::scanner::{Event, Hit, ScanOptions, Summary, scan};
use kb_core::signature::{self, RecordSignatures};
use kb_core::text::{Part, Severity, Violation};
use kb_core::validate::check_record;

use crate::clean::healthy_lines;
use crate::feed::Generation;

/// Bytes read at once.
const PIECE: usize = 256 << 10;
/// Characters of a line that are shown.
const SHOWN: usize = 200;
/// Rules of patterns that keep a record from being published, wherever it comes from.
const LOOSE: [&str; 2] = ["pattern/no-literal", "pattern/too-costly"];
/// Rules about a record's own examples that a draft may break.
const OWN: [&str; 2] = ["misses-example", "near-miss-matches"];
/// Findings of one rule about one record: more say nothing new.
const MOST_OF_RULE: usize = 3;

/// The lines of healthy runs cannot be read, so that the gate can say nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the lines of healthy runs that ship with the program cannot be unpacked")]
pub struct NoHealthyLines;

/// What keeps each of these records from being published beside the generation's own; records without a finding may be.
///
/// This computes; call it off the async threads.
pub fn refused(
    records: &[Record],
    generation: &Generation,
) -> Result<BTreeMap<RecordId, Vec<Violation>>, NoHealthyLines> {
    let lines = healthy_lines().ok_or(NoHealthyLines)?;
    let mut found = costly(records);
    for record in records {
        for mut violation in of_itself(record) {
            violation.severity = Severity::Error;
            note(&mut found, record.id().clone(), violation);
        }
    }
    let (alone, _) = Matcher::build(signatures(records.iter()));
    let alone = Arc::new(alone);
    let healthy = hits(&alone, lines);
    let examples = examples_met(&alone, records, generation);
    if healthy.is_empty() && examples.is_empty() {
        return Ok(found);
    }
    // What other records take back, or need beside them, shows only among all.
    let others = generation.records().map(|published| &published.record);
    let new = |id: &RecordId| records.iter().any(|record| record.id() == id);
    let joined = others.filter(|record| !new(record.id())).chain(records);
    let (all, _) = generation.matcher.rebuild(signatures(joined));
    let all = Arc::new(all);
    if !healthy.is_empty() {
        for hit in hits(&all, lines).into_iter().filter(|hit| new(&hit.record)) {
            let text: String = hit
                .text
                .iter()
                .flat_map(|marked| marked.text.chars())
                .take(SHOWN)
                .collect();
            let reason = format!("{} matches a line of a healthy run: {text:?}", hit.pattern);
            let violation = Violation::error(Part::Document, "", "gate/healthy-line", reason);
            note(
                &mut found,
                hit.record,
                violation.fix("narrow the pattern, so that it needs words of the error itself"),
            );
        }
    }
    for (owner, text) in examples {
        let before = first(&generation.matcher, text);
        let now = first(&all, text);
        if let (Some(before), Some(now)) = (before, now)
            && before == owner
            && now != owner
            && new(&now)
        {
            let shown: String = text.chars().take(SHOWN).collect();
            let reason = format!("it comes before {owner} on that record's own example: {shown:?}");
            let violation = Violation::error(Part::Document, "", "gate/others-example", reason);
            note(
                &mut found,
                now,
                violation.fix("make the pattern more specific, or change the other record"),
            );
        }
    }
    Ok(found)
}

/// Its own examples that it does not find, and its near misses that it does: warnings of a draft.
fn of_itself(record: &Record) -> impl Iterator<Item = Violation> {
    let all = check_record(Some(record.id()), &record.document_text, &record.annex_text);
    all.into_iter().filter(|found| OWN.contains(&found.rule))
}

/// Patterns that each line would have to be asked, or that cost too much. Records that come from elsewhere have such;
/// one that cannot be compiled takes nothing, and is told by its rules.
fn costly(records: &[Record]) -> BTreeMap<RecordId, Vec<Violation>> {
    let mut found = BTreeMap::new();
    for record in records {
        for spec in record.signatures(Revision(1)).patterns {
            match signature::check(&spec) {
                Err(error) if LOOSE.contains(&error.rule) => {
                    let reason = format!("pattern {}: {}", spec.id, error.reason);
                    let violation = Violation::error(Part::Document, "/regex", error.rule, reason);
                    note(&mut found, record.id().clone(), violation.fix(error.help));
                }
                Err(_) | Ok(_) => {}
            }
        }
    }
    found
}

fn note(found: &mut BTreeMap<RecordId, Vec<Violation>>, record: RecordId, violation: Violation) {
    let of_record = found.entry(record).or_default();
    let same = of_record.iter().filter(|known| known.rule == violation.rule);
    if same.count() < MOST_OF_RULE {
        of_record.push(violation);
    }
}

fn signatures<'r>(records: impl Iterator<Item = &'r Record>) -> Vec<RecordSignatures> {
    signature_set(records.map(|record| (record, Revision(1))))
}

/// Hits of the records that stand in the answer.
fn hits(matcher: &Arc<Matcher>, text: &str) -> Vec<Hit> {
    let mut scanner = matcher.scanner(ScanOptions::default());
    let mut events = Vec::new();
    for piece in text.as_bytes().chunks(PIECE) {
        events.extend(scanner.push(piece));
    }
    let (last, summary) = scanner.finish_with_events();
    let stands = |hit: &Hit| summary.matches.iter().any(|found| found.id == hit.record);
    let hits = events.into_iter().chain(last).filter_map(|event| match event {
        Event::Hit(hit) => Some(hit),
        _ => None,
    });
    hits.filter(stands).collect()
}

/// Examples of other records that the new ones match by themselves.
fn examples_met<'g>(
    alone: &Arc<Matcher>,
    records: &[Record],
    generation: &'g Generation,
) -> Vec<(RecordId, &'g str)> {
    let is_new = |id: &RecordId| records.iter().any(|record| record.id() == id);
    let others = generation.records().filter(|published| !is_new(published.id()));
    let examples = others.flat_map(|published| {
        let of_record = published.record.annex.examples.iter();
        of_record.map(|example| (published.id().clone(), example.text.as_str()))
    });
    examples
        .filter(|(_, text)| !read(alone, text).matches.is_empty())
        .collect()
}

fn first(matcher: &Arc<Matcher>, text: &str) -> Option<RecordId> {
    read(matcher, text).matches.first().map(|found| found.id.clone())
}

fn read(matcher: &Arc<Matcher>, text: &str) -> Summary {
    scan(matcher, text.as_bytes(), ScanOptions::default())
}
