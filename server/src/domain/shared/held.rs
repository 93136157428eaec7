//! A shared answer held against the records of this server. What is shared comes with a form, which anybody may write: a log is also
//! read in the tab of a browser. What is named is named by whoever shares; here its lines are matched again.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::ids::RecordId;
use kb_core::scanner::{
    Applies, Event, Match, Order, RootCause, ScanOptions, Summary, Unexplained, UnexplainedLine, UnknownCause,
};

use super::Shared;
use super::answer::now;
use super::make::unnamed;
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
    /// Whether the records that it finds apply to the environment.
    pub(super) applies: BTreeMap<RecordId, Applies>,
    pub(super) causes: Vec<RootCause>,
    pub(super) order: Order,
    /// The error without a record that ended a program.
    pub(super) unknown_cause: Option<UnknownCause>,
    /// Lines that look like errors and that no record explains.
    pub(super) unexplained: Option<Unexplained>,
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
        let mut held = Held {
            applies: summary
                .matches
                .iter()
                .map(|found| (found.id.clone(), found.applies))
                .collect(),
            causes: causes(&summary, real),
            order: summary.order,
            unknown_cause: unknown_cause(&summary, real),
            unexplained: self.unexplained(&summary, real),
            ..Held::default()
        };
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

    /// With what a program itself reported, where the form names no such error.
    fn unexplained(&self, summary: &Summary, real: impl Fn(u64) -> Option<u64>) -> Option<Unexplained> {
        let found = summary.unexplained.as_ref();
        let of_program = summary.unknown_cause.as_ref();
        let of_program = of_program.filter(|_| self.unknown_cause.is_none());
        let lines = found.into_iter().flat_map(|found| &found.lines);
        let lines = lines
            .map(|line| line.line)
            .chain(of_program.map(|unknown| unknown.line));
        let numbers: BTreeSet<u64> = lines.filter_map(real).collect();
        let are_more = found.is_some_and(|found| found.are_more);
        let told = |line: u64| UnexplainedLine { line, text: None };
        (are_more || !numbers.is_empty()).then(|| Unexplained {
            lines: numbers.into_iter().map(told).collect(),
            are_more,
        })
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

fn unknown_cause(summary: &Summary, real: impl Fn(u64) -> Option<u64>) -> Option<UnknownCause> {
    let unknown = summary.unknown_cause.as_ref()?;
    // A gap has no number.
    let line = real(unknown.line).filter(|line| *line > 0)?;
    Some(UnknownCause {
        line,
        ..unnamed(unknown)
    })
}

/// The first causes with the numbers that their lines have in the text.
fn causes(summary: &Summary, real: impl Fn(u64) -> Option<u64>) -> Vec<RootCause> {
    let of_text = |cause: &RootCause| {
        Some(RootCause {
            id: cause.id.clone(),
            line: real(cause.line)?,
            captures: BTreeMap::new(),
            host: None,
            chain: cause.chain.clone(),
            why: String::new(),
            behind_line: None,
        })
    };
    summary.root_causes.iter().filter_map(of_text).collect()
}
