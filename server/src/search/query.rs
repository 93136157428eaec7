//! A search box text as a query: words with completion of the last one, exact codes, phrases in quotes.
//!
//! There is no query language to get wrong: any text is a query, and pasted error text is a good one.

use std::collections::HashMap;

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, Occur, PhraseQuery, Query, TermQuery,
};
use tantivy::schema::IndexRecordOption;

use super::collect::ScoredSlots;
use super::document::comparable_code;
use super::index::{SearchIndex, Slot};
use super::stop_words::is_stop_word;
use super::terms::{Lexicon, Needle, slice_of};
use super::tokenizer::{Word, parts_of, words};

/// Words of a text that are looked at; what comes after says no more about what is sought.
const MAX_WORDS: usize = 48;

/// Words of the longest code that is looked up (`NVRM: Xid 79` has three).
const MAX_CODE_WORDS: usize = 3;

/// A hit covers at least this share of what is rare in the query, so that one common word is not enough.
const MIN_COVERAGE: f32 = 0.5;

/// Where nothing covers that much: the least share of a hit that is shown as near, and its least share of what the
/// best one covers.
const MIN_NEAR: f32 = 0.2;
const MIN_OF_BEST: f32 = 0.8;

/// What a query says beside a code is a question of its own from this share of its rarity on.
const MIN_BESIDE_CODE: f32 = 0.3;

/// Puts a record whose code was named above every record that only speaks of it.
const CODE_SCORE: f32 = 1000.0;

/// Phrases that are looked for, the whole text among them.
const MAX_PHRASES: usize = 8;

/// Words that stand together as in the query, in a name or a cause.
const PHRASE_BOOST: f32 = 2.0;

/// What was found for a text.
#[derive(Debug)]
pub(super) struct Found {
    /// Every hit, in no particular order.
    pub(super) slots: Vec<(f32, Slot)>,
    /// What was looked for, to mark it.
    pub(super) needles: Vec<Needle>,
}

/// Runs a text against the index. An empty text, or one of blanks, finds everything with score 0.
pub(super) fn run(index: &SearchIndex, text: &str) -> tantivy::Result<Found> {
    if text.trim().is_empty() {
        let all = ConstScoreQuery::new(Box::new(AllQuery), 0.0);
        return Ok(Found {
            slots: index.searcher.search(&all, &ScoredSlots)?,
            needles: Vec::new(),
        });
    }
    let lexicon = Lexicon::new(index, |_| true);
    let needles = needles(&lexicon, text)?;
    let named = codes(index, text)?;
    let mut clauses = named.clauses;
    let codes_named = clauses.len();
    clauses.extend(
        needles
            .iter()
            .map(|needle| (Occur::Should, needle.ranking_query())),
    );
    clauses.extend(
        phrases(index, text)
            .into_iter()
            .map(|phrase| (Occur::Should, phrase)),
    );
    if clauses.is_empty() {
        return Ok(Found {
            slots: Vec::new(),
            needles,
        });
    }
    let mut slots = index.searcher.search(&BooleanQuery::new(clauses), &ScoredSlots)?;
    let covered = covered(&lexicon, &needles, &named.words)?;
    let share = |slot: &Slot| covered.get(slot).copied().unwrap_or_default();
    let best = covered.values().copied().fold(0.0, f32::max);
    let least = if best + SLACK >= MIN_COVERAGE {
        MIN_COVERAGE
    } else {
        MIN_NEAR.max(best * MIN_OF_BEST)
    };
    slots.retain(|(score, slot)| {
        let by_code = codes_named > 0 && *score >= CODE_SCORE;
        by_code || share(slot) + SLACK >= least
    });
    Ok(Found { slots, needles })
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

/// The words worth looking for. Words that no record has are left out: they cannot narrow anything down.
fn needles(lexicon: &Lexicon<'_>, text: &str) -> tantivy::Result<Vec<Needle>> {
    let all = words(text);
    let is_typing = text.chars().next_back().is_some_and(char::is_alphanumeric) || text.ends_with('_');
    let last = all.last().map(|word| word.position).filter(|_| is_typing);
    let only_stop_words = all.iter().all(|word| is_stop_word(&word.text));
    let mut seen: Vec<&str> = Vec::new();
    let mut needles = Vec::new();
    for word in &all {
        let is_last = last == Some(word.position);
        let says_nothing = is_stop_word(&word.text) && !only_stop_words && !is_last;
        if says_nothing || seen.contains(&word.text.as_str()) {
            continue;
        }
        if seen.len() == MAX_WORDS {
            break;
        }
        seen.push(&word.text);
        needles.extend(find(lexicon, text, word, is_last)?);
    }
    Ok(needles)
}

/// One word: as it stands, or completed, or by the parts it is made of.
fn find(lexicon: &Lexicon<'_>, text: &str, word: &Word, is_last: bool) -> tantivy::Result<Vec<Needle>> {
    let is_single_cjk = word.is_cjk && word.text.chars().nth(1).is_none();
    let may_complete = is_single_cjk || (is_last && word.text.chars().nth(1).is_some());
    let whole = if may_complete {
        lexicon.completed(&word.text)?
    } else {
        lexicon.exact(&word.text)?
    };
    if let Some(needle) = whole {
        return Ok(vec![needle]);
    }
    let mut found = Vec::new();
    for part in parts_of(slice_of(text, word)) {
        found.extend(lexicon.exact(&part)?);
    }
    if found.is_empty() {
        found.extend(lexicon.close(&word.text)?);
    }
    Ok(found)
}

/// Codes that a query names.
#[derive(Default)]
struct Named {
    /// One for each code.
    clauses: Vec<(Occur, Box<dyn Query>)>,
    /// The words that these codes are made of.
    words: Vec<String>,
}

/// Records whose code, id or former id stands in the text as written.
fn codes(index: &SearchIndex, text: &str) -> tantivy::Result<Named> {
    let bare: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS)
        .collect();
    let mut found = Named::default();
    for length in 1..=MAX_CODE_WORDS {
        for window in bare.windows(length) {
            let term = Term::from_field_text(index.fields.code, &comparable_code(&window.join(" ")));
            if index.searcher.doc_freq(&term)? > 0 {
                let named = TermQuery::new(term, IndexRecordOption::Basic);
                let scored = ConstScoreQuery::new(Box::new(named), CODE_SCORE);
                found.clauses.push((Occur::Should, Box::new(scored)));
                let of_code = window.iter().flat_map(|word| words(word));
                found.words.extend(of_code.map(|word| word.text));
            }
        }
    }
    Ok(found)
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
