//! A search box text as a query: words with completion of the last one, exact codes, phrases in quotes.
//!
//! There is no query language to get wrong: any text is a query, and pasted error text is a good one.

use std::borrow::Cow;
use std::collections::HashMap;

use tantivy::Term;
use tantivy::query::{AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, Occur, PhraseQuery, Query};

use super::collect::ScoredSlots;
use super::index::{SearchIndex, Slot};
use super::named::{CODE_SCORE, codes};
use super::sought::{MAX_WORDS, ReadAs, sought};
use super::terms::{Lexicon, Needle};
use super::tokenizer::words;

/// A hit covers at least this share of what is rare in the query, so that one common word is not enough.
const MIN_COVERAGE: f32 = 0.5;

/// Where nothing covers that much: the least share of a hit that is shown as near, and its least share of what the
/// best one covers.
const MIN_NEAR: f32 = 0.2;
const MIN_OF_BEST: f32 = 0.8;

/// What a query says beside a code is a question of its own from this share of its rarity on.
const MIN_BESIDE_CODE: f32 = 0.3;

/// Phrases that are looked for, the whole text among them.
const MAX_PHRASES: usize = 8;

/// Words that stand together as in the query, in a name or a cause.
const PHRASE_BOOST: f32 = 2.0;

/// What was found for a text.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Every hit, in no particular order.
    pub(super) slots: Vec<(f32, Slot)>,
    /// What was looked for, to mark it.
    pub(super) needles: Vec<Needle>,
    /// Nothing covers half of what was asked: these are the nearest.
    pub(super) near: bool,
    /// Words that no record has.
    pub(super) unknown: Vec<String>,
    /// Words that were taken for others.
    pub(super) read_as: Vec<ReadAs>,
}

/// Runs a text against the index. An empty text, or one of blanks, finds everything with score 0.
pub(super) fn run(index: &SearchIndex, text: &str) -> tantivy::Result<Found> {
    let text = narrow(text);
    let text = text.as_ref();
    if text.trim().is_empty() {
        let all = ConstScoreQuery::new(Box::new(AllQuery), 0.0);
        return Ok(Found {
            slots: index.searcher.search(&all, &ScoredSlots)?,
            ..Found::default()
        });
    }
    let lexicon = Lexicon::of_all(index);
    let sought = sought(&lexicon, text)?;
    let named = codes(index, text)?;
    let mut clauses = named.clauses;
    let codes_named = clauses.len();
    clauses.extend(
        sought
            .needles
            .iter()
            .map(|needle| (Occur::Should, needle.ranking_query())),
    );
    clauses.extend(
        phrases(index, text)
            .into_iter()
            .map(|phrase| (Occur::Should, phrase)),
    );
    let mut found = Found {
        unknown: sought.unknown,
        read_as: sought.read_as,
        needles: sought.needles,
        ..Found::default()
    };
    if clauses.is_empty() {
        return Ok(found);
    }
    found.slots = index.searcher.search(&BooleanQuery::new(clauses), &ScoredSlots)?;
    let covered = covered(&lexicon, &found.needles, &named.words)?;
    let share = |slot: &Slot| covered.get(slot).copied().unwrap_or_default();
    let best = covered.values().copied().fold(0.0, f32::max);
    let is_near = best + SLACK < MIN_COVERAGE;
    let least = if is_near {
        MIN_NEAR.max(best * MIN_OF_BEST)
    } else {
        MIN_COVERAGE
    };
    found.slots.retain(|(score, slot)| {
        let by_code = codes_named > 0 && *score >= CODE_SCORE;
        by_code || share(slot) + SLACK >= least
    });
    let is_half_unknown = found.unknown.len() > found.needles.len();
    found.near = codes_named == 0 && (is_near || is_half_unknown) && !found.slots.is_empty();
    Ok(found)
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

/// Sums that were added up in different orders are compared with this slack.
const SLACK: f32 = 1e-4;

/// The share of the query's rarity that each record covers. Where the query names a code and says enough beside it,
/// the rest alone counts: a record of the other half is wanted too.
fn covered(
    lexicon: &Lexicon<'_>,
    needles: &[Needle],
    of_codes: &[String],
) -> tantivy::Result<HashMap<Slot, f32>> {
    let rarity = |needles: &[Needle]| needles.iter().map(|needle| needle.rarity).sum::<f32>();
    let is_of_code = |needle: &Needle| needle.words.first().is_some_and(|word| of_codes.contains(word));
    let beside: Vec<Needle> = needles
        .iter()
        .filter(|needle| !is_of_code(needle))
        .cloned()
        .collect();
    let counted = if rarity(&beside) >= MIN_BESIDE_CODE * rarity(needles) {
        beside.as_slice()
    } else {
        needles
    };
    let sought = rarity(counted);
    let masses = lexicon.covered(counted)?.into_iter();
    Ok(masses.map(|(mass, slot)| (slot, mass / sought)).collect())
}

/// Phrases in quotes, and the whole text when it is short: standing together counts extra. It never excludes:
/// quotes are also what error messages put around names.
fn phrases(index: &SearchIndex, text: &str) -> Vec<Box<dyn Query>> {
    let quoted = text.split(['"', '“', '”']).skip(1).step_by(2);
    let sought = std::iter::once(text)
        .chain(quoted)
        .map(words)
        .filter(|together| (2..=MAX_WORDS).contains(&together.len()));
    let mut found: Vec<Box<dyn Query>> = Vec::new();
    for together in sought.take(MAX_PHRASES) {
        for entry in index
            .fields
            .texts
            .iter()
            .filter(|entry| entry.text.names_the_error())
        {
            let terms = together
                .iter()
                .map(|word| Term::from_field_text(entry.field, &word.text))
                .collect();
            let query = BoostQuery::new(Box::new(PhraseQuery::new(terms)), PHRASE_BOOST);
            found.push(Box::new(query));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::IndexKeeper;

    #[test]
    fn quotes_without_end_are_a_bounded_query() {
        let index = IndexKeeper::new().unwrap().apply([], []).unwrap();
        let fields = index
            .fields
            .texts
            .iter()
            .filter(|entry| entry.text.names_the_error());
        let fields = fields.count();
        assert_eq!(
            phrases(&index, r#"say "two words" and "three more words""#).len(),
            3 * fields
        );
        let many = r#""a b" "#.repeat(2_000);
        assert_eq!(phrases(&index, &many).len(), MAX_PHRASES * fields);
    }
}
