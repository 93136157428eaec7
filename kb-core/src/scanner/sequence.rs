//! Signatures of several lines: their parts, found one by one, are put together for each writer of lines.
//!
//! A part belongs to what the same stream (container, host, process, rank) has begun; a line that names no writer goes on
//! with whatever was begun last. Parts stand in their order, on lines at most [`MAX_LINES_APART`] from one to the next, so that
//! the lines of other ranks may stand between them. On one line they count where blanks or escaped line breaks stand between.
//! Bounded: [`MAX_OPEN`] are kept, the oldest are given up and counted.

use std::collections::VecDeque;

use super::clock::Moment;
use super::score::Score;
use super::summary::{LinePart, MatchedLine};
use crate::matcher::PartOf;

/// Furthest that a part may stand behind the one before it, in lines of the text.
pub const MAX_LINES_APART: u64 = 256;
/// Most signatures that are begun at a time.
pub(super) const MAX_OPEN: usize = 128;
/// The same of one signature in one stream.
const MAX_OPEN_OF_ONE: usize = 4;

#[derive(Debug)]
pub(super) struct FoundPart {
    pub(super) on_line: MatchedLine,
    pub(super) score: Score,
    pub(super) weak: bool,
    pub(super) weight: f32,
    pub(super) moment: Option<Moment>,
    /// The driver calls its line fatal, and the record would be harmless.
    pub(super) is_fatal: bool,
}

#[derive(Debug)]
struct Open {
    sequence: u32,
    /// `None` where its lines name nobody.
    stream: Option<u64>,
    parts: Vec<FoundPart>,
}

#[derive(Debug, Default)]
pub(super) struct Sequences {
    open: VecDeque<Open>,
    /// Given up because too many were open.
    pub(super) given_up: u64,
}

impl Sequences {
    /// `joins` says whether a part that ends at a place of the same line is joined to this one.
    pub(super) fn take(
        &mut self,
        part: PartOf,
        stream: Option<u64>,
        found: FoundPart,
        joins: impl Fn(u64) -> bool,
    ) -> Option<Vec<FoundPart>> {
        let line = found.on_line.line;
        self.open
            .retain(|open| open.last().is_none_or(|last| last.line + MAX_LINES_APART >= line));
        if part.index == 0 {
            self.begin(part, stream, found);
            return None;
        }
        let at = self.awaiting(part, stream, &found.on_line, joins)?;
        let open = self.open.get_mut(at)?;
        open.parts.push(found);
        if open.parts.len() < usize::from(part.count) {
            return None;
        }
        let done = self.open.remove(at)?;
        // What the same writer began before is this one's story too.
        self.open
            .retain(|open| open.sequence != done.sequence || open.stream != done.stream);
        Some(done.parts)
    }

    fn begin(&mut self, part: PartOf, stream: Option<u64>, found: FoundPart) {
        let same = |open: &Open| open.sequence == part.sequence && open.stream == stream;
        if self.open.iter().filter(|open| same(open)).count() >= MAX_OPEN_OF_ONE
            && let Some(oldest) = self.open.iter().position(same)
        {
            self.open.remove(oldest);
        }
        if self.open.len() >= MAX_OPEN {
            self.open.pop_front();
            self.given_up += 1;
        }
        self.open.push_back(Open {
            sequence: part.sequence,
            stream,
            parts: vec![found],
        });
    }

    /// The latest that waits for this part: of the same stream, or, for a line that names nobody, of any.
    fn awaiting(
        &self,
        part: PartOf,
        stream: Option<u64>,
        on_line: &MatchedLine,
        joins: impl Fn(u64) -> bool,
    ) -> Option<usize> {
        let waits = |open: &Open| {
            open.sequence == part.sequence
                && open.parts.len() == usize::from(part.index)
                && open.last().is_some_and(|last| {
                    let is_near = part.reach.is_none_or(|reach| last.line + reach >= on_line.line);
                    last.line < on_line.line && is_near
                        || last.line == on_line.line && last.end <= on_line.start && joins(last.end)
                })
        };
        let own = self
            .open
            .iter()
            .rposition(|open| open.stream == stream && waits(open));
        own.or_else(|| {
            let any = || self.open.iter().rposition(waits);
            if stream.is_none() { any() } else { None }
        })
    }
}

impl Open {
    fn last(&self) -> Option<&MatchedLine> {
        self.parts.last().map(|part| &part.on_line)
    }
}

pub(super) fn further_parts(parts: &[FoundPart]) -> Vec<LinePart> {
    let further = parts.iter().skip(1).map(|part| &part.on_line);
    further
        .map(|on_line| LinePart {
            line: on_line.line,
            start: on_line.start,
            end: on_line.end,
            text: on_line.text.clone(),
        })
        .collect()
}
