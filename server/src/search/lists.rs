//! Goes over the lists of documents that have a word: over a whole list, or over those among some documents.

use super::chosen::between;
use super::numbers::Numbers;
use super::view::{K1, Listing, Number, View, share};
use super::words::UNKNOWN_LENGTH;

impl View {
    /// Hands over each document that has a word.
    pub(super) fn each(&self, listing: &Listing, mut take: impl FnMut(Number)) {
        for (segment, list) in self.lists(listing) {
            let numbers = list.documents().iter().map(|document| segment.base + document);
            numbers
                .filter(|number| self.alive.contains(*number))
                .for_each(&mut take);
        }
    }

    /// Adds all documents that have a word to a set, deleted ones among them.
    pub(super) fn add_to(&self, listing: &Listing, said: &mut Numbers) {
        for (segment, list) in self.lists(listing) {
            match list.set() {
                Some(set) => said.insert_bits(segment.base, set.bits()),
                None => said.insert_all(segment.base, list.documents()),
            }
        }
    }

    /// Hands over those of some documents, which ascend, that have a word.
    pub(super) fn each_among(&self, listing: &Listing, among: &[Number], mut take: impl FnMut(Number)) {
        for (segment, list) in self.lists(listing) {
            let here = between(among, segment.numbers());
            if let Some(set) = list.set() {
                let saying = here.iter().filter(|number| set.has(**number - segment.base));
                saying.for_each(|number| take(*number));
            } else {
                look_up(list.documents(), segment.base, here, |place, _| {
                    here.get(place).into_iter().for_each(|number| take(*number));
                });
            }
        }
    }

    /// Hands over each document that has a word, with what the word counts there by BM25, times `boost`.
    pub(super) fn each_scored(&self, listing: &Listing, boost: f32, mut take: impl FnMut(Number, f32)) {
        let lengths = self.lengths(listing.field);
        let weight = boost * self.rarity(listing.records) * (1.0 + K1);
        for (segment, list) in self.lists(listing) {
            let norms = segment.norms(listing.field);
            list.each(|document, count| {
                let number = segment.base + document;
                if self.alive.contains(number) {
                    let length = norms.map_or(UNKNOWN_LENGTH, |norms| norms.fieldnorm_id(document));
                    take(number, weight * share(lengths, length, count));
                }
            });
        }
    }
}

/// Hands over those among ascending numbers that are in an ascending list of numbers `base` less: the place of each among
/// them and in the list.
pub(super) fn look_up(list: &[u32], base: Number, among: &[Number], mut take: impl FnMut(usize, usize)) {
    let mut from = 0;
    for (place, number) in among.iter().enumerate() {
        let wanted = number - base;
        // Doubling steps first: the next one is mostly near.
        let is_before = |place: usize| list.get(place).is_some_and(|other| *other < wanted);
        let mut step = 1;
        while is_before(from + step) {
            from += step;
            step *= 2;
        }
        let near = list.get(from..).unwrap_or_default();
        let near = near.get(..=step).unwrap_or(near);
        from += near.partition_point(|other| *other < wanted);
        if list.get(from) == Some(&wanted) {
            take(place, from);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn looked_up_is_what_is_in_both(
            list in prop::collection::btree_set(0..400_u32, 0..200),
            among in prop::collection::btree_set(0..400_u32, 0..20),
            base in 0..1_000_u32,
        ) {
            let list: Vec<u32> = list.into_iter().collect();
            let among: Vec<Number> = among.iter().map(|document| base + document).collect();
            let mut found = Vec::new();
            look_up(&list, base, &among, |place, at| found.push((place, at)));
            let mut expected = Vec::new();
            for (place, number) in among.iter().enumerate() {
                if let Ok(at) = list.binary_search(&(number - base)) {
                    expected.push((place, at));
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
