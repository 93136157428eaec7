//! The text with its marks as the page shows it, beside the records: with a place for each line, the way from mark to mark, and
//! a map of where they are.

use crate::render::answer::log::{Gap, Line, MarkedText, Row};
use crate::render::i18n::{answer, lookup, shared};
use crate::web::pages::evidence::{Part, parts};

/// Height of the map in its own units.
const MAP_HEIGHT: u64 = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogView {
    pub(super) rows: Vec<RowView>,
    /// Lines of the first and the last mark, where there are several.
    pub(super) ends: Option<(u64, u64)>,
    /// How many marks can be jumped to.
    pub(super) marks: usize,
    pub(super) map: Vec<Tick>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowView {
    /// From 1; 0 for what is folded, and `note` says what.
    pub(super) number: u64,
    pub(super) parts: Vec<Part>,
    pub(super) note: String,
    pub(super) faults: Vec<usize>,
    pub(super) is_unknown: bool,
    /// The line of the next mark.
    pub(super) next: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tick {
    pub(super) y: u64,
    pub(super) class: &'static str,
    pub(super) line: Option<u64>,
}

/// Of an answer that is `shared` what lies between its lines was not read.
pub(super) fn view(
    text: MarkedText,
    lines: u64,
    words: (&answer::Words, &lookup::Words),
    shared: Option<&shared::Words>,
) -> LogView {
    let MarkedText { rows, places, .. } = text;
    let marked: Vec<u64> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Line(line) if line.is_marked() => Some(line.number),
            _ => None,
        })
        .collect();
    let ends = match marked.as_slice() {
        [first, .., last] => Some((*first, *last)),
        _ => None,
    };
    let map = places.into_iter().map(|(line, fault)| Tick {
        y: line.saturating_sub(1).saturating_mul(MAP_HEIGHT) / lines.max(1),
        class: if fault.is_some() { "tick" } else { "tick unknown" },
        line: marked.binary_search(&line).is_ok().then_some(line),
    });
    let mut map: Vec<Tick> = map.collect();
    map.dedup_by_key(|tick| (tick.y, tick.class));
    LogView {
        map,
        ends,
        marks: marked.len(),
        rows: rows
            .into_iter()
            .map(|row| row_view(row, &marked, words, shared))
            .collect(),
    }
}

fn row_view(
    row: Row,
    marked: &[u64],
    (words, own): (&answer::Words, &lookup::Words),
    shared: Option<&shared::Words>,
) -> RowView {
    match (row, shared) {
        (Row::Line(line), _) => line_view(line, marked),
        (Row::Gap(gap), Some(shared)) => folded(shared.not_shared(gap.lines)),
        (Row::Gap(Gap { lines, hits: 0 }), None) => folded(words.lines_between(lines)),
        (Row::Gap(gap), None) => folded(words.lines_with_hits(gap.lines, gap.hits)),
        (Row::Repeats(count), _) => folded(own.more_like_this(count)),
    }
}

fn line_view(line: Line, marked: &[u64]) -> RowView {
    let next = marked.iter().find(|next| **next > line.number).copied();
    RowView {
        next: next.filter(|_| line.is_marked()),
        number: line.number,
        parts: parts(&line.text, line.span.0, line.span.1),
        note: String::new(),
        is_unknown: line.is_unknown,
        faults: line.faults,
    }
}

fn folded(note: String) -> RowView {
    RowView {
        number: 0,
        parts: Vec::new(),
        note,
        faults: Vec::new(),
        is_unknown: false,
        next: None,
    }
}

impl RowView {
    pub(super) fn is_marked(&self) -> bool {
        self.is_unknown || !self.faults.is_empty()
    }
}
