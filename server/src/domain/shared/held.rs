//! A shared answer held against the records of this server. What is shared comes with a form, which anybody may write: a log is also
//! read in the tab of a browser. What is named is named by whoever shares; here its lines are matched again.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::ids::RecordId;
use kb_core::scanner::{Event, Match, ScanOptions};

use super::Shared;
use super::answer::now;
use crate::domain::lookup::check_environment;
use crate::feed::Generation;

/// Empty lines that stand for a gap: no signature goes over more lines than that.
const MOST_EMPTY: u64 = 256;

/// What this server finds on the shown lines. Ids are those of today.
#[derive(Debug, Default)]
pub struct Held {
    /// Records that are named for lines on which this server does not find them, with these lines.
    pub unconfirmed: BTreeMap<RecordId, Vec<u64>>,
    /// Errors that it finds there and that were not named.
    pub unnamed: Vec<Match>,
    /// Records that it calls harmless there.
    pub(super) harmless: BTreeSet<RecordId>,
}

impl Shared {
    /// This computes; call it off the async threads.
    pub fn held(&self, generation: &Generation) -> Held {
        let (text, numbers) = self.as_text();
        let real = |line: u64| {
            usize::try_from(line)
                .ok()
                .and_then(|at| numbers.get(at.checked_sub(1)?))
                .copied()
        };
        let given = self.environment.iter();
        let mut environment: BTreeMap<String, String> = given
            .map(|known| (known.component.clone(), known.value.clone()))
            .collect();
        if check_environment(generation, &environment).is_err() {
            environment.clear();
        }
        let mut scanner = generation.matcher.scanner(ScanOptions {
            environment,
            keep_text: false,
            report_candidates: false,
        });
        let mut events = scanner.push(text.as_bytes());
        let (last, summary) = scanner.finish_with_events();
        events.extend(last);
        let mut on: BTreeMap<RecordId, BTreeSet<u64>> = BTreeMap::new();
        for event in events {
            let Event::Hit(hit) = event else { continue };
            let parts = hit.parts.iter().map(|part| part.line);
            let lines = parts.chain([hit.line]).filter_map(real);
            on.entry(hit.record).or_default().extend(lines);
        }
        // A line may hold what another record makes no match of.
        on.retain(|id, _| summary.matches.iter().any(|found| found.id == *id));
        let mut held = Held::default();
        for fault in &self.faults {
            let id = now(generation, &fault.id);
            let there = on.get(id);
            let is_there = |line: &u64| there.is_some_and(|there| there.contains(line));
            let missing: Vec<u64> = fault
                .lines
                .iter()
                .copied()
                .filter(|line| !is_there(line))
                .collect();
            if there.is_none() || !missing.is_empty() {
                held.unconfirmed.entry(id.clone()).or_default().extend(missing);
            }
        }
        for mut found in summary.matches {
            if found.harmless {
                held.harmless.insert(found.id);
            } else if self
                .faults
                .iter()
                .all(|fault| *now(generation, &fault.id) != found.id)
            {
                let lines = found.lines.iter().filter_map(|line| real(line.line));
                found.lines = lines.map(|number| self.line(number)).collect();
                found.folds.clear();
                held.unnamed.push(found);
            }
        }
        held
    }

    /// The shown lines in their order, with what stands for the others, and the number of each.
    fn as_text(&self) -> (String, Vec<u64>) {
        let (mut text, mut numbers, mut last) = (String::new(), Vec::new(), 0);
        for line in &self.marked {
            let gap = line.number.saturating_sub(last).saturating_sub(1).min(MOST_EMPTY);
            let gap = usize::try_from(gap).unwrap_or_default();
            text.extend(std::iter::repeat_n('\n', gap));
            numbers.extend(std::iter::repeat_n(0, gap));
            // One line stays one, whatever the form holds.
            text.push_str(&line.text.replace(['\n', '\r'], " "));
            text.push('\n');
            numbers.push(line.number);
            last = line.number;
        }
        (text, numbers)
    }
}
