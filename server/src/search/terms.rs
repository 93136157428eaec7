//! From a user's text to the words to look for, with how rare each is. Never fails, whatever the text.

use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, DisjunctionMaxQuery, Occur, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Searcher, Term};

use super::collect::ScoredSlots;
use super::index::SearchIndex;
use super::schema::{PARTS_BOOST, Text};
use super::tokenizer::Word;

/// Most words that completing a prefix gives: enough to find, few enough to stay quick.
const MAX_COMPLETIONS: usize = 24;

/// A word found in a second field counts this much beside its best field.
const TIE_BREAKER: f32 = 0.1;

/// One thing to look for: any of some words, in any of some fields.
#[derive(Debug, Clone)]
pub(super) struct Needle {
    /// The words, lower case; several where a prefix was completed.
    pub(super) words: Vec<String>,
    /// Where they stand and how much that counts.
    places: Vec<Place>,
    /// Inverse document frequency: how much of the query's meaning this carries.
    pub(super) rarity: f32,
}

#[derive(Debug, Clone)]
struct Place {
    term: Term,
    boost: f32,
}

impl Needle {
    /// Ranks by where the word stands and how often.
    pub(super) fn ranking_query(&self) -> Box<dyn Query> {
        let alternatives = self.places.iter().map(|place| {
            let term = TermQuery::new(place.term.clone(), IndexRecordOption::WithFreqs);
            Box::new(BoostQuery::new(Box::new(term), place.boost)) as Box<dyn Query>
        });
        Box::new(DisjunctionMaxQuery::with_tie_breaker(
            alternatives.collect(),
            TIE_BREAKER,
        ))
    }

    /// Scores the word's rarity, once, wherever it stands.
    pub(super) fn rarity_query(&self) -> Box<dyn Query> {
        let alternatives = self.places.iter().map(|place| {
            let term = TermQuery::new(place.term.clone(), IndexRecordOption::Basic);
            Box::new(ConstScoreQuery::new(Box::new(term), self.rarity)) as Box<dyn Query>
        });
        Box::new(DisjunctionMaxQuery::new(alternatives.collect()))
    }
}

/// Finds words in one index.
#[derive(Debug)]
pub(super) struct Lexicon<'a> {
    index: &'a SearchIndex,
    fields: Vec<(Field, f32)>,
}

impl<'a> Lexicon<'a> {
    /// Over the texts that `wanted` takes, and the parts of compound words.
    pub(super) fn new(index: &'a SearchIndex, wanted: impl Fn(Text) -> bool) -> Self {
        let texts = index.fields.texts.iter().filter(|entry| wanted(entry.text));
        let mut fields: Vec<(Field, f32)> = texts.map(|entry| (entry.field, entry.boost)).collect();
        fields.push((index.fields.parts, PARTS_BOOST));
        Self { index, fields }
    }

    fn searcher(&self) -> &Searcher {
        &self.index.searcher
    }

    /// The word as it stands in the index; `None` when no record has it.
    pub(super) fn exact(&self, word: &str) -> tantivy::Result<Option<Needle>> {
        self.any_of(vec![word.to_owned()])
    }

    /// The word and those that begin with it; `None` when no record has any.
    pub(super) fn completed(&self, prefix: &str) -> tantivy::Result<Option<Needle>> {
        let mut words = vec![prefix.to_owned()];
        for (field, _) in &self.fields {
            for segment in self.searcher().segment_readers() {
                let inverted = segment.inverted_index(*field)?;
                let mut stream = inverted.terms().range().ge(prefix.as_bytes()).into_stream()?;
                while words.len() <= MAX_COMPLETIONS && stream.advance() {
                    let Ok(word) = std::str::from_utf8(stream.key()) else {
                        continue;
                    };
                    if !word.starts_with(prefix) {
                        break;
                    }
                    if !words.iter().any(|known| known == word) {
                        words.push(word.to_owned());
                    }
                }
            }
        }
        self.any_of(words)
    }

    /// Hands over every word of the index that begins so, once for each field that has it.
    pub(super) fn each_word_from(&self, prefix: &str, mut each: impl FnMut(&str)) -> tantivy::Result<()> {
        for (field, _) in &self.fields {
            for segment in self.searcher().segment_readers() {
                let inverted = segment.inverted_index(*field)?;
                let mut stream = inverted.terms().range().ge(prefix.as_bytes()).into_stream()?;
                while stream.advance() {
                    if !stream.key().starts_with(prefix.as_bytes()) {
                        break;
                    }
                    if let Ok(word) = std::str::from_utf8(stream.key()) {
                        each(word);
                    }
                }
            }
        }
        Ok(())
    }

    /// One needle for any of these words; `None` when no record has one of them.
    pub(super) fn any_of(&self, words: Vec<String>) -> tantivy::Result<Option<Needle>> {
        let mut places = Vec::new();
        let mut records = 0;
        for word in &words {
            let mut records_with_word = 0;
            for (field, boost) in &self.fields {
                let term = Term::from_field_text(*field, word);
                let records_here = self.searcher().doc_freq(&term)?;
                if records_here > 0 {
                    records_with_word = records_with_word.max(records_here);
                    places.push(Place { term, boost: *boost });
                }
            }
            records += records_with_word;
        }
        if places.is_empty() {
            return Ok(None);
        }
        let rarity = self.rarity(records);
        Ok(Some(Needle {
            words,
            places,
            rarity,
        }))
    }

    /// Inverse document frequency as BM25 has it; a word that no record has is the rarest.
    pub(super) fn rarity(&self, records_with_word: u64) -> f32 {
        let all = count(self.searcher().num_docs());
        let with_word = count(records_with_word).min(all);
        ((all - with_word + 0.5) / (with_word + 0.5)).ln_1p()
    }

    /// How much of the needles' rarity each record covers.
    pub(super) fn covered(&self, needles: &[Needle]) -> tantivy::Result<Vec<(f32, u64)>> {
        let clauses = needles
            .iter()
            .map(|needle| (Occur::Should, needle.rarity_query()))
            .collect();
        self.searcher().search(&BooleanQuery::new(clauses), &ScoredSlots)
    }
}

/// The query word as typed, with the part of it that belongs to one token.
pub(super) fn slice_of<'t>(text: &'t str, word: &Word) -> &'t str {
    text.get(word.start..word.end).unwrap_or_default()
}

/// Counts of documents are far below the 24 bits that an `f32` holds exactly.
fn count(documents: u64) -> f32 {
    DocId::try_from(documents).map_or(f32::MAX, |small| {
        #[expect(clippy::cast_precision_loss, reason = "rarity is an estimate")]
        let float = small as f32;
        float
    })
}
