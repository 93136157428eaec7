//! Goes over the lists of documents that have a word: over a whole list, or over those among some documents, for which few
//! of a long list are looked up and many are picked out of it.

use tantivy::DocId;

use super::chosen::{Chosen, between};
use super::numbers::Numbers;
use super::view::{Listing, Number, View, share};
use super::words::{List, UNKNOWN_LENGTH};

/// Looking one document up takes as long as going over so many of a list.
const LOOK_UP: usize = 16;

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

    /// Adds documents that have a word to a set: all those that are among these, which ascend, and maybe others.
    pub(super) fn add_those_among(&self, listing: &Listing, among: &[Number], said: &mut Numbers) {
        for (segment, list) in self.lists(listing) {
            let (_, here) = between(among, segment.numbers());
            if let Some(set) = list.set() {
                let saying = here.iter().filter(|number| set.has(**number - segment.base));
                saying.for_each(|number| said.insert(*number));
            } else if is_long_beside(list, here) {
                look_up(list, segment.base, here, |_, document, _| {
                    said.insert(segment.base + document);
                });
            } else {
                said.insert_all(segment.base, list.documents());
            }
        }
    }

    /// Hands over each chosen document that has a word, by its place, with what the word counts there by BM25, times
    /// `boost`.
    pub(super) fn each_scored(
        &self,
        listing: &Listing,
        boost: f32,
        chosen: &Chosen,
        mut take: impl FnMut(usize, f32),
    ) {
        let lengths = self.lengths.get(listing.field.field_id() as usize);
        let weight = self.weight(listing, boost);
        for (segment, list) in self.lists(listing) {
            let norms = segment.norms(listing.field);
            let score = |document: DocId, count: u16| {
                let length = norms.map_or(UNKNOWN_LENGTH, |norms| norms.fieldnorm_id(document));
                weight * share(lengths, length, count)
            };
            let (first, here) = between(chosen.numbers(), segment.numbers());
            if let Some(set) = list.set().filter(|_| here.len() < list.documents().len()) {
                set.each_common(chosen.ranked(), segment.base, |document, at, place| {
                    take(place, score(document, list.count(at)));
                });
            } else if is_long_beside(list, here) {
                look_up(list, segment.base, here, |place, document, count| {
                    take(first + place, score(document, count));
                });
            } else {
                list.each(|document, count| {
                    if let Some(place) = chosen.place(segment.base + document) {
                        take(place, score(document, count));
                    }
                });
            }
        }
    }
}

/// Whether these documents are few beside a list.
fn is_long_beside(list: &List, documents: &[Number]) -> bool {
    documents.len() * LOOK_UP < list.documents().len()
}

/// Hands over the places of those among ascending numbers that are in a list, the document, and how often it says the word.
fn look_up(list: &List, base: Number, among: &[Number], mut take: impl FnMut(usize, DocId, u16)) {
    let mut from = 0;
    for (place, number) in among.iter().enumerate() {
        let document = number - base;
        // Doubling steps first: the next one is mostly near.
        let is_before = |place: usize| list.documents().get(place).is_some_and(|other| *other < document);
        let mut step = 1;
        while is_before(from + step) {
            from += step;
            step *= 2;
        }
        let near = list.documents().get(from..).unwrap_or_default();
        let near = near.get(..=step).unwrap_or(near);
        from += near.partition_point(|other| *other < document);
        if list.documents().get(from) == Some(&document) {
            take(place, document, list.count(from));
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
            let list: Vec<DocId> = list.into_iter().collect();
            let among: Vec<Number> = among.iter().map(|document| base + document).collect();
            let mut found = Vec::new();
            look_up(&List::of(&list), base, &among, |place, document, count| found.push((place, document, count)));
            let mut expected = Vec::new();
            for (place, number) in among.iter().enumerate() {
                if let Ok(at) = list.binary_search(&(number - base)) {
                    expected.push((place, number - base, u16::try_from(at).unwrap() + 1));
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
