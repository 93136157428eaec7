//! How often the logs of a report tell of each record, for rules with a count: where no ledger counts, the lines do.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use kb_core::ids::RecordId;
use kb_core::observation::read_line;
use kb_core::policy::{Policy, Seen};
use kb_core::report::Report;
use kb_core::scanner::{Event, ScanOptions};

use super::logs::PIECE_BYTES;
use crate::feed::Generation;

/// Read once, when it is asked first.
pub(in crate::domain) struct Counted<'r> {
    generation: &'r Generation,
    report: &'r Report,
    seen: OnceCell<BTreeMap<RecordId, Vec<Seen>>>,
}

impl<'r> Counted<'r> {
    pub(in crate::domain) fn of(generation: &'r Generation, report: &'r Report) -> Self {
        Self {
            generation,
            report,
            seen: OnceCell::new(),
        }
    }

    /// What each log tells of the record on each device; nothing where no rule counts.
    pub(super) fn seen(&self, record: &RecordId, policy: &Policy) -> &[Seen] {
        if policy.rules.iter().all(|rule| rule.count.is_none()) {
            return &[];
        }
        let seen = self.seen.get_or_init(|| count(self.generation, self.report));
        seen.get(record).map_or(&[], Vec::as_slice)
    }
}

fn count(generation: &Generation, report: &Report) -> BTreeMap<RecordId, Vec<Seen>> {
    // What was written before the run and during it is one log; two logs may hold the same line.
    let mut places: BTreeMap<RecordId, BTreeMap<(&str, String), Seen>> = BTreeMap::new();
    for log in &report.logs {
        let mut scanner = generation.matcher.scanner(ScanOptions::default());
        let mut note = |events: Vec<Event>| {
            for event in events {
                let Event::Hit(hit) = event else { continue };
                let line = hit.text.map(|marked| marked.text).unwrap_or_default();
                let device = read_line(&line).map(|event| event.device).unwrap_or_default();
                let of_record = places.entry(hit.record).or_default();
                of_record
                    .entry((log.source.as_str(), device))
                    .or_default()
                    .note(&line);
            }
        };
        for piece in log.text.as_bytes().chunks(PIECE_BYTES) {
            note(scanner.push(piece));
        }
        let (last, _) = scanner.finish_with_events();
        note(last);
    }
    let seen = places.into_iter();
    seen.map(|(record, places)| (record, places.into_values().collect()))
        .collect()
}
