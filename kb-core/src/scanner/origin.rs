//! Where the text that is read stands in the body as sent.

use std::ops::Range;

use super::clean::Clean;
use super::cut_lines::Joined;
use super::lines::{Piece, size};

/// Where a line stands, and how its text came from the bytes as sent.
pub(super) struct Origin<'a> {
    pub(super) line: u64,
    pub(super) offset: u64,
    pub(super) piece: Option<Piece>,
    pub(super) cleaned: Option<&'a Clean>,
    /// Where the text was put together from lines that had been cut: the beginnings of its further lines.
    pub(super) joined: Option<&'a Joined>,
    /// Whether the line was read before as it stands, and is read now as it was before it was escaped.
    pub(super) restored: bool,
    /// Whether this is one of several lines of a text that was read as a whole before; signatures of several lines were found there.
    pub(super) within: bool,
}

impl Origin<'_> {
    pub(super) fn of(line: u64, offset: u64) -> Self {
        Self {
            line,
            offset,
            piece: None,
            cleaned: None,
            joined: None,
            restored: false,
            within: false,
        }
    }

    pub(super) fn line_of(&self, at: usize) -> u64 {
        self.joined.map_or(self.line, |joined| joined.line_of(at))
    }

    pub(super) fn body_span(&self, span: &Range<usize>) -> (u64, u64) {
        let sent = self
            .cleaned
            .map_or_else(|| span.clone(), |clean| clean.original(span));
        (self.offset + size(sent.start), self.offset + size(sent.end))
    }

    /// What stands on this line from a place of the body up to `to`. `None` where that begins in an earlier piece of a long line.
    pub(super) fn between<'t>(&self, text: &'t [u8], place: u64, to: usize) -> Option<&'t [u8]> {
        if place < self.offset {
            return None;
        }
        let (mut from, mut end) = (0, to);
        while from < end {
            let middle = from.midpoint(end);
            if self.body_span(&(middle..middle)).0 < place {
                from = middle + 1;
            } else {
                end = middle;
            }
        }
        // `\s*` at the edge of a part takes line breaks, too.
        let from = text.get(..from)?.trim_ascii_end().len();
        let to = text.len() - text.get(to..)?.trim_ascii_start().len();
        text.get(from..to)
    }
}
