//! The documents that a query is about to rank, found in two steps by their numbers: sums are kept for these alone.

use std::ops::Range;

use super::ranked::Ranked;
use super::view::Number;

/// Some documents, ascending, each with its place among them.
#[derive(Debug)]
pub(super) struct Chosen {
    ascending: Vec<Number>,
    ranked: Ranked,
}

impl Chosen {
    /// These, of so many.
    pub(super) fn new(ascending: Vec<Number>, count: usize) -> Self {
        let ranked = Ranked::new(&ascending, count);
        Self { ascending, ranked }
    }

    pub(super) fn len(&self) -> usize {
        self.ascending.len()
    }

    /// Where a document stands; `None` when it was not chosen.
    pub(super) fn place(&self, number: Number) -> Option<usize> {
        self.ranked.place(number)
    }

    /// All of them, as a set that knows their places.
    pub(super) fn ranked(&self) -> &Ranked {
        &self.ranked
    }

    /// All of them, ascending.
    pub(super) fn numbers(&self) -> &[Number] {
        &self.ascending
    }
}

/// Those of some ascending numbers that are in a range, and where they begin.
pub(super) fn between(ascending: &[Number], range: Range<Number>) -> (usize, &[Number]) {
    let first = ascending.partition_point(|number| *number < range.start);
    let end = ascending.partition_point(|number| *number < range.end);
    (first, ascending.get(first..end).unwrap_or_default())
}
