//! The gate in front of what readers see: may these records join a generation?
//!
//! A record must find its own examples and none of its near misses. It must not match a line of a healthy run, nor be shown as a
//! possible meaning of more than five such lines, nor come before another record on that one's own texts or on the driver's lines with its number, nor stand in those of many, and no pattern of it may be asked of every line,
//! ask for next to nothing or cost too much. What else a text must keep is told by [`super::check_texts`].

mod healthy;
mod loose;
mod numbered;
mod others;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kb_core::ids::{RecordId, Revision};
use kb_core::matcher::Matcher;
use kb_core::record::{Record, signature_set};
use kb_core::scanner::{Event, Hit, ScanOptions, Summary, scan};
use kb_core::signature::{self, RecordSignatures};
use kb_core::text::{Severity, Violation};
use kb_core::validate::check_record;

use crate::clean::healthy_lines;
use crate::feed::Generation;
use healthy::Healthy;
use loose::loose;
pub use loose::loose_pattern;
use others::{Others, Owner};

const PIECE: usize = 256 << 10;
/// Characters of a line that are shown.
const SHOWN: usize = 200;
/// Rules about a record's own examples that a draft may break.
const OWN: [&str; 2] = ["misses-example", "near-miss-matches"];
/// New records that are asked together: few enough that no line has more hits than an answer holds.
const ASKED_TOGETHER: usize = 50;
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
    refused_without(records, &BTreeSet::new(), generation)
}

/// The same once some records of the generation are no longer there: what takes their place is not held against them.
pub fn refused_without(
    records: &[Record],
    gone: &BTreeSet<RecordId>,
    generation: &Generation,
) -> Result<BTreeMap<RecordId, Vec<Violation>>, NoHealthyLines> {
    let lines = healthy_lines().ok_or(NoHealthyLines)?;
    let mut found = BTreeMap::new();
    for record in records {
        let own = of_itself(record).map(|violation| Violation {
            severity: Severity::Error,
            ..violation
        });
        for violation in loose(record).into_iter().chain(own) {
            note(&mut found, record.id().clone(), violation);
        }
    }
    let ids: BTreeSet<&RecordId> = records.iter().map(Record::id).collect();
    let others = || {
        let others = generation.records().map(|published| &published.record);
        others.filter(|record| !ids.contains(record.id()) && !gone.contains(record.id()))
    };
    // Made only where a record matches anything that is not its own.
    let all = LazyCell::new(|| {
        let mut joined = signatures(others());
        joined.extend(each_alternative(signatures(records.iter())));
        let (all, _) = generation.matcher.rebuild(joined);
        Arc::new(all)
    });
    for some in records.chunks(ASKED_TOGETHER) {
        let together = signatures(some.iter());
        let mut healthy = Healthy::of(&together, lines);
        let (whole, _) = Matcher::build(together.clone());
        let possible = ScanOptions {
            report_candidates: true,
            ..ScanOptions::default()
        };
        each_event(&Arc::new(whole), lines, possible, |event| match event {
            Event::Hit(hit) => healthy.take(hit, &all),
            Event::Candidate(hit) => healthy.take_possible(hit),
            _ => {}
        });
        let (alone, _) = Matcher::build(each_alternative(together));
        let alone = Arc::new(alone);
        for (record, violation) in healthy.found {
            note(&mut found, record, violation);
        }
        let mut taken = Others::new(some, &alone, &generation.matcher, &all);
        let owners = others().map(|record| Owner {
            record,
            is_new: false,
            is_published: true,
        });
        let new = records.iter().map(|record| Owner {
            record,
            is_new: true,
            is_published: generation.record(record.id()).is_some(),
        });
        for owner in owners.chain(new) {
            taken.ask(owner, |record, violation| note(&mut found, record, violation));
        }
        for (record, violation) in taken.common() {
            note(&mut found, record, violation);
        }
    }
    Ok(found)
}

/// Its own examples that it does not find, and its near misses that it does: warnings of a draft.
fn of_itself(record: &Record) -> impl Iterator<Item = Violation> {
    let all = check_record(Some(record.id()), &record.document_text, &record.annex_text);
    all.into_iter().filter(|found| OWN.contains(&found.rule))
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

/// The records with each alternative of a pattern as one more pattern: what a whole pattern explains of a text is weighed by all
/// of its alternatives, and a bad one would hide behind a good one.
fn each_alternative(mut records: Vec<RecordSignatures>) -> Vec<RecordSignatures> {
    for record in &mut records {
        let alternatives = record.patterns.iter().flat_map(signature::branches);
        let alternatives: Vec<_> = alternatives
            .filter(|spec| signature::check(spec).is_ok())
            .collect();
        record.patterns.extend(alternatives);
    }
    records
}

pub(super) fn each_hit(matcher: &Arc<Matcher>, text: &str, mut take: impl FnMut(Hit)) {
    each_event(matcher, text, ScanOptions::default(), |event| {
        if let Event::Hit(hit) = event {
            take(hit);
        }
    });
}

fn each_event(matcher: &Arc<Matcher>, text: &str, options: ScanOptions, mut take: impl FnMut(Event)) {
    let mut scanner = matcher.scanner(options);
    for piece in text.as_bytes().chunks(PIECE) {
        scanner.push(piece).into_iter().for_each(&mut take);
    }
    scanner.finish_with_events().0.into_iter().for_each(take);
}

fn read(matcher: &Arc<Matcher>, text: &str) -> Summary {
    scan(matcher, text.as_bytes(), ScanOptions::default())
}

#[cfg(test)]
mod tests;
