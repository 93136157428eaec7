//! From a user's text to the words to look for, with how rare each is. Never fails, whatever the text.

use std::collections::HashMap;
use std::rc::Rc;

use tantivy::schema::Field;

use super::index::SearchIndex;
use super::schema::{PARTS_BOOST, Text};
use super::tokenizer::Word;
use super::view::{Listing, Spread, View};

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
    /// Where they stand and how much that counts.
    pub(super) places: Vec<Place>,
    /// Lists of which a record is in one when it says this.
    pub(super) said: Vec<Listing>,
    /// Inverse document frequency: how much of the query's meaning this carries.
    pub(super) rarity: f32,
}

/// Where one of the words stands.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) listing: Listing,
    /// How much it counts there.
    pub(super) boost: f32,
}

/// Finds words in one index.
#[derive(Debug)]
pub(super) struct Lexicon<'a> {
    index: &'a SearchIndex,
    fields: Vec<(Field, f32)>,
    /// Where every word of these texts stands, whichever text it is of.
    every: Option<Field>,
}

impl<'a> Lexicon<'a> {
    /// Over all texts, and the parts of compound words.
    pub(super) fn of_all(index: &'a SearchIndex) -> Self {
        Self {
            every: Some(index.fields.every),
            ..Self::over(index, |_| true)
        }
    }

    /// Over the texts that name an error, and the parts of compound words.
    pub(super) fn of_names(index: &'a SearchIndex) -> Self {
        Self::over(index, Text::names_the_error)
    }

    fn over(index: &'a SearchIndex, wanted: impl Fn(Text) -> bool) -> Self {
        let texts = index.fields.texts.iter().filter(|entry| wanted(entry.text));
        let mut fields: Vec<(Field, f32)> = texts.map(|entry| (entry.field, entry.boost)).collect();
        fields.push((index.fields.parts, PARTS_BOOST));
        Self {
            index,
            fields,
            every: None,
        }
    }

    /// The fields in which a word is looked up to know whether any record has it: one where that is enough.
    fn listing(&self) -> Vec<Field> {
        match self.every {
            Some(every) => vec![every],
            None => self.fields.iter().map(|(field, _)| *field).collect(),
        }
    }

    fn view(&self) -> &'a View {
        &self.index.view
    }

    /// Whether any record has a word.
    pub(super) fn knows(&self, word: &str) -> tantivy::Result<bool> {
        for field in self.listing() {
            if self.view().has(field, word)? {
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
        let fields = self.listing().into_iter();
        let found = fields.filter_map(|field| self.view().listing(&spread, field));
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
        for field in self.listing() {
            for inverted in self.view().dictionaries(field) {
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
            places: Vec::new(),
            said: Vec::new(),
            rarity: 0.0,
        };
        let mut records = 0;
        for (word, weight) in alternatives {
            let Some(spread) = self.view().spread(word)? else {
                continue;
            };
            let mut known = false;
            for field in self.listing() {
                if let Some(listing) = self.view().listing(&spread, field) {
                    records = listing.records.max(records);
                    found.said.push(listing);
                    known = true;
                }
            }
            if known {
                found.words.push(word.clone());
                self.add_places(&mut found.places, &spread, *weight);
            }
        }
        if found.places.is_empty() {
            return Ok(None);
        }
        found.rarity = self.rarity(records);
        Ok(Some(found))
    }

    fn add_places(&self, places: &mut Vec<Place>, word: &Rc<Spread>, weight: f32) {
        for (field, boost) in &self.fields {
            if let Some(listing) = self.view().listing(word, *field) {
                places.push(Place {
                    listing,
                    boost: boost * weight,
                });
            }
        }
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
