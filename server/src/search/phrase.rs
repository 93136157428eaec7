//! Words that stand together as in the query, in a name or a cause, which the engine looks for and scores.

use tantivy::Term;
use tantivy::query::{BoostQuery, EnableScoring, PhraseQuery, Query, Scorer};
use tantivy::schema::Field;

use super::chosen::{Chosen, between};
use super::numbers::Numbers;
use super::tokenizer::Word;
use super::view::{K1, Listing, Number, View};

/// What standing together counts.
const BOOST: f32 = 2.0;

/// Going to one document after another takes as long as going over so many that have the words.
const LOOK_UP: usize = 16;

/// Some words, one after the other, in one field.
pub(super) struct Phrase {
    query: BoostQuery,
    /// Where each of them stands.
    words: Vec<Listing>,
}

impl Phrase {
    /// `None` where one of these words stands in the field of no document.
    pub(super) fn find(view: &View, field: Field, words: &[Word]) -> tantivy::Result<Option<Self>> {
        let mut listings = Vec::with_capacity(words.len());
        for word in words {
            let Some(listing) = view.find(field, &word.text)? else {
                return Ok(None);
            };
            listings.push(listing);
        }
        let terms = words.iter().map(|word| Term::from_field_text(field, &word.text));
        Ok(Some(Self {
            query: BoostQuery::new(Box::new(PhraseQuery::new(terms.collect())), BOOST),
            words: listings,
        }))
    }

    /// In how many documents it may stand at most.
    pub(super) fn records(&self) -> u32 {
        self.words
            .iter()
            .map(|word| word.records)
            .min()
            .unwrap_or_default()
    }

    /// More than it counts anywhere: where it is said without end. The engine rounds one more than a number where
    /// [`View::rarity`] does not.
    pub(super) fn most(&self, view: &View) -> f32 {
        let words = self.words.iter();
        let rarity = words.map(|word| view.rarity(word.records) + f32::EPSILON);
        BOOST * rarity.sum::<f32>() * (1.0 + K1)
    }

    /// Documents that have all of its words, deleted ones among them.
    pub(super) fn where_it_may_be(&self, view: &View) -> Numbers {
        let sets: Vec<Numbers> = self
            .words
            .iter()
            .map(|word| {
                let mut said = Numbers::none_of(view.numbers());
                view.add_to(word, &mut said);
                said
            })
            .collect();
        let mut common = Numbers::none_of(view.numbers());
        common.insert_common(&sets);
        common
    }

    /// Hands over each chosen document where it stands, by its place, with its score.
    pub(super) fn each_scored(
        &self,
        view: &View,
        chosen: &Chosen,
        mut take: impl FnMut(usize, f32),
    ) -> tantivy::Result<()> {
        let scoring = EnableScoring::enabled_from_statistics_provider(view, &view.searcher);
        let weight = self.query.weight(scoring)?;
        for segment in &view.segments {
            let (first, here) = between(chosen.numbers(), segment.numbers());
            if here.is_empty() {
                continue;
            }
            if here.len() * LOOK_UP < self.records() as usize {
                let mut scorer = weight.scorer(&segment.reader, 1.0)?;
                let base = segment.base;
                look_up(scorer.as_mut(), base, here, |place, score| {
                    take(first + place, score);
                });
            } else {
                weight.for_each(&segment.reader, &mut |document, score| {
                    if let Some(place) = chosen.place(segment.base + document) {
                        take(place, score);
                    }
                })?;
            }
        }
        Ok(())
    }
}

/// Hands over the places of those among ascending numbers that a scorer finds.
fn look_up(scorer: &mut dyn Scorer, base: Number, among: &[Number], mut take: impl FnMut(usize, f32)) {
    for (place, number) in among.iter().enumerate() {
        let document = number - base;
        if scorer.doc() < document {
            scorer.seek(document);
        }
        if scorer.doc() == document {
            take(place, scorer.score());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::search::IndexKeeper;
    use crate::search::tests::document;
    use crate::search::tokenizer::words;

    #[test]
    fn going_to_a_few_documents_gives_what_going_over_all_does() {
        let said = [
            "peer access denied",
            "access peer",
            "peer access, peer access",
            "peer of access",
            "access",
        ];
        let documents = (1..).zip(said.into_iter().cycle().take(3_000));
        let documents = documents.map(|(slot, said)| (slot, Arc::new(document(&format!("t/d{slot}"), said))));
        let index = IndexKeeper::new().unwrap().apply([], documents).unwrap();
        let view = &index.view;
        let signature = index
            .fields
            .texts
            .iter()
            .find(|entry| entry.text.name() == "signature");
        let phrase = Phrase::find(view, signature.unwrap().field, &words("peer access"));
        let phrase = phrase.unwrap().unwrap();
        let scores = |numbers: Vec<Number>| {
            let chosen = Chosen::new(numbers, view.numbers());
            let mut found = BTreeMap::new();
            let take = |place: usize, score: f32| {
                found.insert(chosen.numbers()[place], score.to_bits());
            };
            phrase.each_scored(view, &chosen, take).unwrap();
            found
        };
        let mut all = scores(view.alive.iter().collect());
        assert_eq!(all.len(), 1_200);
        let most = phrase.most(view);
        assert!(all.values().all(|score| f32::from_bits(*score) < most));
        let few: Vec<Number> = view.alive.iter().step_by(43).collect();
        assert!(few.len() * LOOK_UP < phrase.records() as usize);
        all.retain(|number, _| few.contains(number));
        assert!(all.len() > 20);
        assert_eq!(scores(few), all);
    }
}
