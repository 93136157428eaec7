//! Records that a pasted text may be about, where the matcher knew none.
//!
//! A line is compared word by word: a candidate covers most of what is rare in it. Words that no record has count
//! as the rarest, so everyday sentences and other programs' errors yield nothing, which is a proper answer. Bare
//! numbers do not count at all: times and process numbers would meet the numbers of codes by chance. And the more records there
//! are, the sooner one of them says by chance what a line says: so few must be expected to that one is worth showing.

use std::collections::{HashMap, HashSet};

use kb_core::ids::RecordId;
use serde::Serialize;

use super::coverage::Coverage;
use super::document::SearchDoc;
use super::error::SearchError;
use super::index::SearchIndex;
use super::schema::Text;
use super::stop_words::is_stop_word;
use super::terms::{Lexicon, slice_of};
use super::tokenizer::{Word, parts, parts_of, words};
use super::view::{Indexed, Number};

/// Lines compared from the beginning, and as many from the end, where programs print what stopped them.
const LINES_EACH_END: usize = 10;
/// Words of a line that are compared.
const MAX_WORDS: usize = 40;
/// Share of the line's rarity that a candidate covers.
const MIN_COVERAGE: f32 = 0.6;
/// So many records at most may be expected to say by chance the words that a candidate shares with the line, where no code word
/// is among them: the rarity of a word is about the logarithm of how seldom it is, so that of `n` records `n` times e to the minus
/// rarity of all words say them by chance.
const CHANCE: f32 = 0.05;
/// Of fewer records nobody knows how seldom a word is.
const FEW_RECORDS: u32 = 100;
/// So few common words prove nothing, unless a code word is among them.
const MIN_WORDS: usize = 3;
/// How much of a candidate's score rests on the line saying what its signature says: between two records that cover
/// the line, the one that is about nothing else comes first.
const FIT: f32 = 0.25;
/// A compound word this long (`cudaErrorAssert`, `NCCL_IB_HCA`) is nobody's everyday language.
const MIN_CODE_WORD_BYTES: usize = 8;

/// A record that a text may be about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// The record.
    pub id: RecordId,
    /// Its signature.
    pub signature: String,
    /// Share of the line's rarity found in the record, less where its signature says more than the line, 0 to 1.
    pub score: f32,
    /// The words that were found, as the line has them.
    pub words: Vec<String>,
}

/// Candidates for a text, best first, at most `limit`.
pub(super) fn candidates(
    index: &SearchIndex,
    text: &str,
    limit: usize,
) -> Result<Vec<Candidate>, SearchError> {
    let lexicon = Lexicon::of_names(index);
    let mut best: HashMap<Number, (f32, Vec<String>)> = HashMap::new();
    for line in lines_of_interest(text) {
        for (number, score, words) in compare(index, &lexicon, line)? {
            let known = best.get(&number).map_or(0.0, |(score, _)| *score);
            if score > known {
                best.insert(number, (score, words));
            }
        }
    }
    let mut found: Vec<Candidate> = best
        .into_iter()
        .filter_map(|(number, (score, words))| {
            let document = &index.view.document(number)?.document;
            Some(Candidate {
                id: document.id.clone(),
                signature: document.signature.clone(),
                score,
                words,
            })
        })
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
    found.truncate(limit);
    Ok(found)
}

/// Distinct lines from both ends, without blank ones.
fn lines_of_interest(text: &str) -> Vec<&str> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut chosen: Vec<&str> = Vec::new();
    for line in lines()
        .take(LINES_EACH_END)
        .chain(lines().rev().take(LINES_EACH_END))
    {
        if !chosen.contains(&line) {
            chosen.push(line);
        }
    }
    chosen
}

/// The score of something that covers this share of a line, whose signature has nothing in common with it.
pub(super) fn unnamed(share: f32) -> f32 {
    share * (1.0 - FIT)
}

/// Records that cover enough of one line, with the score and the words.
fn compare(
    index: &SearchIndex,
    lexicon: &Lexicon<'_>,
    line: &str,
) -> Result<Vec<(Number, f32, Vec<String>)>, SearchError> {
    let mut seen: Vec<Word> = Vec::new();
    let mut needles = Vec::new();
    let mut sought = 0.0;
    for word in words(line) {
        if seen.len() == MAX_WORDS {
            break;
        }
        let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number || is_stop_word(&word.text) || seen.iter().any(|known| known.text == word.text) {
            continue;
        }
        if let Some(needle) = lexicon.exact(&word.text)? {
            sought += needle.rarity;
            needles.push(needle);
        } else if !is_noise(&word) {
            sought += lexicon.rarity(0);
        }
        seen.push(word);
    }
    if needles.is_empty() {
        return Ok(Vec::new());
    }
    let beyond_chance = beyond_chance(index.view.len());
    let mut found = Vec::new();
    for (number, share) in Coverage::new(&index.view, &needles, sought).shares(MIN_COVERAGE) {
        let is_beyond_chance = share * sought >= beyond_chance;
        let share = share.min(1.0);
        let Some(Indexed { document, .. }) = index.view.document(number) else {
            continue;
        };
        let known = names_of(document);
        let shared = seen.iter().filter(|word| known.contains(&word.text));
        let shared: Vec<String> = shared.map(|word| slice_of(line, word).to_owned()).collect();
        // Words of everyday language meet by chance; that a code word is in a record says what the record is about.
        let is_enough = shared.len() >= MIN_WORDS && is_beyond_chance;
        if is_enough || shared.iter().any(|word| is_code_word(word)) {
            let fit = signature_share(document, &seen);
            found.push((number, unnamed(share) + share * FIT * fit, shared));
        }
    }
    Ok(found)
}

/// The rarity that is more than chance, of so many records.
fn beyond_chance(records: u32) -> f32 {
    if records < FEW_RECORDS {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a logarithm of it")]
    let records = records as f32;
    (records / CHANCE).ln()
}

/// The share of a signature's words that stand in the line.
fn signature_share(document: &SearchDoc, seen: &[Word]) -> f32 {
    let mut distinct: HashSet<String> = HashSet::new();
    for word in words(&document.signature) {
        let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number && !is_stop_word(&word.text) {
            distinct.insert(word.text);
        }
    }
    let shared = distinct
        .iter()
        .filter(|text| seen.iter().any(|word| word.text == **text));
    #[expect(clippy::cast_precision_loss, reason = "words of one signature")]
    let share = shared.count() as f32 / distinct.len().max(1) as f32;
    share
}

/// The words by which a record may be recognised.
fn names_of(document: &SearchDoc) -> HashSet<String> {
    let texts = Text::ALL.into_iter().filter(|(text, _)| text.names_the_error());
    texts
        .flat_map(|(text, _)| text.of(document))
        .flat_map(|text| words(text).into_iter().chain(parts(text)))
        .map(|word| word.text)
        .collect()
}

/// Times, addresses, process numbers, host names: no record will ever have them.
fn is_noise(word: &Word) -> bool {
    word.text.chars().any(char::is_numeric)
}

fn is_code_word(written: &str) -> bool {
    written.len() >= MIN_CODE_WORD_BYTES && parts_of(written).len() >= 2
}
