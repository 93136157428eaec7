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
    /// `None` where no document has all of these words in the field.
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

    /// More than it counts anywhere: where it is said without end.
    pub(super) fn most(&self, view: &View) -> f32 {
        let rarity = self.words.iter().map(|word| view.rarity(word.records));
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
            if here.len() * LOOK_UP < self.records() as usize {
                let mut scorer = weight.scorer(&segment.reader, 1.0)?;
                let base = segment.base;
                look_up(scorer.as_mut(), base, here, |place, score| {
                    take(first + place, score)
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
