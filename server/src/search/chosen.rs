//! The documents that a query is about to rank, found in two steps by their numbers: sums are kept for these.

use std::ops::Range;

use super::ranked::Ranked;
use super::view::Number;

/// From one document in so many on, places are kept for all: that is quicker than to tell which is whose.
const MANY: usize = 8;

/// Some documents, ascending, each with a place.
#[derive(Debug)]
pub(super) struct Chosen {
    ascending: Vec<Number>,
    ranked: Ranked,
    /// Each number is its own place, also that of a document which was not chosen.
    is_wide: bool,
}

impl Chosen {
    /// These, of so many.
    pub(super) fn new(ascending: Vec<Number>, count: usize) -> Self {
        let ranked = Ranked::new(&ascending, count);
        let is_wide = ascending.len() * MANY > count;
        Self {
            ascending,
            ranked,
            is_wide,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ascending.len()
    }

    /// All places are below this.
    pub(super) fn places(&self) -> usize {
        if self.is_wide {
            self.ranked.len()
        } else {
            self.ascending.len()
        }
    }

    /// Where a document stands. `None` when it was not chosen, unless there is a place for all.
    pub(super) fn place(&self, number: Number) -> Option<usize> {
        if self.is_wide {
            Some(number as usize)
        } else {
            self.ranked.place(number)
        }
    }

    /// The places of all of them, ascending.
    pub(super) fn each_place(&self) -> impl Iterator<Item = (usize, Number)> {
        let numbers = self.ascending.iter().copied().enumerate();
        numbers.map(|(place, number)| (if self.is_wide { number as usize } else { place }, number))
    }

    /// All of them, as a set that knows how many come before each.
    pub(super) fn ranked(&self) -> &Ranked {
        &self.ranked
    }

    /// Whether there is a place for all documents.
    pub(super) fn is_wide(&self) -> bool {
        self.is_wide
    }

    /// All of them, ascending.
    pub(super) fn numbers(&self) -> &[Number] {
        &self.ascending
    }
}

/// Those of some ascending numbers that are in a range.
pub(super) fn between(ascending: &[Number], range: Range<Number>) -> &[Number] {
    let first = ascending.partition_point(|number| *number < range.start);
    let end = ascending.partition_point(|number| *number < range.end);
    ascending.get(first..end).unwrap_or_default()
}
