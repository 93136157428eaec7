//! Sets of documents, one bit each: eight thousand bytes for 65,000 documents, which stay at hand.

use std::ops::Range;

use super::view::Number;

/// Documents of one word of a set.
pub(super) const BITS: Number = u64::BITS;

/// Documents by number.
#[derive(Debug, Clone)]
pub(super) struct Numbers(Vec<u64>);

impl Numbers {
    /// None of so many.
    pub(super) fn none_of(count: usize) -> Self {
        Self(vec![0; count.div_ceil(u64::BITS as usize)])
    }

    /// Adds documents, `base` more than these numbers, which ascend.
    pub(super) fn insert_all(&mut self, base: Number, ascending: &[Number]) {
        let mut at = 0;
        let mut bits = 0;
        for number in ascending {
            let number = base + number;
            let place = (number / BITS) as usize;
            // Neighbours mostly share a word, which is written once for all of them.
            if place != at {
                self.join(at, bits);
                (at, bits) = (place, 0);
            }
            bits |= 1 << (number % BITS);
        }
        self.join(at, bits);
    }

    /// Adds one document.
    pub(super) fn insert(&mut self, number: Number) {
        self.join((number / BITS) as usize, 1 << (number % BITS));
    }

    /// Adds all of a range.
    pub(super) fn insert_range(&mut self, range: Range<Number>) {
        let first = (range.start / BITS) as usize;
        let last = range.end.div_ceil(BITS) as usize;
        let words = self.0.get_mut(first..last).unwrap_or_default();
        for (place, word) in (range.start / BITS..).zip(words) {
            let begins = range.start.saturating_sub(place * BITS).min(BITS);
            let ends = (range.end - place * BITS).min(BITS);
            *word |= (u64::MAX << begins) & (u64::MAX >> (BITS - ends));
        }
    }

    /// Takes one document out.
    pub(super) fn remove(&mut self, number: Number) {
        if let Some(word) = self.0.get_mut((number / BITS) as usize) {
            *word &= !(1 << (number % BITS));
        }
    }

    /// Leaves those that are in another set of as many.
    pub(super) fn keep(&mut self, other: &Self) {
        for (word, kept) in self.0.iter_mut().zip(&other.0) {
            *word &= kept;
        }
    }

    /// Adds sets of sixty-four numbers each, the first of which are `base` and those after it, a multiple of [`BITS`].
    pub(super) fn insert_bits(&mut self, base: Number, bits: impl Iterator<Item = u64>) {
        let from = self.0.get_mut((base / BITS) as usize..).unwrap_or_default();
        for (word, more) in from.iter_mut().zip(bits) {
            *word |= more;
        }
    }

    /// How many of such sets are here.
    pub(super) fn count_among(&self, base: Number, bits: impl Iterator<Item = u64>) -> u32 {
        let from = self.0.get((base / BITS) as usize..).unwrap_or_default();
        let both = from.iter().zip(bits).map(|(word, other)| word & other);
        both.map(u64::count_ones).sum()
    }

    /// Adds the documents of another set of as many.
    pub(super) fn insert_set(&mut self, other: &Self) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    /// Adds the documents that all of some sets of as many have.
    pub(super) fn insert_common<'a>(&mut self, sets: impl IntoIterator<Item = &'a Self>) {
        let mut sets = sets.into_iter();
        let Some(first) = sets.next() else {
            return;
        };
        let mut common = first.clone();
        for set in sets {
            common.keep(set);
        }
        self.insert_set(&common);
    }

    /// Whether a document is one of them.
    pub(super) fn contains(&self, number: Number) -> bool {
        let word = self.0.get((number / BITS) as usize);
        word.is_some_and(|word| word >> (number % BITS) & 1 == 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Takes all out.
    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// All of them, ascending, as a list.
    pub(super) fn to_list(&self) -> Vec<Number> {
        let count: u32 = self.0.iter().map(|word| word.count_ones()).sum();
        let mut list = Vec::with_capacity(count as usize);
        list.extend(self.iter());
        list
    }

    /// All of them, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = Number> {
        (0..).zip(&self.0).flat_map(|(place, word): (Number, &u64)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < BITS).then_some(place * BITS + bit)
            })
        })
    }

    fn join(&mut self, at: usize, bits: u64) {
        if let Some(word) = self.0.get_mut(at) {
            *word |= bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_holds_what_was_put_in(
            one in prop::collection::btree_set(0..300_u32, 0..300),
            other in prop::collection::btree_set(0..300_u32, 0..20),
            base in 0..70_u32,
        ) {
            let mut set = Numbers::none_of(370);
            let ascending: Vec<Number> = one.iter().copied().collect();
            set.insert_all(base, &ascending);
            let mut others = Numbers::none_of(370);
            for number in &other {
                others.insert(*number);
            }
            set.insert_set(&others);
            let expected: BTreeSet<Number> = one.iter().map(|number| base + number).chain(other).collect();
            prop_assert!(set.iter().eq(expected.iter().copied()));
            prop_assert!(set.to_list().into_iter().eq(expected.iter().copied()));
            for number in 0..400 {
                prop_assert_eq!(set.contains(number), expected.contains(&number));
            }
            set.clear();
            prop_assert_eq!(set.iter().count(), 0);
        }
    }
}
