//! Words that stand together as in the query, in a name or a cause.
//!
//! The engine has such a query, which begins by going over documents until it meets one with the phrase, whoever is asked for.
//! Here the few documents come first that are asked for and have all the words; where these stand is read for them alone.

use std::io;
use std::rc::Rc;

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, InvertedIndexReader};

use super::chosen::{Chosen, between};
use super::numbers::Numbers;
use super::ranked::is_often;
use super::view::{K1, Listing, Number, Spread, View, share};
use super::words::UNKNOWN_LENGTH;

/// What standing together counts.
const BOOST: f32 = 2.0;

/// Some words, one after the other, in one field.
pub(super) struct Phrase {
    field: Field,
    /// Each word, and where it stands; one at least.
    words: Vec<(String, Listing)>,
}

impl Phrase {
    /// `None` where one of these words stands in the field of no document.
    pub(super) fn find(view: &View, field: Field, words: &[(&str, Rc<Spread>)]) -> Option<Self> {
        let words = words
            .iter()
            .map(|(word, lists)| Some(((*word).to_owned(), view.listing(lists, field)?)));
        Some(Self {
            field,
            words: words.collect::<Option<_>>()?,
        })
    }

    /// More than it counts anywhere: where it is said without end. As BM25 has it of several words.
    pub(super) fn most(&self, view: &View) -> f32 {
        let words = self.words.iter();
        let rarity: f32 = words.map(|(_, word)| view.rarity(word.records)).sum();
        BOOST * rarity * (1.0 + K1)
    }

    /// Those chosen documents that have all of its words, ascending.
    pub(super) fn where_it_may_be(&self, view: &View, chosen: &Chosen) -> Vec<Number> {
        let mut words: Vec<&(String, Listing)> = self.words.iter().collect();
        words.sort_by(|(one, in_one), (other, in_other)| {
            (in_one.records, one).cmp(&(in_other.records, other))
        });
        words.dedup_by(|(one, _), (other, _)| one == other);
        if is_often(chosen.len(), view.numbers()) {
            let mut common = Numbers::none_of(view.numbers());
            common.insert_bits(0, chosen.ranked().bits());
            for (_, word) in words {
                let mut said = Numbers::none_of(view.numbers());
                view.add_to(word, &mut said);
                common.keep(&said);
                if common.is_empty() {
                    break;
                }
            }
            return common.to_list();
        }
        let mut common = chosen.numbers().to_vec();
        for (_, word) in words {
            let mut saying = Vec::new();
            view.each_among(word, &common, |number| saying.push(number));
            common = saying;
        }
        common
    }

    /// Hands over each chosen document where it stands, by its place, with its score.
    pub(super) fn each_scored(
        &self,
        view: &View,
        chosen: &Chosen,
        mut take: impl FnMut(usize, f32),
    ) -> tantivy::Result<()> {
        let common = self.where_it_may_be(view, chosen);
        let lengths = view.lengths(self.field);
        let weight = self.most(view);
        for segment in &view.segments {
            let here = between(&common, segment.numbers());
            let Some(inverted) = segment.inverted(self.field).filter(|_| !here.is_empty()) else {
                continue;
            };
            let norms = segment.norms(self.field);
            let mut places = Places::read(inverted, &self.words)?;
            for number in here {
                let document = number - segment.base;
                let count = places.count(document);
                if let Some(place) = chosen.place(*number).filter(|_| count > 0) {
                    let length = norms.map_or(UNKNOWN_LENGTH, |norms| norms.fieldnorm_id(document));
                    take(place, weight * share(lengths, length, count));
                }
            }
        }
        Ok(())
    }
}

/// Where the words of a phrase stand in one segment.
struct Places {
    /// By word, in the order of the phrase.
    postings: Vec<SegmentPostings>,
    /// Where a phrase may begin that is not ruled out yet.
    begun: Vec<u32>,
    next: Vec<u32>,
}

impl Places {
    fn read(inverted: &InvertedIndexReader, words: &[(String, Listing)]) -> io::Result<Self> {
        let mut postings = Vec::with_capacity(words.len());
        for (word, _) in words {
            if let Some(info) = inverted.terms().get(word)? {
                let with_places = IndexRecordOption::WithFreqsAndPositions;
                postings.push(inverted.read_postings_from_terminfo(&info, with_places)?);
            }
        }
        if postings.len() < words.len() {
            postings.clear();
        }
        Ok(Self {
            postings,
            begun: Vec::new(),
            next: Vec::new(),
        })
    }

    /// How often the phrase stands in a document, which comes after those that were asked for before.
    fn count(&mut self, document: DocId) -> u16 {
        self.begun.clear();
        for (after, postings) in (0..).zip(&mut self.postings) {
            if postings.doc() < document {
                postings.seek(document);
            }
            if postings.doc() != document {
                return 0;
            }
            if after == 0 {
                postings.positions(&mut self.begun);
                continue;
            }
            postings.positions(&mut self.next);
            let next = &self.next;
            self.begun
                .retain(|first| next.binary_search(&(first + after)).is_ok());
            if self.begun.is_empty() {
                return 0;
            }
        }
        u16::try_from(self.begun.len()).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::search::tests::document;
    use crate::search::tokenizer::words;
    use crate::search::{IndexKeeper, SearchDoc, SearchIndex};

    /// The phrase in signatures, and what it counts for each of some documents.
    fn scores(index: &SearchIndex, phrase: &str, among: impl Iterator<Item = Number>) -> Vec<(Number, f32)> {
        scores_in(index, "signature", phrase, among)
    }

    fn scores_in(
        index: &SearchIndex,
        text: &str,
        phrase: &str,
        among: impl Iterator<Item = Number>,
    ) -> Vec<(Number, f32)> {
        let view = &index.view;
        let chosen = Chosen::new(among.collect(), view.numbers());
        let mut texts = index.fields.texts.iter();
        let field = texts.find(|entry| entry.text.name() == text).unwrap().field;
        let words = words(phrase);
        let known: Vec<_> = words
            .iter()
            .filter_map(|word| Some((word.text.as_str(), view.spread(&word.text).unwrap()?)))
            .collect();
        let phrase = Phrase::find(view, field, &known).unwrap();
        let most = phrase.most(view);
        let numbers: BTreeMap<usize, Number> = chosen.each_place().collect();
        let mut found = Vec::new();
        let take = |place: usize, score| found.push((numbers[&place], score));
        phrase.each_scored(view, &chosen, take).unwrap();
        assert!(found.iter().all(|(_, score)| *score < most));
        found
    }

    /// As BM25 has it, from the texts themselves.
    #[expect(clippy::cast_precision_loss, reason = "few texts, each short")]
    fn plainly(texts: &[Vec<&str>], phrase: &[&str]) -> Vec<f32> {
        let all = texts.len() as f32;
        let length = texts.iter().map(Vec::len).sum::<usize>() as f32 / all;
        let rarity = phrase.iter().map(|word| {
            let with = texts.iter().filter(|text| text.contains(word)).count() as f32;
            (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
        });
        let weight = BOOST * rarity.sum::<f32>() * (1.0 + 1.2);
        let scores = texts.iter().map(|text| {
            let count = text.windows(phrase.len()).filter(|run| *run == phrase).count() as f32;
            weight * count / (count + 1.2 * (0.25 + 0.75 * text.len() as f32 / length))
        });
        scores.collect()
    }

    #[test]
    fn a_phrase_counts_what_bm25_says_whoever_is_asked_for() {
        // None of them names a thing by which it is found too.
        let said = [
            "blue house painted",
            "house blue",
            "blue house, blue house",
            "blue of house",
            "house",
            "no blue no blue no blue house",
        ];
        let mut texts: Vec<&str> = said.iter().copied().cycle().take(3_000).collect();
        texts.push("blue no blue no blue");
        // Few beside all, and many beside those who are asked for: their list is looked up.
        texts.extend(std::iter::repeat_n("blue door", 60));
        let documents = (1..).zip(&texts);
        let documents = documents.map(|(slot, said)| (slot, Arc::new(document(&format!("t/d{slot}"), said))));
        let mut documents: Vec<_> = documents.collect();
        // The last ones are a segment of their own.
        let last = documents.split_off(3_000);
        let mut keeper = IndexKeeper::new().unwrap();
        keeper.apply([], documents).unwrap();
        let index = keeper.apply([], last).unwrap();
        assert_eq!(index.view.segments.len(), 2);
        let begins = index.view.segments[1].base;
        let view = &index.view;
        for phrase in ["blue house", "no blue", "no blue no blue", "house", "blue door"] {
            let cut: Vec<String> = texts.iter().map(|text| text.replace(',', "")).collect();
            let cut: Vec<Vec<&str>> = cut.iter().map(|text| text.split(' ').collect()).collect();
            let expected = plainly(&cut, &phrase.split(' ').collect::<Vec<_>>());
            let all = scores(&index, phrase, view.alive.iter());
            assert_eq!(
                all.len(),
                expected.iter().filter(|score| **score > 0.0).count(),
                "{phrase}"
            );
            for (number, score) in &all {
                let place = if *number < begins {
                    *number
                } else {
                    number - begins + 3_000
                };
                let expected = expected[place as usize];
                assert!(
                    (score - expected).abs() < 1e-4 * expected,
                    "{phrase}: {score} for {expected}"
                );
            }
            for step in [43, 7, 1_000] {
                let asked: Vec<Number> = view.alive.iter().step_by(step).collect();
                let few = scores(&index, phrase, asked.iter().copied());
                let of_all = all.iter().filter(|(number, _)| asked.contains(number));
                assert!(few.iter().eq(of_all), "{phrase}");
            }
        }
    }

    #[test]
    fn a_phrase_does_not_go_on_in_the_next_value() {
        let coded = SearchDoc {
            codes: ["Xid 79", "Xid 31"].map(str::to_owned).to_vec(),
            ..document("t/coded", "coded")
        };
        let documents = [(1, Arc::new(coded))];
        let index = IndexKeeper::new().unwrap().apply([], documents).unwrap();
        let count = |phrase| scores_in(&index, "codes", phrase, index.view.alive.iter()).len();
        assert_eq!((count("Xid 79"), count("Xid 31"), count("79 Xid")), (1, 1, 0));
    }
}
