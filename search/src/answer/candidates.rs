//! Records that a pasted text may be about, where the matcher recognised nothing.
//!
//! A line is compared word by word: a candidate covers most of its idf. Words that no record contains count as the rarest,
//! so that everyday sentences and other programs' errors give no candidate, which is a proper answer. Bare numbers do not
//! count: times and process numbers would meet the numbers of codes by chance. The more records there are, the more of
//! them share words with a line by chance, so the least idf that proves something rises with their number.

use std::collections::{HashMap, HashSet};

use indexmap::IndexSet;
use kb_core::ids::RecordId;
use serde::Serialize;
use tantivy::DocAddress;

use crate::analysis::{Word, is_stop_word, parts, parts_of, words};
use crate::error::SearchError;
use crate::index::{FieldText, SearchDoc, SearchIndex, Snapshot};
use crate::query::Vocabulary;
use crate::rank::covered;

/// Lines compared from the beginning, and as many from the end, where programs print what stopped them.
const LINES_EACH_END: usize = 10;
/// Words of a line that are compared.
const MAX_WORDS: usize = 40;
/// Share of the line's idf that a candidate covers.
const MIN_COVERAGE: f32 = 0.6;
/// Most records that may be expected to share the words of a candidate with the line by chance, where no code word is
/// among them. A word with idf `i` stands in about one of `e^i` records, so of `n` records `n * e^-sum` share all by chance.
const CHANCE: f32 = 0.05;
/// Among fewer records document frequencies say nothing.
const FEW_RECORDS: usize = 100;
/// Fewer common words prove nothing, unless a code word is among them.
const MIN_WORDS: usize = 3;
/// Share of a candidate's score that depends on how much of its signature the line holds: of two records that cover the
/// line, the one that is about nothing else comes first.
const SIGNATURE_WEIGHT: f32 = 0.25;
/// A compound word of so many bytes (`cudaErrorAssert`, `NCCL_IB_HCA`) does not stand in everyday language.
const MIN_CODE_WORD_BYTES: usize = 8;

/// A record that a text may be about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    pub id: RecordId,
    pub signature: String,
    /// Share of the line's idf that the record covers, less where its signature says more than the line; 0 to 1.
    pub score: f32,
    /// The words that were found, as the line has them.
    pub words: Vec<String>,
}

impl SearchIndex {
    /// Records that a pasted text may be about, best first, at most `limit`. For texts in which the matcher found nothing.
    pub fn candidates(&self, text: &str, limit: usize) -> Result<Vec<Candidate>, SearchError> {
        let lines = lines_of_interest(text);
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let snapshot = self.snapshot()?;
        let mut best: HashMap<DocAddress, (f32, Vec<String>)> = HashMap::new();
        for line in lines {
            for (address, score, words) in compare(snapshot, line)? {
                let known = best.get(&address).map_or(0.0, |(score, _)| *score);
                if score > known {
                    best.insert(address, (score, words));
                }
            }
        }
        let candidates = best.into_iter().filter_map(|(address, (score, words))| {
            let document = snapshot.document(address)?;
            Some(Candidate {
                id: document.id.clone(),
                signature: document.signature.clone(),
                score,
                words,
            })
        });
        let mut found: Vec<Candidate> = candidates.collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
        found.truncate(limit);
        Ok(found)
    }

    /// The score of a record that no search found and that explains this share of a line, as in [`Candidate::score`].
    pub fn unnamed_score(share: f32) -> f32 {
        share * (1.0 - SIGNATURE_WEIGHT)
    }
}

/// Distinct lines from both ends, without blank ones.
fn lines_of_interest(text: &str) -> IndexSet<&str> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let last = lines().rev().take(LINES_EACH_END);
    lines().take(LINES_EACH_END).chain(last).collect()
}

/// Documents that cover enough of one line, with their scores and the words found.
fn compare(snapshot: &Snapshot, line: &str) -> Result<Vec<(DocAddress, f32, Vec<String>)>, SearchError> {
    let vocabulary = Vocabulary::of_names(snapshot);
    let mut seen: Vec<Word> = Vec::new();
    let mut terms = Vec::new();
    let mut asked = 0.0;
    for word in words(line) {
        if seen.len() == MAX_WORDS {
            break;
        }
        if !says_something(&word) || seen.iter().any(|known| known.text == word.text) {
            continue;
        }
        if let Some(term) = vocabulary.exact(&word.text)? {
            asked += term.idf;
            terms.push(term);
        } else if !has_digit(&word) {
            asked += snapshot.idf(0);
        }
        seen.push(word);
    }
    let beyond_chance = beyond_chance(snapshot.documents());
    let mut found = Vec::new();
    for (idf, address) in covered(snapshot, snapshot.fields.names, &terms, [], MIN_COVERAGE * asked)? {
        let Some(document) = snapshot.document(address) else {
            continue;
        };
        let known = words_of_names(document);
        let shared = seen.iter().filter(|word| known.contains(&word.text));
        let shared: Vec<String> = shared
            .map(|word| line.get(word.start..word.end).unwrap_or_default().to_owned())
            .collect();
        let is_beyond_chance = shared.len() >= MIN_WORDS && idf >= beyond_chance;
        if is_beyond_chance || shared.iter().any(|word| is_code_word(word)) {
            let share = (idf / asked).min(1.0);
            let of_signature = SIGNATURE_WEIGHT * signature_share(document, &seen);
            let score = SearchIndex::unnamed_score(share) + share * of_signature;
            found.push((address, score, shared));
        }
    }
    Ok(found)
}

/// The least sum of idf that is more than chance among so many records.
fn beyond_chance(records: usize) -> f32 {
    if records < FEW_RECORDS {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a logarithm of it")]
    let records = records as f32;
    (records / CHANCE).ln()
}

/// The share of a signature's words that stand in the line.
fn signature_share(document: &SearchDoc, line: &[Word]) -> f32 {
    let words = words(&document.signature).into_iter();
    let distinct: HashSet<String> = words.filter(says_something).map(|word| word.text).collect();
    let in_line = |text: &&String| line.iter().any(|word| word.text == **text);
    #[expect(clippy::cast_precision_loss, reason = "words of one signature")]
    let share = distinct.iter().filter(in_line).count() as f32 / distinct.len().max(1) as f32;
    share
}

/// The words and parts of the texts that name the error.
fn words_of_names(document: &SearchDoc) -> HashSet<String> {
    let texts = FieldText::ALL.into_iter().filter(|text| text.names_the_error());
    texts
        .flat_map(|text| text.of(document))
        .flat_map(|text| words(text).into_iter().chain(parts(text)))
        .map(|word| word.text)
        .collect()
}

fn says_something(word: &Word) -> bool {
    let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit());
    !is_number && !is_stop_word(&word.text)
}

/// Times, addresses, process numbers, host names: no record will ever have them.
fn has_digit(word: &Word) -> bool {
    word.text.chars().any(char::is_numeric)
}

fn is_code_word(written: &str) -> bool {
    written.len() >= MIN_CODE_WORD_BYTES && parts_of(written).len() >= 2
}
