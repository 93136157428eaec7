//! The documents that a query is about to rank, found in two steps by their numbers: sums are kept for these alone.

use std::ops::Range;

use super::view::Number;

const BITS: Number = u64::BITS;

/// Some documents, ascending, each with its place among them.
#[derive(Debug)]
pub(super) struct Chosen {
    ascending: Vec<Number>,
    stretches: Vec<Stretch>,
}

/// Sixty-four numbers.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    /// Which of them are chosen.
    bits: u64,
    /// How many were chosen before them.
    before: u32,
}

impl Chosen {
    /// These, of so many.
    pub(super) fn new(ascending: Vec<Number>, count: usize) -> Self {
        let mut stretches = vec![Stretch::default(); count.div_ceil(BITS as usize)];
        for number in &ascending {
            if let Some(stretch) = stretches.get_mut((number / BITS) as usize) {
                stretch.bits |= 1 << (number % BITS);
            }
        }
        let mut before = 0;
        for stretch in &mut stretches {
            stretch.before = before;
            before += stretch.bits.count_ones();
        }
        Self { ascending, stretches }
    }

    pub(super) fn len(&self) -> usize {
        self.ascending.len()
    }

    /// Where a document stands; `None` when it was not chosen.
    pub(super) fn place(&self, number: Number) -> Option<usize> {
        let stretch = self.stretches.get((number / BITS) as usize)?;
        let bit = 1_u64 << (number % BITS);
        let is_chosen = stretch.bits & bit != 0;
        is_chosen.then(|| (stretch.before + (stretch.bits & (bit - 1)).count_ones()) as usize)
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
