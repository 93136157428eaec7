//! What a word counts for each document that has it, over all its texts. It is added up when the word is first asked for in
//! a generation, whose documents and lengths of texts it depends on, and kept: people ask for the same words over and over,
//! and going over the lists of ten texts for each query took most of its time.

use std::rc::Rc;
use std::sync::Arc;

use super::chosen::Chosen;
use super::lists::look_up;
use super::numbers::Numbers;
use super::ranked::{Ranked, is_often};
use super::view::{Listing, Number, Spread, View};

/// A word found in a second text counts this much beside its best one.
const TIE_BREAKER: f32 = 0.1;

/// Documents that are one in so many of all are looked up in a set, and more are met by going over it.
const FEW: usize = 256;

/// Looking one document up in a list takes as long as going over so many of it.
const LOOK_UP: usize = 16;

/// What a document has got for a word, or for several that any will do of.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Part {
    /// In the text where it is most.
    pub(super) best: f32,
    /// In all texts together.
    pub(super) all: f32,
}

impl Part {
    /// Takes in what one text gives.
    fn add(&mut self, score: f32) {
        self.join(Self {
            best: score,
            all: score,
        });
    }

    /// Takes in what another word gives.
    pub(super) fn join(&mut self, other: Self) {
        self.best = self.best.max(other.best);
        self.all += other.all;
    }

    /// Of a word that counts so much.
    pub(super) fn times(self, weight: f32) -> Self {
        Self {
            best: self.best * weight,
            all: self.all * weight,
        }
    }

    /// What it comes to: the best place, and a little for each other.
    pub(super) fn score(self) -> f32 {
        self.best + (self.all - self.best) * TIE_BREAKER
    }
}

/// Documents that get something for a word.
#[derive(Debug)]
pub(super) struct Weighed {
    /// Ascending.
    documents: Box<[Number]>,
    /// What each gets.
    parts: Box<[Part]>,
    /// The same documents, where they are many.
    set: Option<Ranked>,
}

impl View {
    /// Weighs the common words that were asked for in another generation, before somebody waits for it.
    pub(super) fn weigh_as(&self, other: &Self) -> tantivy::Result<()> {
        for word in other.weighed.words(|weighed| weighed.set.is_some()) {
            if let Some(lists) = self.spread(&word)? {
                self.weighed(&word, &lists);
            }
        }
        Ok(())
    }

    /// What a word counts, whose lists these are.
    pub(super) fn weighed(&self, word: &str, lists: &Rc<Spread>) -> Arc<Weighed> {
        if let Some(known) = self.weighed.get(word) {
            return known;
        }
        let weighed = Weighed::new(self, lists);
        let bytes = weighed.bytes();
        self.weighed.keep(word, weighed, bytes)
    }
}

impl Weighed {
    fn new(view: &View, lists: &Rc<Spread>) -> Self {
        let texts = view.boosts.iter();
        let said: Vec<_> = texts
            .filter_map(|(field, boost)| Some((view.listing(lists, *field)?, *boost)))
            .collect();
        let documents = documents(view, said.iter().map(|(listing, _)| listing));
        let set = Ranked::if_often(&documents, view.numbers());
        let place = |number| match &set {
            Some(set) => set.place(number),
            None => documents.binary_search(&number).ok(),
        };
        let mut parts = vec![Part::default(); documents.len()];
        for (listing, boost) in &said {
            view.each_scored(listing, *boost, |number, score| {
                if let Some(part) = place(number).and_then(|place| parts.get_mut(place)) {
                    part.add(score);
                }
            });
        }
        Self {
            set,
            documents: documents.into(),
            parts: parts.into(),
        }
    }

    /// Whether it counts nowhere.
    pub(super) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Hands over each chosen document that gets something, by its place, with what it gets; others too, where there is a
    /// place for all.
    pub(super) fn each_among(&self, chosen: &Chosen, mut take: impl FnMut(usize, Part)) {
        let mut take = |place: usize, at: usize| {
            if let Some(part) = self.parts.get(at) {
                take(place, *part);
            }
        };
        match &self.set {
            _ if chosen.is_wide() => {
                let places = self.documents.iter().map(|number| *number as usize);
                places.zip(0..).for_each(|(place, at)| take(place, at));
            }
            Some(set) if chosen.len() * FEW < chosen.ranked().len() => {
                let places = chosen.numbers().iter().map(|number| set.place(*number));
                let found = places.enumerate().filter_map(|(place, at)| Some((place, at?)));
                found.for_each(|(place, at)| take(place, at));
            }
            Some(set) => set.each_common(chosen.ranked(), |at, place| take(place, at)),
            None if chosen.len() * LOOK_UP < self.documents.len() => {
                look_up(&self.documents, 0, chosen.numbers(), take);
            }
            None => {
                let places = self.documents.iter().map(|number| chosen.place(*number));
                let found = places.enumerate().filter_map(|(at, place)| Some((place?, at)));
                found.for_each(|(place, at)| take(place, at));
            }
        }
    }

    /// Memory that it takes.
    fn bytes(&self) -> usize {
        let set = self.set.as_ref().map_or(0, Ranked::bytes);
        size_of::<Self>() + size_of_val(self.documents.as_ref()) + size_of_val(self.parts.as_ref()) + set
    }
}

/// Documents that are in one of these lists, ascending.
fn documents<'a>(view: &View, lists: impl Iterator<Item = &'a Listing> + Clone) -> Vec<Number> {
    let most: u32 = lists.clone().map(|listing| listing.records).sum();
    if is_often(most as usize, view.numbers()) {
        let mut documents = Numbers::none_of(view.numbers());
        lists.for_each(|listing| view.add_to(listing, &mut documents));
        documents.keep(&view.alive);
        return documents.to_list();
    }
    let mut documents = Vec::with_capacity(most as usize);
    lists.for_each(|listing| view.each(listing, |number| documents.push(number)));
    documents.sort_unstable();
    documents.dedup();
    documents
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::search::tests::document;
    use crate::search::{IndexKeeper, SearchDoc};

    /// Each gets as much as its number.
    fn own(number: Number) -> f32 {
        f32::from(u16::try_from(number).unwrap())
    }

    fn weighed(ascending: &[Number], of: Option<usize>) -> Weighed {
        let part = |number: &Number| Part {
            best: own(*number),
            all: 0.0,
        };
        Weighed {
            documents: ascending.into(),
            parts: ascending.iter().map(part).collect(),
            set: of.map(|count| Ranked::new(ascending, count)),
        }
    }

    proptest! {
        #[test]
        fn all_ways_meet_who_is_in_both(
            said in prop::collection::btree_set(0..2_000_u32, 0..400),
            chosen in prop_oneof![
                prop::collection::btree_set(0..2_000_u32, 0..40),
                prop::collection::btree_set(0..2_000_u32, 251..600),
            ],
        ) {
            let said: Vec<Number> = said.into_iter().collect();
            let chosen = Chosen::new(chosen.into_iter().collect(), 2_000);
            let places: BTreeMap<usize, Number> = chosen.each_place().collect();
            let expected = places.iter().filter(|(_, number)| said.contains(number));
            let expected: Vec<(usize, f32)> = expected.map(|(place, number)| (*place, own(*number))).collect();
            for of in [None, Some(2_000)] {
                let mut found = Vec::new();
                weighed(&said, of).each_among(&chosen, |place, part| found.push((place, part.best)));
                found.retain(|(place, _)| places.contains_key(place));
                prop_assert_eq!(&found, &expected);
            }
        }
    }

    #[test]
    fn common_words_are_weighed_before_a_generation_is_asked() {
        let numbered = |number: u64| {
            let said = format!("gasket flange{number}");
            (number, Arc::new(document(&format!("t/d{number}"), &said)))
        };
        let mut keeper = IndexKeeper::new().unwrap();
        let first = keeper.apply([], (1..100).map(numbered)).unwrap();
        let weigh = |word: &str| {
            first
                .view
                .weighed(word, &first.view.spread(word).unwrap().unwrap())
        };
        weigh("gasket");
        weigh("flange7");
        let second = keeper.apply([], [numbered(100)]).unwrap();
        let kept = second.view.weighed.get("gasket").unwrap();
        assert_eq!(kept.documents.len(), 100, "of its own documents");
        assert!(
            second.view.weighed.get("flange7").is_none(),
            "rare words cost little"
        );
        drop(second);
        let third = keeper.apply([], [numbered(101)]).unwrap();
        assert!(
            third.view.weighed.get("gasket").is_none(),
            "nobody asked the one before"
        );
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "few texts, each short")]
    fn a_word_counts_where_it_is_most_and_a_little_elsewhere() {
        // Words of a signature and of a cause, and how many of each are the word.
        let said = [(4, 1, 9, 0), (4, 0, 5, 2), (7, 2, 9, 3), (3, 0, 8, 0)];
        let text = |words: usize, of_them: usize| {
            let words = (0..words).map(|at| if at < of_them { "gasket" } else { "flange" });
            words.collect::<Vec<_>>().join(" ")
        };
        let documents = (1..).zip(said).map(|(slot, (name, in_name, cause, in_cause))| {
            let document = document(&format!("t/d{slot}"), &text(name, in_name));
            let root_cause = text(cause, in_cause);
            (
                slot,
                Arc::new(SearchDoc {
                    root_cause,
                    ..document
                }),
            )
        });
        let index = IndexKeeper::new().unwrap().apply([], documents).unwrap();
        let view = &index.view;
        let weighed = view.weighed("gasket", &view.spread("gasket").unwrap().unwrap());
        let all = Chosen::new(view.alive.to_list(), view.numbers());
        let mut found = vec![0.0; all.places()];
        weighed.each_among(&all, |place, part| found[place] = part.score());

        let average = |lengths: [usize; 4]| lengths.iter().sum::<usize>() as f32 / 4.0;
        let bm25 = |boost: f32, count: usize, length: usize, average: f32| {
            let rarity = (1.0_f32 + (4.0 - 2.0 + 0.5) / (2.0 + 0.5)).ln();
            let count = count as f32;
            boost * rarity * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * length as f32 / average))
        };
        for ((name, in_name, cause, in_cause), found) in said.into_iter().zip(found) {
            let of_name = bm25(4.0, in_name, name, average(said.map(|(name, ..)| name)));
            let of_cause = bm25(1.5, in_cause, cause, average(said.map(|(_, _, cause, _)| cause)));
            let expected = of_name.max(of_cause) + 0.1 * of_name.min(of_cause);
            assert!((found - expected).abs() < 1e-4, "{found} for {expected}");
        }
    }
}
