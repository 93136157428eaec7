//! Hits counted by record and, within it, by captured values. Everything here is capped; what a cap leaves out is counted.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::clock::{Clocks, Moment};
use super::crowd::Crowded;
use super::dmon::Tables;
use super::error_lines::ErrorLines;
use super::lines::{End, size};
use super::raised::Raised;
use super::score::Score;
use super::sequence::MAX_LINES_APART;
use super::stated::Stated;
use super::summary::Fold;
use super::unexplained::UnexplainedXids;
use super::{HEAD_BYTES, MatchedLine};
use crate::signature::MAX_PARTS;

/// Distinct captured values told apart for one record.
pub const MAX_FOLDS_OF_RECORD: usize = 64;
/// The same for all records of a text together: each takes about a kilobyte, of each text that is read at the time.
pub const MAX_FOLDS: usize = 2_048;
/// What a record takes while its text is read and while the answer is made: its tally, four lines with text and values, and
/// their copies in the answer, in bytes. Lines of 150 bytes with one value take about half of it.
const RECORD_BYTES: usize = 8 << 10;
/// The same of a fold, in bytes.
const FOLD_BYTES: usize = 2 << 10;
pub(super) const MAX_CANDIDATES: usize = 100;
/// Hits of a record that are scored even if their captured values are not new.
const MAX_SCORED: u64 = 16;
/// First lines kept of a record and of a fold; the last is kept besides.
const FIRST_LINES: usize = 3;
/// Furthest that the first line of several stands behind the last, in lines.
const MAX_REACH: u64 = MAX_LINES_APART * (MAX_PARTS as u64 - 1);

type Captures = BTreeMap<String, String>;

#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) moment: Option<Moment>,
}

pub(super) struct Seen<'a> {
    pub(super) end: &'a End,
    pub(super) broken: &'a [u32],
    pub(super) clocks: &'a Clocks,
    /// Signatures of several lines that were begun and given up for want of room.
    pub(super) given_up: u64,
    pub(super) stated: &'a Stated,
    pub(super) unexplained: &'a UnexplainedXids,
    pub(super) tables: &'a Tables,
    pub(super) raised: &'a Raised,
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Boxed, for they are sorted in several ways.
    pub(super) records: FxHashMap<u32, Box<RecordTally>>,
    pub(super) candidates: FxHashMap<u32, CandidateTally>,
    /// Records that would be harmless if the driver did not call one of their lines fatal.
    pub(super) fatal: FxHashSet<u32>,
    pub(super) dropped_candidates: u64,
    pub(super) crowded: Crowded,
    pub(super) error_lines: ErrorLines,
    folds: usize,
}

#[derive(Debug)]
pub(super) struct RecordTally {
    pub(super) count: u64,
    pub(super) overflow: u64,
    pub(super) first: Vec<MatchedLine>,
    pub(super) last: Option<MatchedLine>,
    /// So few that values chosen to share a hash slow nothing down.
    folds: FxHashMap<Captures, FoldTally>,
    pub(super) best: Best,
    /// The hits in time, for each clock; at most as many as there are clocks.
    pub(super) times: Vec<TimeSpan>,
    /// A hit has no time, or its clock is one too many.
    pub(super) untimed: bool,
    counted: Counted,
}

/// Lines on which a record was counted, so that what is found late, over several lines, does not count them again.
/// All of a text that may be read once more for cut lines, else the last [`MAX_REACH`]; in order.
#[derive(Debug, Default)]
struct Counted(VecDeque<u64>);

#[derive(Debug)]
struct FoldTally {
    count: u64,
    first: Vec<u64>,
    last: u64,
}

#[derive(Debug)]
pub(super) struct Best {
    pub(super) score: Score,
    pub(super) signal: u32,
    pub(super) line: u64,
    pub(super) captures: Captures,
}

#[derive(Debug, Clone)]
pub(super) struct TimeSpan {
    pub(super) clock: usize,
    /// When the earliest hit was written, in microseconds of that clock.
    pub(super) first: i64,
    /// The same of the latest.
    pub(super) last: i64,
    /// Line and values of the earliest.
    pub(super) line: u64,
    pub(super) captures: Captures,
}

impl TimeSpan {
    /// Microseconds between the hits of two records on one clock; 0 where the one's stand among the other's.
    pub(super) fn apart(&self, other: &Self) -> u64 {
        if self.first <= other.last && other.first <= self.last {
            return 0;
        }
        let behind = other.first.abs_diff(self.last);
        behind.min(self.first.abs_diff(other.last))
    }
}

#[derive(Debug)]
pub(super) struct CandidateTally {
    pub(super) count: u64,
    pub(super) first: MatchedLine,
    pub(super) score: Score,
    pub(super) signal: u32,
}

impl Tally {
    /// About what was found takes in memory until it is answered, in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        (self.records.len() + self.candidates.len()) * RECORD_BYTES
            + self.folds * FOLD_BYTES
            + self.error_lines.memory_usage()
    }

    pub(super) fn add(
        &mut self,
        matched: MatchedLine,
        place: Place,
        record: u32,
        signal: u32,
        score: impl FnOnce() -> Score,
    ) {
        let begin = || RecordTally {
            count: 0,
            overflow: 0,
            first: Vec::new(),
            last: None,
            folds: FxHashMap::default(),
            best: Best {
                score: Score {
                    value: -1.0,
                    share: 0.0,
                    whole_signature: false,
                },
                signal,
                line: place.line,
                captures: Captures::new(),
            },
            times: Vec::new(),
            untimed: false,
            counted: Counted::default(),
        };
        self.error_lines.explain(matched.line, record);
        for part in &matched.parts {
            self.error_lines.explain(part.line, record);
        }
        let tally = self.records.entry(record).or_insert_with(|| Box::new(begin()));
        tally.count += 1;
        tally.counted.note(&matched);
        let is_new = tally.fold(&matched, &mut self.folds);
        if is_new || tally.count <= MAX_SCORED {
            tally.improve(score(), signal, place.line, &matched.captures);
        }
        tally.note_time(place, &matched.captures);
        tally.keep(matched);
    }

    pub(super) fn stands_on(&self, record: u32, mut lines: impl Iterator<Item = u64>) -> bool {
        let tally = self.records.get(&record);
        tally.is_some_and(|tally| lines.any(|line| tally.counted.contains(line)))
    }

    pub(super) fn improve(
        &mut self,
        record: u32,
        signal: u32,
        place: &Place,
        captures: &Captures,
        score: Score,
    ) {
        if let Some(tally) = self.records.get_mut(&record) {
            tally.improve(score, signal, place.line, captures);
        }
    }

    /// Counts a hit that is too generic to be a match, if the record already has one.
    pub(super) fn knows_candidate(&mut self, record: u32) -> bool {
        let known = self.candidates.get_mut(&record);
        known.map(|known| known.count += 1).is_some()
    }

    pub(super) fn add_candidate(
        &mut self,
        matched: MatchedLine,
        record: u32,
        signal: u32,
        score: impl FnOnce() -> Score,
    ) {
        if let Some(known) = self.candidates.get_mut(&record) {
            known.count += 1;
            if matched.line < known.first.line {
                (known.first, known.signal, known.score) = (matched, signal, score());
            }
        } else if self.candidates.len() >= MAX_CANDIDATES {
            self.dropped_candidates += 1;
        } else {
            let tally = CandidateTally {
                count: 1,
                first: matched,
                score: score(),
                signal,
            };
            self.candidates.insert(record, tally);
        }
    }
}

impl RecordTally {
    fn improve(&mut self, score: Score, signal: u32, line: u64, captures: &Captures) {
        if score.value > self.best.score.value {
            self.best = Best {
                score,
                signal,
                line,
                captures: captures.clone(),
            };
        }
    }

    /// Keeps a line where it belongs: what is found over several lines comes late.
    fn keep(&mut self, matched: MatchedLine) {
        let at = self.first.partition_point(|kept| kept.line <= matched.line);
        let over = if at < FIRST_LINES {
            self.first.insert(at, matched);
            let is_over = self.first.len() > FIRST_LINES;
            if is_over { self.first.pop() } else { None }
        } else {
            Some(matched)
        };
        let Some(over) = over else {
            return;
        };
        if self.last.as_ref().is_none_or(|last| last.line <= over.line) {
            self.last = Some(over);
        }
    }

    fn fold(&mut self, matched: &MatchedLine, all_folds: &mut usize) -> bool {
        if let Some(fold) = self.folds.get_mut(&matched.captures) {
            fold.keep(matched.line);
            return false;
        }
        if self.folds.len() >= MAX_FOLDS_OF_RECORD || *all_folds >= MAX_FOLDS {
            self.overflow += 1;
            return false;
        }
        *all_folds += 1;
        let fold = FoldTally {
            count: 1,
            first: vec![matched.line],
            last: matched.line,
        };
        self.folds.insert(matched.captures.clone(), fold);
        true
    }

    fn note_time(&mut self, place: Place, captures: &Captures) {
        let Some(Moment { clock, micros }) = place.moment else {
            self.untimed = true;
            return;
        };
        match self.times.iter_mut().find(|span| span.clock == clock) {
            Some(span) => {
                span.last = span.last.max(micros);
                if (micros, place.line) < (span.first, span.line) {
                    span.first = micros;
                    span.line = place.line;
                    span.captures.clone_from(captures);
                }
            }
            None => self.times.push(TimeSpan {
                clock,
                first: micros,
                last: micros,
                line: place.line,
                captures: captures.clone(),
            }),
        }
    }

    pub(super) fn take_folds(&mut self) -> Vec<Fold> {
        let mut folds: Vec<Fold> = std::mem::take(&mut self.folds)
            .into_iter()
            .map(|(captures, tally)| {
                let mut lines = tally.first;
                if lines.last() != Some(&tally.last) {
                    lines.push(tally.last);
                }
                Fold {
                    captures,
                    count: tally.count,
                    lines,
                }
            })
            .collect();
        folds.sort_by_key(|fold| fold.lines.first().copied());
        folds
    }
}

impl FoldTally {
    fn keep(&mut self, line: u64) {
        self.count += 1;
        let at = self.first.partition_point(|kept| *kept <= line);
        if at < FIRST_LINES {
            self.first.insert(at, line);
            self.first.truncate(FIRST_LINES);
        }
        self.last = self.last.max(line);
    }
}

impl Counted {
    fn note(&mut self, matched: &MatchedLine) {
        let further = matched.parts.iter().map(|part| part.line);
        for line in std::iter::once(matched.line).chain(further) {
            let at = self.0.partition_point(|known| *known < line);
            if self.0.get(at) != Some(&line) {
                self.0.insert(at, line);
            }
        }
        // A text that is this long is not looked at for cut lines.
        if matched.start > size(HEAD_BYTES) {
            let newest = self.0.back().copied().unwrap_or_default();
            while self.0.front().is_some_and(|line| line + MAX_REACH < newest) {
                self.0.pop_front();
            }
        }
    }

    fn contains(&self, line: u64) -> bool {
        self.0.binary_search(&line).is_ok()
    }
}
