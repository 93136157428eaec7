//! The rows of a text as they are made: lines, gaps between them, and repeats, up to a bound.

use super::{Line, Row};

/// Most lines that are shown, and most of their text in bytes: a page stays light whatever the log.
const MOST_LINES: usize = 160;
const MOST_BYTES: usize = 10 * 1024;
/// Lines of one message that stand together are folded from this many on.
const REPEATS: usize = 4;

/// The rows as they are made.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(super) rows: Vec<Row>,
    /// Number of the last line that is shown or folded.
    pub(super) last: u64,
    lines: usize,
    bytes: usize,
    faults: Vec<usize>,
    is_unknown: bool,
}

impl Sheet {
    pub(super) fn gap_before(&mut self, number: u64) {
        let left_out = number.saturating_sub(self.last + 1);
        if left_out > 0 {
            match self.rows.last_mut() {
                Some(Row::Gap(gap)) => *gap += left_out,
                _ => self.rows.push(Row::Gap(left_out)),
            }
        }
        self.last = self.last.max(number.saturating_sub(1));
    }

    pub(super) fn line(&mut self, line: Line) {
        let is_full = self.lines >= MOST_LINES || self.bytes >= MOST_BYTES;
        if is_full && !line.is_marked() || self.lines >= 2 * MOST_LINES {
            return;
        }
        self.last = line.number;
        self.lines += 1;
        self.bytes += line.text.len();
        self.faults.clone_from(&line.faults);
        self.is_unknown = line.is_unknown;
        self.rows.push(Row::Line(line));
    }

    /// Whether a line of the same message says nothing that the one above does not.
    pub(super) fn says_it_all(&self, line: &Line) -> bool {
        line.faults.iter().all(|fault| self.faults.contains(fault)) && (self.is_unknown || !line.is_unknown)
    }

    /// A few repeats are shown, many are counted.
    pub(super) fn end_repeats(&mut self, folded: &mut Vec<Line>) {
        if folded.len() >= REPEATS {
            self.last = folded.last().map_or(self.last, |line| line.number);
            self.rows.push(Row::Repeats(folded.len() as u64));
            folded.clear();
        }
        for line in folded.drain(..) {
            self.line(line);
        }
    }
}
