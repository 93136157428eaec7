//! Reads a query.

use std::borrow::Cow;
use std::collections::HashMap;

use indexmap::IndexSet;
use serde::Serialize;
use utoipa::ToSchema;

use super::codes::codes;
use super::expansion::QueryTerm;
use super::phrases::phrases;
use super::spelling::{CORRECTED, Corrected};
use super::vocabulary::Vocabulary;
use crate::analysis::{
    Mention, Word, inflections, is_misspelt_stop_word, is_stop_word, longest_mentions, parts, parts_of,
    simplified, words,
};
use crate::index::Snapshot;

/// Most words of a query that are asked for.
const MAX_WORDS: usize = 48;
/// A longer query keeps its rarest terms.
const MAX_TERMS: usize = 12;

/// Most words that no document contains for which completions and corrections are looked for: each reads a part of the
/// dictionary, and a text with more such words is no query. Of the others only the parts are asked for.
const MAX_GUESSES: usize = 12;

/// Weight of another inflection beside the word as written, and of a synonym.
const INFLECTION: f32 = 0.6;
const SYNONYM: f32 = 0.45;
/// Share of its idf that a name of several words has beside its words, and a pair of Chinese characters that is no name.
const HALF: f32 = 0.5;

/// A word that no record has, and what it was taken for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = ReadAs)]
pub struct Correction {
    /// As it was written, in lower case.
    pub typed: String,
    /// Words that records have, the most likely first.
    pub meant: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct ParsedQuery {
    pub(crate) terms: Vec<QueryTerm>,
    /// Sum of the idf of the terms.
    pub(crate) asked: f32,
    pub(crate) codes: Vec<String>,
    /// Words of the query that belong to codes.
    pub(crate) words_of_codes: Vec<String>,
    pub(crate) phrases: Vec<Vec<String>>,
    /// Words that no document contains and that are close to none.
    pub(crate) unknown: Vec<String>,
    pub(crate) corrections: Vec<Correction>,
    /// Words for which completions and corrections were looked for.
    guesses: usize,
}

/// Reads a query. `is_typing`: the last word may be a beginning.
pub(crate) fn parse(snapshot: &Snapshot, text: &str, is_typing: bool) -> tantivy::Result<ParsedQuery> {
    let text = as_records_write(text);
    let reader = Reader {
        vocabulary: Vocabulary::of_every_text(snapshot),
        text: &text,
        is_typing,
    };
    let (mut query, meant) = reader.read(&HashMap::new())?;
    let mut spelt = Cow::Borrowed(text.as_ref());
    if !query.corrections.is_empty() {
        // Names of several words are recognised once each of their words is right.
        spelt = Cow::Owned(corrected_text(&text, &query.corrections));
        let reader = Reader {
            text: &spelt,
            ..reader
        };
        query.terms = reader.read(&meant)?.0.terms;
    }
    let codes = codes(snapshot, &spelt)?;
    query.codes = codes.codes;
    query.words_of_codes = codes.words;
    query.phrases = phrases(&spelt);
    query.terms.sort_by(|one, other| other.idf.total_cmp(&one.idf));
    query.terms.truncate(MAX_TERMS);
    query.asked = query.terms.iter().map(|term| term.idf).sum();
    Ok(query)
}

/// Full-width letters, as Chinese input methods write them, as ordinary ones, and traditional characters as simplified ones.
fn as_records_write(text: &str) -> Cow<'_, str> {
    const FULL_WIDTH: std::ops::RangeInclusive<char> = '\u{FF01}'..='\u{FF5E}';
    const OFFSET: u32 = 0xFEE0;
    const IDEOGRAPHIC_SPACE: char = '\u{3000}';
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let written = text.chars().map(|c| match c {
        IDEOGRAPHIC_SPACE => ' ',
        wide if FULL_WIDTH.contains(&wide) => char::from_u32(u32::from(wide) - OFFSET).unwrap_or(wide),
        other => simplified(other),
    });
    Cow::Owned(written.collect())
}

/// The text with the likeliest correction in place of each misspelt word.
fn corrected_text(text: &str, corrections: &[Correction]) -> String {
    let mut spelt = String::with_capacity(text.len());
    let mut from = 0;
    for word in words(text) {
        let correction = corrections
            .iter()
            .find(|correction| correction.typed == word.text);
        let meant = correction.and_then(|correction| correction.meant.first());
        if let (Some(meant), Some(before)) = (meant, text.get(from..word.start)) {
            spelt.push_str(before);
            spelt.push_str(meant);
            from = word.end;
        }
    }
    spelt.push_str(text.get(from..).unwrap_or_default());
    spelt
}

/// For the likeliest correction of a misspelt word, all corrections with their weights.
type Meant = HashMap<String, Vec<(String, f32)>>;

struct Reader<'a> {
    vocabulary: Vocabulary<'a>,
    text: &'a str,
    is_typing: bool,
}

impl Reader<'_> {
    /// Reads the text. `corrected` holds the words that stand in it as corrections.
    fn read(&self, corrected: &Meant) -> tantivy::Result<(ParsedQuery, Meant)> {
        let all = words(self.text);
        let names = Names::of(&all, self.text);
        let ends_in_word = self
            .text
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphanumeric() || c == '_');
        let last = all.last().map(|word| word.position);
        let last = last.filter(|_| self.is_typing && ends_in_word);
        let only_stop_words = all.iter().all(|word| is_stop_word(&word.text));
        let mut seen: Vec<&Word> = Vec::new();
        let mut query = ParsedQuery::default();
        let mut meant = Meant::new();
        for word in &all {
            let is_last = last == Some(word.position);
            let is_stop = is_stop_word(&word.text) && !only_stop_words && !is_last;
            if is_stop || names.cut_through(word) || seen.iter().any(|known| known.text == word.text) {
                continue;
            }
            if seen.len() == MAX_WORDS {
                break;
            }
            seen.push(word);
            let synonyms = names.around(word);
            match corrected.get(&word.text) {
                Some(corrections) => {
                    let term = self.term(word, corrections.clone(), &synonyms, Vec::new())?;
                    query.terms.extend(term.map(|term| term.scaled(CORRECTED)));
                }
                None => self.read_word(word, is_last, &synonyms, &mut query, &mut meant)?,
            }
        }
        for token in names.of_several_words() {
            let whole = self.vocabulary.term(&[(token.to_owned(), HALF)], Vec::new())?;
            query.terms.extend(whole.map(|term| term.scaled(HALF)));
        }
        if query.terms.is_empty() {
            for word in seen.into_iter().take(MAX_GUESSES) {
                if let Some(further) = self.vocabulary.correct_further(&word.text)? {
                    query.unknown.retain(|unknown| *unknown != word.text);
                    accept(word, further, &mut query, &mut meant);
                }
            }
        }
        for word in &all {
            // A word that is also written right stands for itself.
            meant.remove(&word.text);
        }
        Ok((query, meant))
    }

    /// One word: as written with its inflections and completions, else by its parts, else corrected.
    fn read_word(
        &self,
        word: &Word,
        is_last: bool,
        synonyms: &[&'static str],
        query: &mut ParsedQuery,
        meant: &mut Meant,
    ) -> tantivy::Result<()> {
        let has_two_characters = word.text.chars().nth(1).is_some();
        let is_begun = if word.is_cjk {
            !has_two_characters
        } else {
            is_last && has_two_characters
        };
        let is_unknown = !self.vocabulary.contains(&word.text)?;
        let is_guessed = query.guesses < MAX_GUESSES;
        if is_unknown {
            query.guesses += 1;
        }
        // A word that no document contains may lack its end: `duplicat`.
        let completions = if is_begun || (is_unknown && is_guessed) {
            self.vocabulary.completions(&word.text)?
        } else {
            Vec::new()
        };
        let as_written = vec![(word.text.clone(), 1.0)];
        if let Some(term) = self.term(word, as_written, synonyms, completions)? {
            let is_half = word.is_cjk && synonyms.is_empty();
            query.terms.push(if is_half { term.scaled(HALF) } else { term });
            return Ok(());
        }
        if is_unknown && is_misspelt_stop_word(&word.text) {
            return Ok(());
        }
        let parts = parts_of(self.text.get(word.start..word.end).unwrap_or_default());
        let mut known = Vec::new();
        for part in &parts {
            known.extend(self.vocabulary.exact(part)?);
        }
        if !parts.is_empty() && (known.len() == parts.len() || !is_guessed) {
            query.terms.extend(known);
        } else if !is_guessed {
            query.unknown.push(word.text.clone());
        } else if let Some(corrected) = self.vocabulary.correct(&word.text)? {
            accept(word, corrected, query, meant);
        } else if !known.is_empty() {
            query.terms.extend(known);
        } else if let Some(halves) = self.vocabulary.split(&word.text)? {
            query.terms.extend(halves);
        } else if is_last && let Some(corrected) = self.vocabulary.correct_prefix(&word.text)? {
            accept(word, corrected, query, meant);
        } else if !word.is_cjk {
            query.unknown.push(word.text.clone());
        }
        Ok(())
    }

    fn term(
        &self,
        word: &Word,
        mut tokens: Vec<(String, f32)>,
        synonyms: &[&'static str],
        completions: Vec<String>,
    ) -> tantivy::Result<Option<QueryTerm>> {
        let inflections = inflections(&word.text).into_iter();
        tokens.extend(inflections.map(|form| (form, INFLECTION)));
        tokens.extend(synonyms.iter().map(|token| ((*token).to_owned(), SYNONYM)));
        self.vocabulary.term(&tokens, completions)
    }
}

fn accept(word: &Word, corrected: Corrected, query: &mut ParsedQuery, meant: &mut Meant) {
    query.terms.push(corrected.term);
    query.corrections.push(Correction {
        typed: word.text.clone(),
        meant: corrected.meant.iter().map(|(word, _)| word.clone()).collect(),
    });
    if let Some((likeliest, _)) = corrected.meant.first() {
        meant.insert(likeliest.clone(), corrected.meant);
    }
}

/// Names of things in a query: in its words, and in the parts of its compound words.
struct Names(Vec<Name>);

struct Name {
    mention: Mention,
    start: usize,
    end: usize,
}

impl Names {
    fn of(all: &[Word], text: &str) -> Self {
        let parts = parts(text);
        let mut names = Vec::new();
        for words in [all, parts.as_slice()] {
            for mention in longest_mentions(words) {
                if let (Some(first), Some(last)) = (words.get(mention.first), words.get(mention.last)) {
                    names.push(Name {
                        start: first.start,
                        end: last.end,
                        mention,
                    });
                }
            }
        }
        Self(names)
    }

    /// Synonym tokens of the names that a word belongs to.
    fn around(&self, word: &Word) -> Vec<&'static str> {
        let holds = |name: &&Name| name.start <= word.start && word.end <= name.end;
        let holding = self.0.iter().filter(holds);
        holding.map(|name| name.mention.token).collect()
    }

    /// True for a pair of Chinese characters of which one belongs to a name: such a pair is no word.
    fn cut_through(&self, word: &Word) -> bool {
        let overlaps = |name: &Name| name.start < word.end && word.start < name.end;
        word.is_cjk && self.0.iter().any(overlaps) && self.around(word).is_empty()
    }

    /// Synonym tokens of names of several words, each once.
    fn of_several_words(&self) -> IndexSet<&'static str> {
        let mentions = self.0.iter().map(|name| &name.mention);
        let longer = mentions.filter(|mention| mention.last > mention.first);
        longer.map(|mention| mention.token).collect()
    }
}
