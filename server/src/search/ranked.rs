//! Sets of documents that also know how many come before each: where a document stands in a list, without looking for it.

use super::numbers::BITS;
use super::view::Number;

/// Documents by number.
#[derive(Debug)]
pub(super) struct Ranked(Vec<Stretch>);

/// Sixty-four numbers.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    /// Which of them are in the set.
    bits: u64,
    /// How many were before them.
    before: u32,
}

impl Stretch {
    /// How many come before one of its numbers.
    fn place(self, bit: u64) -> usize {
        (self.before + (self.bits & (bit - 1)).count_ones()) as usize
    }
}

/// One document in so many is often.
const OFTEN: usize = 32;

/// Whether so many documents of all are best gone over as a set.
pub(super) fn is_often(documents: usize, all: usize) -> bool {
    documents * OFTEN > all
}

impl Ranked {
    /// These, of so many, where they are often.
    pub(super) fn if_often(ascending: &[Number], count: usize) -> Option<Self> {
        is_often(ascending.len(), count).then(|| Self::new(ascending, count))
    }

    /// These, of so many.
    pub(super) fn new(ascending: &[Number], count: usize) -> Self {
        let mut stretches = vec![Stretch::default(); count.div_ceil(BITS as usize)];
        for number in ascending {
            if let Some(stretch) = stretches.get_mut((number / BITS) as usize) {
                stretch.bits |= 1 << (number % BITS);
            }
        }
        let mut before = 0;
        for stretch in &mut stretches {
            stretch.before = before;
            before += stretch.bits.count_ones();
        }
        Self(stretches)
    }

    /// How many come before a document; `None` when it is not in the set.
    pub(super) fn place(&self, number: Number) -> Option<usize> {
        let stretch = self.0.get((number / BITS) as usize)?;
        let bit = 1_u64 << (number % BITS);
        (stretch.bits & bit != 0).then(|| stretch.place(bit))
    }

    /// Whether a document is in the set.
    pub(super) fn has(&self, number: Number) -> bool {
        let stretch = self.0.get((number / BITS) as usize);
        stretch.is_some_and(|stretch| stretch.bits >> (number % BITS) & 1 == 1)
    }

    /// The set as bits, sixty-four numbers each.
    pub(super) fn bits(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|stretch| stretch.bits)
    }

    /// Hands over the numbers that are here and in another set: the place of each here and there.
    pub(super) fn each_common(&self, other: &Self, mut take: impl FnMut(usize, usize)) {
        for (here, there) in self.0.iter().zip(&other.0) {
            let mut common = here.bits & there.bits;
            while common != 0 {
                let bit = common & common.wrapping_neg();
                take(here.place(bit), there.place(bit));
                common ^= bit;
            }
        }
    }

    /// Of how many numbers it is a set, about.
    pub(super) fn len(&self) -> usize {
        self.0.len() * BITS as usize
    }

    /// Memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_are_those_in_the_list(
            one in prop::collection::btree_set(0..300_u32, 0..300),
            other in prop::collection::btree_set(0..500_u32, 0..300),
        ) {
            let (one, other): (Vec<u32>, Vec<u32>) = (one.into_iter().collect(), other.into_iter().collect());
            let (here, there) = (Ranked::new(&one, 300), Ranked::new(&other, 500));
            let mut expected = Vec::new();
            for (place, number) in one.iter().enumerate() {
                prop_assert_eq!(here.place(*number), Some(place));
                if let Ok(of_other) = other.binary_search(number) {
                    expected.push((place, of_other));
                }
            }
            for number in 0..400 {
                prop_assert_eq!(here.has(number), one.contains(&number));
                prop_assert_eq!(here.place(number).is_some(), one.contains(&number));
            }
            let mut common = Vec::new();
            here.each_common(&there, |place, of_other| common.push((place, of_other)));
            prop_assert_eq!(common, expected);
        }
    }
}
