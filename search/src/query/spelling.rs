//! Corrections of words that no document contains.

use super::expansion::QueryTerm;
use super::vocabulary::{Vocabulary, commonest_first};

/// Shortest word that is corrected, in characters: one letter makes another word of a shorter one.
const MIN_CHARACTERS: usize = 4;
/// From this length on two letters may be wrong.
const LONG_CHARACTERS: usize = 8;
/// Shortest beginning of a word that is corrected while it is typed.
const MIN_PREFIX: usize = 5;
/// Shortest word on each side of a missing blank.
const MIN_HALF: usize = 3;
/// Most words that a misspelt one is taken for.
const MAX_MEANT: usize = 3;
/// Weight of a correction beside a word as written.
pub(super) const CORRECTED: f32 = 0.8;
/// Weight of the less common ones of several corrections.
const LESS_COMMON: f32 = 0.5;
/// A correction that is this many times rarer than the commonest one is dropped: people misspell words that they meet.
const TOO_RARE: u64 = 20;

/// What a misspelt word is taken for.
#[derive(Debug)]
pub(super) struct Corrected {
    pub(super) term: QueryTerm,
    /// The words that may be meant, the likeliest first, each with its weight.
    pub(super) meant: Vec<(String, f32)>,
}

impl Vocabulary<'_> {
    /// The closest words: one letter missing, added, wrong or swapped with its neighbour, two in long words. The first
    /// letter is right, or swapped with the second. Words with digits are not corrected.
    pub(super) fn correct(&self, word: &str) -> tantivy::Result<Option<Corrected>> {
        self.closest(word, max_distance(word), None)
    }

    /// Words whose beginning is close to a word that is being typed.
    pub(super) fn correct_prefix(&self, word: &str) -> tantivy::Result<Option<Corrected>> {
        if word.len() < MIN_PREFIX {
            return Ok(None);
        }
        self.closest(word, 1, Some(word.len()))
    }

    /// As [`Self::correct`] with one letter more: for a query of which nothing else was found.
    pub(super) fn correct_further(&self, word: &str) -> tantivy::Result<Option<Corrected>> {
        self.closest(word, max_distance(word) + 1, None)
    }

    /// Two words without their blank: `peeraccess`. Of several ways the one whose rarer word is commonest.
    pub(super) fn split(&self, word: &str) -> tantivy::Result<Option<[QueryTerm; 2]>> {
        if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Ok(None);
        }
        let mut best: Option<(f32, [QueryTerm; 2])> = None;
        for at in MIN_HALF..=word.len().saturating_sub(MIN_HALF) {
            let (left, right) = word.split_at(at);
            let Some(left) = self.exact(left)? else { continue };
            let Some(right) = self.exact(right)? else { continue };
            let rarer = left.idf.max(right.idf);
            if best.as_ref().is_none_or(|(known, _)| rarer < *known) {
                best = Some((rarer, [left, right]));
            }
        }
        Ok(best.map(|(_, halves)| halves))
    }

    /// The words at the least distance, `max_distance` at most. With `prefix` only so many bytes of each are compared.
    fn closest(
        &self,
        word: &str,
        max_distance: usize,
        prefix: Option<usize>,
    ) -> tantivy::Result<Option<Corrected>> {
        let is_word = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if word.len() < MIN_CHARACTERS || !is_word {
            return Ok(None);
        }
        let compared = |known: &str| -> String {
            let beginning = prefix.and_then(|end| known.get(..end));
            beginning.unwrap_or(known).to_owned()
        };
        let letters_of_word = letters(word);
        let mut least = max_distance;
        let mut meant: Vec<(String, u64)> = Vec::new();
        for first in word.split("").filter(|letter| !letter.is_empty()).take(2) {
            let is_swapped = !word.starts_with(first);
            let near = self.with_prefix(first, |known| {
                let part = compared(known);
                let may_be_near = part.len().abs_diff(word.len()) <= max_distance
                    && distance_of_letters(letters_of_word, letters(&part)) <= max_distance;
                may_be_near && (!is_swapped || part.get(1..2) == word.get(..1))
            })?;
            for (known, _) in near {
                let distance = strsim::osa_distance(word, &compared(&known));
                if distance > least {
                    continue;
                }
                let documents = self.documents(&known)?;
                if documents == 0 {
                    continue;
                }
                if distance < least {
                    least = distance;
                    meant.clear();
                }
                meant.push((known, documents));
            }
        }
        self.corrected(meant)
    }

    fn corrected(&self, mut meant: Vec<(String, u64)>) -> tantivy::Result<Option<Corrected>> {
        commonest_first(&mut meant);
        meant.dedup_by(|(a, _), (b, _)| a == b);
        let Some(commonest) = meant.first().map(|(_, documents)| *documents) else {
            return Ok(None);
        };
        meant.truncate(MAX_MEANT);
        meant.retain(|(_, documents)| documents.saturating_mul(TOO_RARE) >= commonest);
        let idf_of_commonest = self.idf_of(commonest);
        let weighted = meant.into_iter().enumerate().map(|(place, (word, documents))| {
            let weight = if place == 0 { 1.0 } else { LESS_COMMON };
            // A rare word must not score more for being rare: it is the less likely one.
            let scale = idf_of_commonest / self.idf_of(documents).max(idf_of_commonest);
            (word, weight * scale)
        });
        let meant: Vec<(String, f32)> = weighted.collect();
        let term = self.term(&meant, Vec::new())?;
        Ok(term.map(|term| Corrected {
            term: term.scaled(CORRECTED),
            meant,
        }))
    }
}

/// Which of the letters a to z a word has, one bit each.
fn letters(word: &str) -> u32 {
    let letters = word.bytes().filter(u8::is_ascii_lowercase);
    letters.fold(0, |found, letter| found | 1 << (letter - b'a'))
}

/// A lower bound of the distance of two words, by their letters: each change adds one letter and takes one away at most.
fn distance_of_letters(one: u32, other: u32) -> usize {
    let missing = |have: u32, want: u32| (want & !have).count_ones();
    missing(one, other).max(missing(other, one)) as usize
}

fn max_distance(word: &str) -> usize {
    if word.len() < LONG_CHARACTERS { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_other_letters_are_far() {
        assert_eq!(distance_of_letters(letters("suported"), letters("supported")), 0);
        assert_eq!(distance_of_letters(letters("peer"), letters("pear_1显")), 1);
        assert_eq!(distance_of_letters(letters("access"), letters("about")), 4);
    }

    proptest! {
        #[test]
        fn words_are_never_closer_than_their_letters(one in "[a-f_1显]{0,8}", other in "[a-f_1显]{0,8}") {
            prop_assert!(distance_of_letters(letters(&one), letters(&other)) <= strsim::osa_distance(&one, &other));
        }
    }
}
