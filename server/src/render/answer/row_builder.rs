//! The rows of a log as they are made: lines, gaps between them, repeats that are counted.

use super::log::{Gap, Line, Row};
use super::marks::Marks;

/// Most text of the rows in bytes, beside the lines that must be there.
const MOST_BYTES: usize = 10 * 1024;
/// Lines of one message that stand together are folded from this many on.
const REPEATS: usize = 4;

/// Lines of the message above.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    lines: Vec<Line>,
    pub(super) count: u64,
}

impl Repeats {
    pub(super) fn add(&mut self, line: Line) {
        self.count += 1;
        if self.lines.len() < REPEATS {
            self.lines.push(line);
        }
    }
}

#[derive(Debug)]
pub(super) struct RowBuilder<'m> {
    marks: &'m Marks,
    pub(super) rows: Vec<Row>,
    /// Number of the last line that is shown or folded.
    last: u64,
    bytes: usize,
    faults: Vec<usize>,
    is_unknown: bool,
}

impl<'m> RowBuilder<'m> {
    pub(super) fn new(marks: &'m Marks) -> Self {
        Self {
            marks,
            rows: Vec::new(),
            last: 0,
            bytes: 0,
            faults: Vec::new(),
            is_unknown: false,
        }
    }

    pub(super) fn gap_before(&mut self, number: u64) {
        let lines = number.saturating_sub(self.last + 1);
        if lines > 0 {
            let hits = self.marks.hits_between(self.last + 1, number);
            match self.rows.last_mut() {
                Some(Row::Gap(gap)) => {
                    gap.lines += lines;
                    gap.hits += hits;
                }
                _ => self.rows.push(Row::Gap(Gap { lines, hits })),
            }
        }
        self.last = self.last.max(number.saturating_sub(1));
    }

    /// Adds a line. Where there is no more room, only lines that must be there are; false where it is none of them.
    pub(super) fn line(&mut self, line: Line) -> bool {
        if self.bytes >= MOST_BYTES && !self.marks.firsts.contains(&line.number) {
            return false;
        }
        self.last = line.number;
        self.bytes += line.text.len();
        self.faults.clone_from(&line.faults);
        self.is_unknown = line.is_unknown;
        self.rows.push(Row::Line(line));
        true
    }

    /// Whether a line of the same message has no fault that the one above does not have, and no other line leads to it.
    pub(super) fn adds_no_fault(&self, line: &Line) -> bool {
        line.faults.iter().all(|fault| self.faults.contains(fault))
            && (self.is_unknown || !line.is_unknown)
            && !self.marks.firsts.contains(&line.number)
    }

    /// A few repeats are shown, many are counted.
    pub(super) fn end_repeats(&mut self, repeats: &mut Repeats) {
        let Repeats { lines, count } = std::mem::take(repeats);
        if lines.len() >= REPEATS {
            self.last += count;
            self.rows.push(Row::Repeats(count));
            return;
        }
        for line in lines {
            self.line(line);
        }
    }
}
