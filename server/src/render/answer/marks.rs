//! Which lines of a text are marked: where faults stand, and what no record explains.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::scanner::{Marked, Unexplained};

use super::faults::Fault;
use super::unknown::Unknown;
use crate::domain::hits::Hits;
use crate::domain::lookup::MatchAnswer;
use crate::domain::shared::{Line, Shared};

#[derive(Debug)]
pub(super) struct Marks {
    /// Line and fault, in order.
    hits: Vec<(u64, usize)>,
    /// Lines that rows of faults lead to.
    pub(super) firsts: BTreeSet<u64>,
    pub(super) matched: BTreeMap<u64, Matched>,
    pub(super) unknown: Unknown,
}

/// A line of the text, and what of it matched, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Matched {
    pub(super) text: String,
    pub(super) span: (usize, usize),
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            hits: Vec::new(),
            firsts: BTreeSet::new(),
            matched: BTreeMap::new(),
            unknown: Unknown::NotLooked,
        }
    }
}

impl Marks {
    pub(super) fn of(answer: &MatchAnswer, faults: &[Fault], hits: &Hits) -> Self {
        let mut marks = Self::default();
        for fault in faults {
            marks.add_hit(fault.line, fault.number);
            for line in hits.of(&fault.id).into_iter().flat_map(|of| &of.lines) {
                marks.add_hit(*line, fault.number);
            }
            let found = answer.matches.iter().find(|found| found.id == fault.id);
            for line in found.into_iter().flat_map(|found| &found.lines) {
                marks.add_matched(fault.number, line.line, line.text.as_ref());
                for part in &line.parts {
                    marks.add_matched(fault.number, part.line, part.text.as_ref());
                }
            }
        }
        marks.sort();
        marks
    }

    pub(super) fn add_hit(&mut self, line: u64, fault: usize) {
        self.hits.push((line, fault));
    }

    pub(super) fn sort(&mut self) {
        self.hits.sort_unstable();
        self.hits.dedup();
    }

    fn add_matched(&mut self, fault: usize, line: u64, text: Option<&Marked>) {
        self.add_hit(line, fault);
        if let Some(text) = text {
            self.matched.entry(line).or_insert_with(|| Matched {
                text: text.text.clone(),
                span: (text.mark_start as usize, text.mark_end as usize),
            });
        }
    }

    /// Takes what the form calls unknown, and what this server does not explain of the lines: forms are written by anybody. Of lines that
    /// are not shared it knows nothing.
    pub(super) fn take_unknown(&mut self, shared: &Shared, found: Option<&Unexplained>) {
        let found_on = found.into_iter().flat_map(|found| &found.lines);
        let found_on: BTreeSet<u64> = found_on.map(|line| line.line).collect();
        let is_unknown = |line: &&Line| line.is_unknown || found_on.contains(&line.number);
        let unknown = shared.marked.iter().filter(is_unknown);
        let mut numbers = BTreeSet::new();
        for line in unknown {
            numbers.insert(line.number);
            self.matched.entry(line.number).or_insert_with(|| Matched {
                text: line.text.clone(),
                span: (0, 0),
            });
        }
        self.unknown = Unknown::Lines {
            numbers,
            are_more: found.is_some_and(|found| found.are_more),
        };
    }

    /// Line and fault, in order.
    pub(super) fn hits(&self) -> impl Iterator<Item = (u64, usize)> {
        self.hits.iter().copied()
    }

    pub(super) fn is_hit(&self, line: u64) -> bool {
        self.faults_on(line).next().is_some()
    }

    pub(super) fn faults_on(&self, line: u64) -> impl Iterator<Item = usize> {
        let from = self.hits.partition_point(|(other, _)| *other < line);
        let here = self.hits.get(from..).unwrap_or_default().iter();
        here.take_while(move |(other, _)| *other == line)
            .map(|(_, fault)| *fault)
    }

    /// Lines on which a fault stands, from one line up to before another.
    pub(super) fn hits_between(&self, from: u64, to: u64) -> u64 {
        let begin = self.hits.partition_point(|(line, _)| *line < from);
        let end = self.hits.partition_point(|(line, _)| *line < to);
        let between = self.hits.get(begin..end).unwrap_or_default();
        let mut lines: Vec<u64> = between.iter().map(|(line, _)| *line).collect();
        lines.dedup();
        lines.len() as u64
    }
}
