//! The gate in front of what readers see: may these records join a generation?
//!
//! A record must find its own examples and none of its near misses. It must not match a line of a healthy run, nor come
//! before another record on that one's own example, and no pattern of it may be asked of every line or cost too much. What
//! else a text must keep is told by [`super::check_texts`].

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
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
/// New records that are asked together: few enough that no line has more hits than an answer holds.
const ASKED_TOGETHER: usize = 50;
/// Lines of healthy runs about which records are asked among all others.
const MOST_LINES_ASKED: usize = 500;
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
    let others = || generation.records().map(|published| &published.record);
    let new = |id: &RecordId| records.iter().any(|record| record.id() == id);
    // Made only where a record matches anything that is not its own.
    let all = LazyCell::new(|| {
        let joined = others().filter(|record| !new(record.id())).chain(records);
        let (all, _) = generation.matcher.rebuild(signatures(joined));
        Arc::new(all)
    });
    for some in records.chunks(ASKED_TOGETHER) {
        let together = signatures(some.iter());
        let mut healthy = Healthy::of(&together, lines);
        let (alone, _) = Matcher::build(together);
        let alone = Arc::new(alone);
        each_hit(&alone, lines, |hit| healthy.take(hit, &all));
        for (record, violation) in healthy.found {
            note(&mut found, record, violation);
        }
        let published = others().filter(|record| !new(record.id()));
        for owner in published.chain(records) {
            let before = (!new(owner.id())).then_some(&generation.matcher);
            for example in &owner.annex.examples {
                if let Some((violation, record)) =
                    displaced(&alone, (before, &all), owner.id(), &example.text)
                {
                    note(&mut found, record, violation);
                }
            }
        }
    }
    Ok(found)
}

/// Records that match lines of healthy runs.
///
/// Lines are judged one by one: those that ship are of many machines, and nothing on one says anything about another. A
/// record that depends on others (`only_with`, `cancels`, …) or on the device is asked among all records about the line
/// alone; any other is refused by its hit.
struct Healthy<'t> {
    lines: &'t str,
    /// Records that depend on what stands beside them.
    depend: BTreeSet<RecordId>,
    /// Lines that may still be asked about among all records.
    left: usize,
    found: Vec<(RecordId, Violation)>,
}

impl<'t> Healthy<'t> {
    fn of(records: &[RecordSignatures], lines: &'t str) -> Self {
        let depends = |record: &&RecordSignatures| {
            record.only_alone
                || !record.only_with.is_empty()
                || !record.cancels.is_empty()
                || !record.of_gpu.is_empty()
                || !record.not_of_others.is_empty()
        };
        Self {
            lines,
            depend: records
                .iter()
                .filter(depends)
                .map(|record| record.id.clone())
                .collect(),
            left: MOST_LINES_ASKED,
            found: Vec::new(),
        }
    }

    fn take(&mut self, hit: Hit, all: &impl Deref<Target = Arc<Matcher>>) {
        let known = self.found.iter().filter(|(record, _)| *record == hit.record);
        if known.count() >= MOST_OF_RULE {
            return;
        }
        let line = lines_of(self.lines, &hit);
        let text: String = line.chars().take(SHOWN).collect();
        let reason = if !self.depend.contains(&hit.record) {
            format!("{} matches a line of a healthy run: {text:?}", hit.pattern)
        } else if self.left == 0 {
            format!("it matches more lines of healthy runs than are asked about one by one, such as {text:?}")
        } else {
            self.left -= 1;
            if !read(all, line).matches.iter().any(|found| found.id == hit.record) {
                return;
            }
            format!("{} matches a line of a healthy run: {text:?}", hit.pattern)
        };
        let violation = Violation::error(Part::Document, "", "gate/healthy-line", reason);
        let fix = "narrow the pattern, so that it needs words of the error itself";
        self.found.push((hit.record, violation.fix(fix)));
    }
}

/// Whether one of the asked records keeps an example from being answered first by the record that has it, and which.
fn displaced(
    alone: &Arc<Matcher>,
    (before, all): (Option<&Arc<Matcher>>, &impl Deref<Target = Arc<Matcher>>),
    owner: &RecordId,
    text: &str,
) -> Option<(Violation, RecordId)> {
    let mut hits = BTreeSet::new();
    each_hit(alone, text, |hit| {
        hits.insert(hit.record);
    });
    hits.remove(owner);
    let new = hits.first()?;
    if before.is_some_and(|before| first(before, text).as_ref() != Some(owner)) {
        return None;
    }
    let now = first(all, text);
    if now.as_ref() == Some(owner) {
        return None;
    }
    let shown: String = text.chars().take(SHOWN).collect();
    let reason = format!("with it, {owner} is no longer the first answer to its own example: {shown:?}");
    let violation = Violation::error(Part::Document, "", "gate/others-example", reason);
    let fix = "make the pattern more specific, or change the other record";
    // The record that comes first now, if it is one of the asked; else any of them that matches.
    let blamed = now
        .filter(|now| hits.contains(now))
        .unwrap_or_else(|| new.clone());
    Some((violation.fix(fix), blamed))
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

/// All hits of a text, before what records say of each other is applied.
fn each_hit(matcher: &Arc<Matcher>, text: &str, mut take: impl FnMut(Hit)) {
    let mut take = |events: Vec<Event>| {
        for event in events {
            if let Event::Hit(hit) = event {
                take(hit);
            }
        }
    };
    let mut scanner = matcher.scanner(ScanOptions::default());
    for piece in text.as_bytes().chunks(PIECE) {
        take(scanner.push(piece));
    }
    take(scanner.finish_with_events().0);
}

/// The whole lines on which a hit stands.
fn lines_of<'t>(text: &'t str, hit: &Hit) -> &'t str {
    let place = |byte: u64| usize::try_from(byte).unwrap_or(text.len()).min(text.len());
    let (from, to) = (place(hit.start), place(hit.end));
    let before = text.get(..from).and_then(|before| before.rfind('\n'));
    let after = text.get(to..).and_then(|after| after.find('\n'));
    let start = before.map_or(0, |at| at + 1);
    let end = after.map_or(text.len(), |at| to + at);
    text.get(start..end).unwrap_or(text)
}

fn first(matcher: &Arc<Matcher>, text: &str) -> Option<RecordId> {
    read(matcher, text).matches.first().map(|found| found.id.clone())
}

fn read(matcher: &Arc<Matcher>, text: &str) -> Summary {
    scan(matcher, text.as_bytes(), ScanOptions::default())
}

#[cfg(test)]
mod tests;
