//! From a user's text to the words to look for, with how rare each is. Never fails, whatever the text.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::schema::Field;

use super::index::SearchIndex;
use super::tokenizer::Word;
use super::view::{Listing, View};
use super::weighed::Weighed;

/// Most words that completing a prefix gives: enough to find, few enough to stay quick.
const MAX_COMPLETIONS: usize = 24;
/// How much a word counts that was begun, beside one that was written out.
const COMPLETED: f32 = 0.7;
/// Most words of one field that are looked at for a prefix.
const MAX_LOOKED_AT: usize = 4096;

/// One thing to look for: any of some words, in any of some fields.
#[derive(Debug, Clone)]
pub(super) struct Needle {
    /// The words that some record has, lower case: one, or several of which any will do.
    pub(super) words: Vec<String>,
    /// What each counts where it stands, and how much of that for the query. Nothing where only names are looked through.
    pub(super) weighed: Vec<(Arc<Weighed>, f32)>,
    /// Lists of which a record is in one when it says this.
    pub(super) said: Vec<Listing>,
    /// Inverse document frequency: how much of the query's meaning this carries.
    pub(super) rarity: f32,
}

/// Finds words in one index.
#[derive(Debug)]
pub(super) struct Lexicon<'a> {
    index: &'a SearchIndex,
    /// The fields in which a word is looked up to know whether any record has it: one where that is enough.
    fields: Vec<Field>,
    /// Whether what is found is scored.
    is_scored: bool,
}

impl<'a> Lexicon<'a> {
    /// Over all texts, and the parts of compound words.
    pub(super) fn of_all(index: &'a SearchIndex) -> Self {
        Self {
            index,
            fields: vec![index.fields.every],
            is_scored: true,
        }
    }

    /// Over the texts that name an error, and the parts of compound words.
    pub(super) fn of_names(index: &'a SearchIndex) -> Self {
        let texts = index.fields.texts.iter();
        let names = texts.filter(|entry| entry.text.names_the_error());
        let fields = names.map(|entry| entry.field);
        Self {
            index,
            fields: fields.chain([index.fields.parts]).collect(),
            is_scored: false,
        }
    }

    fn view(&self) -> &'a View {
        &self.index.view
    }

    /// Whether any record has a word.
    pub(super) fn knows(&self, word: &str) -> tantivy::Result<bool> {
        for field in &self.fields {
            if self.view().has(*field, word)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many records have a word, in the field where that is most.
    pub(super) fn records(&self, word: &str) -> tantivy::Result<u32> {
        let Some(spread) = self.view().spread(word)? else {
            return Ok(0);
        };
        let fields = self.fields.iter();
        let found = fields.filter_map(|field| self.view().listing(&spread, *field));
        Ok(found.map(|listing| listing.records).max().unwrap_or_default())
    }

    /// The word as it stands in the index; `None` when no record has it.
    pub(super) fn exact(&self, word: &str) -> tantivy::Result<Option<Needle>> {
        self.needle(&[(word.to_owned(), 1.0)])
    }

    /// The commonest words that begin so and go on, each with how much it counts.
    pub(super) fn completions(&self, prefix: &str) -> tantivy::Result<Vec<(String, f32)>> {
        let mut commonest = Commonest::default();
        self.each_from(prefix, |word, records| {
            if word.len() > prefix.len() && commonest.has_room_for(records) && self.knows(word)? {
                commonest.add(word, records);
            }
            Ok(())
        })?;
        let words = commonest.finish().into_iter();
        Ok(words.map(|word| (word, COMPLETED)).collect())
    }

    /// Words of the index that begin so and are wanted, each with about the number of records that have it. Looks at a
    /// bounded number of them in each field. The dictionaries keep words that only deleted records had, and count those:
    /// [`Self::records`] is exact.
    pub(super) fn words_from(
        &self,
        prefix: &str,
        mut wanted: impl FnMut(&str) -> tantivy::Result<bool>,
    ) -> tantivy::Result<Vec<(String, u32)>> {
        let mut found: HashMap<String, u32> = HashMap::new();
        self.each_from(prefix, |word, records| {
            if !wanted(word)? {
                return Ok(());
            }
            match found.get_mut(word) {
                Some(most) => *most = records.max(*most),
                None => {
                    found.insert(word.to_owned(), records);
                }
            }
            Ok(())
        })?;
        Ok(found.into_iter().collect())
    }

    /// Hands over words that begin so, by dictionary.
    fn each_from(
        &self,
        prefix: &str,
        mut take: impl FnMut(&str, u32) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        for field in &self.fields {
            for inverted in self.view().dictionaries(*field) {
                let mut stream = inverted.terms().range().ge(prefix.as_bytes()).into_stream()?;
                for _ in 0..MAX_LOOKED_AT {
                    if !stream.advance() || !stream.key().starts_with(prefix.as_bytes()) {
                        break;
                    }
                    if let Ok(word) = std::str::from_utf8(stream.key()) {
                        take(word, stream.value().doc_freq)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// One needle for any of these words, each with how much it counts; `None` when no record has one of them. It is as
    /// rare as the commonest of them: they are ways to say one thing, and mostly stand in the same records.
    pub(super) fn needle(&self, alternatives: &[(String, f32)]) -> tantivy::Result<Option<Needle>> {
        let mut found = Needle {
            words: Vec::new(),
            weighed: Vec::new(),
            said: Vec::new(),
            rarity: 0.0,
        };
        let mut records = 0;
        let mut counts = false;
        for (word, weight) in alternatives {
            let Some(spread) = self.view().spread(word)? else {
                continue;
            };
            let before = found.said.len();
            for field in &self.fields {
                if let Some(listing) = self.view().listing(&spread, *field) {
                    records = listing.records.max(records);
                    found.said.push(listing);
                }
            }
            if found.said.len() > before {
                let weighed = self.is_scored.then(|| self.view().weighed(word, &spread));
                found.words.push(word.clone());
                counts |= weighed.as_ref().is_none_or(|weighed| !weighed.is_empty());
                found.weighed.extend(weighed.map(|weighed| (weighed, *weight)));
            }
        }
        if !counts {
            return Ok(None);
        }
        found.rarity = self.rarity(records);
        Ok(Some(found))
    }

    /// Inverse document frequency as BM25 has it; a word that no record has is the rarest.
    pub(super) fn rarity(&self, records_with_word: u32) -> f32 {
        self.view().rarity(records_with_word)
    }
}

/// The words that most records have, of those that were added.
#[derive(Default)]
struct Commonest {
    words: Vec<(String, u32)>,
    /// Of the last of as many as are wanted, when there are so many.
    least: u32,
}

impl Commonest {
    fn has_room_for(&self, records: u32) -> bool {
        records >= self.least
    }

    fn add(&mut self, word: &str, records: u32) {
        // A word stands in several dictionaries, and the one where it is commonest says how common it is.
        match self.words.iter_mut().find(|(known, _)| known == word) {
            Some((_, most)) => *most = records.max(*most),
            None => self.words.push((word.to_owned(), records)),
        }
        if self.words.len() > 2 * MAX_COMPLETIONS {
            self.sort();
            self.least = self.words.last().map_or(0, |(_, records)| *records);
        }
    }

    fn sort(&mut self) {
        self.words
            .sort_by(|(a, a_records), (b, b_records)| b_records.cmp(a_records).then_with(|| a.cmp(b)));
        self.words.truncate(MAX_COMPLETIONS);
    }

    fn finish(mut self) -> Vec<String> {
        self.sort();
        self.words.into_iter().map(|(word, _)| word).collect()
    }
}

/// The query word as typed, with the part of it that belongs to one token.
pub(super) fn slice_of<'t>(text: &'t str, word: &Word) -> &'t str {
    text.get(word.start..word.end).unwrap_or_default()
}
