//! A search box text as a query: words with completion of the last one, exact codes, phrases in quotes.
//!
//! There is no query language to get wrong: any text is a query, and pasted error text is a good one.

use std::borrow::Cow;

use super::coverage::{Coverage, SLACK};
use super::index::SearchIndex;
use super::named::codes;
use super::phrase::Phrase;
use super::ranking::{Question, Ranking};
use super::sought::{MAX_WORDS, ReadAs, sought};
use super::terms::{Lexicon, Needle};
use super::tokenizer::words;
use super::view::{Number, View};

/// A hit covers at least this share of what is rare in the query, so that one common word is not enough.
pub(super) const MIN_COVERAGE: f32 = 0.5;

/// Where nothing covers that much: the least share of a hit that is shown as near, and its least share of what the
/// best one covers.
pub(super) const MIN_NEAR: f32 = 0.2;
pub(super) const MIN_OF_BEST: f32 = 0.8;

/// What a query says beside a code is a question of its own from this share of its rarity on.
pub(super) const MIN_BESIDE_CODE: f32 = 0.3;

/// Phrases that are looked for, the whole text among them.
const MAX_PHRASES: usize = 8;

/// What was found for a text.
pub(super) struct Found {
    /// What was looked for, to score and to mark it.
    pub(super) question: Question,
    /// Documents that say enough of it, ascending. One that has no score is no hit.
    covering: Covering,
    /// Nothing covers half of what was asked: these are the nearest.
    pub(super) near: bool,
    /// Words that no record has.
    pub(super) unknown: Vec<String>,
    /// Words that were taken for others.
    pub(super) read_as: Vec<ReadAs>,
}

enum Covering {
    /// Nothing is asked.
    All,
    These(Vec<Number>),
}

impl Found {
    /// Its hits, which are asked for once. From `many` documents on not all are scored.
    pub(super) fn rank<'a>(&'a mut self, view: &'a View, many: usize) -> tantivy::Result<Ranking<'a>> {
        match &mut self.covering {
            Covering::All => Ok(Ranking::of_all(view, &self.question)),
            Covering::These(documents) => Ranking::of(view, &self.question, std::mem::take(documents), many),
        }
    }
}

/// Runs a text against the index. An empty text, or one of blanks, finds everything with score 0.
pub(super) fn run(index: &SearchIndex, text: &str) -> tantivy::Result<Found> {
    let text = narrow(text);
    let text = text.as_ref();
    if text.trim().is_empty() {
        return Ok(Found {
            question: Question {
                codes: Vec::new(),
                needles: Vec::new(),
                phrases: Vec::new(),
            },
            covering: Covering::All,
            near: false,
            unknown: Vec::new(),
            read_as: Vec::new(),
        });
    }
    let lexicon = Lexicon::of_all(index);
    let sought = sought(&lexicon, text)?;
    // Codes and phrases are looked up as they were meant.
    let spelt = sought.spelt.as_deref().unwrap_or(text);
    let named = codes(index, spelt)?;
    let needles = sought.needles;
    let coverage = coverage(&index.view, &needles, &named.words);
    let mut covering = coverage.at_least(MIN_COVERAGE);
    let is_near = covering.is_empty();
    if is_near {
        covering = nearest(&coverage);
    }
    for listing in &named.listings {
        index.view.each(listing, |number| covering.push(number));
    }
    if !named.listings.is_empty() {
        covering.sort_unstable();
        covering.dedup();
    }
    let is_half_unknown = sought.unknown.len() > needles.len();
    Ok(Found {
        near: named.listings.is_empty() && (is_near || is_half_unknown),
        question: Question {
            codes: named.listings,
            phrases: phrases(index, spelt)?,
            needles,
        },
        covering: Covering::These(covering),
        unknown: sought.unknown,
        read_as: sought.read_as,
    })
}

/// Letters as wide as Chinese characters, which input methods write, as ordinary ones.
fn narrow(text: &str) -> Cow<'_, str> {
    const WIDE: std::ops::RangeInclusive<char> = '\u{FF01}'..='\u{FF5E}';
    const WIDER_BY: u32 = 0xFEE0;
    if !text.contains(|c| WIDE.contains(&c) || c == '\u{3000}') {
        return Cow::Borrowed(text);
    }
    let narrowed = text.chars().map(|c| match c {
        '\u{3000}' => ' ',
        wide if WIDE.contains(&wide) => char::from_u32(u32::from(wide) - WIDER_BY).unwrap_or(wide),
        other => other,
    });
    Cow::Owned(narrowed.collect())
}

/// What counts as said. Where the query names a code and says enough beside it, the rest alone counts: a record of the
/// other half is wanted too.
fn coverage<'a>(view: &'a View, needles: &'a [Needle], of_codes: &[String]) -> Coverage<'a> {
    let is_of_code = |needle: &Needle| needle.words.first().is_some_and(|word| of_codes.contains(word));
    let rarity = |needle: &Needle| needle.rarity;
    let all: f32 = needles.iter().map(rarity).sum();
    let beside = needles.iter().filter(|needle| !is_of_code(needle));
    let beside: f32 = beside.map(rarity).sum();
    let is_beside_alone = beside >= MIN_BESIDE_CODE * all;
    let counted = needles
        .iter()
        .filter(|needle| !(is_beside_alone && is_of_code(needle)));
    Coverage::new(view, counted, if is_beside_alone { beside } else { all })
}

/// Documents that cover nearly as much as the best one, where nothing covers half.
fn nearest(coverage: &Coverage<'_>) -> Vec<Number> {
    let near = coverage.shares(MIN_NEAR);
    let best = near.iter().map(|(_, share)| *share).fold(0.0, f32::max);
    let least = MIN_OF_BEST * best;
    let nearest = near.into_iter().filter(|(_, share)| share + SLACK >= least);
    nearest.map(|(number, _)| number).collect()
}

/// Phrases in quotes, and the whole text when it is short: standing together counts extra. It never excludes:
/// quotes are also what error messages put around names.
pub(super) fn phrases(index: &SearchIndex, text: &str) -> tantivy::Result<Vec<Phrase>> {
    let quoted = text.split(['"', '“', '”']).skip(1).step_by(2);
    let sought = std::iter::once(text)
        .chain(quoted)
        .map(words)
        .filter(|together| (2..=MAX_WORDS).contains(&together.len()));
    let names = index.fields.texts.iter();
    let names = names.filter(|entry| entry.text.names_the_error());
    let mut found = Vec::new();
    let mut known: Vec<Vec<String>> = Vec::new();
    for together in sought.take(MAX_PHRASES) {
        let said: Vec<String> = together.iter().map(|word| word.text.clone()).collect();
        if known.contains(&said) {
            continue;
        }
        known.push(said);
        let mut words = Vec::with_capacity(together.len());
        for word in &together {
            let lists = index.view.spread(&word.text)?;
            words.extend(lists.map(|lists| (word.text.as_str(), lists)));
        }
        if words.len() == together.len() {
            let phrases = names
                .clone()
                .map(|entry| Phrase::find(&index.view, entry.field, &words));
            found.extend(phrases.flatten());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::search::tests::document;
    use crate::search::{IndexKeeper, SearchDoc};

    #[test]
    fn quotes_without_end_are_a_bounded_query() {
        let said = "two words and three more words a b";
        let document = SearchDoc {
            root_cause: said.to_owned(),
            workarounds: vec![said.to_owned()],
            ..document("t/said", said)
        };
        let index = IndexKeeper::new()
            .unwrap()
            .apply([], [(1, Arc::new(document))])
            .unwrap();
        let count = |text: &str| phrases(&index, text).unwrap().len();
        // The signature and the cause have them; advice is no name of an error.
        assert_eq!(count(r#"say "two words" and "three more words""#), 2 * 2);
        assert_eq!(count(r#""a b" "#.repeat(2_000).as_str()), 2, "the same one");
        let many = (0..2_000).map(|number| format!(r#""a b{}" "#, " a b".repeat(number % 20)));
        assert_eq!(count(&many.collect::<String>()), MAX_PHRASES * 2);
    }
}
