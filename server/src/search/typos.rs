//! Words that no record has, taken for misspellings of words that some have.

use super::terms::{Lexicon, Needle};

/// Shortest word that is corrected, in characters; a letter more or less makes another word of a shorter one.
const MIN_CHARACTERS: usize = 4;
/// From this length on two letters may be wrong.
const LONG_CHARACTERS: usize = 8;
/// Shortest beginning of a word that is corrected while it is typed.
const MIN_BEGINNING: usize = 5;
/// Shortest word on each side of a missing blank.
const MIN_HALF: usize = 3;
/// Most words that one misspelling may stand for.
const MAX_MEANT: usize = 3;
/// A guess counts less than a word as written.
pub(super) const GUESS: f32 = 0.8;
/// What a less common one of several guesses counts.
const OTHER_GUESS: f32 = 0.5;
/// A guess this many times as rare as the commonest one is dropped: people misspell words that they meet.
const TOO_RARE: u32 = 20;

/// What a word is taken for.
#[derive(Debug)]
pub(super) struct Guess {
    /// Finds any of them.
    pub(super) needle: Needle,
    /// The words, most likely first.
    pub(super) meant: Vec<String>,
    /// The same words, each with how much it counts.
    pub(super) weighted: Vec<(String, f32)>,
}

impl Lexicon<'_> {
    /// The closest words to one that no record has: one letter missing, added, wrong or swapped with its neighbour, two in
    /// long words. The first letter is taken as right, or as swapped with the second. Numbers and names with digits mean
    /// what they say.
    pub(super) fn close(&self, word: &str) -> tantivy::Result<Option<Guess>> {
        self.closest(word, allowed_for(word), None)
    }

    /// Words that begin nearly as this one, which is being typed.
    pub(super) fn close_beginning(&self, word: &str) -> tantivy::Result<Option<Guess>> {
        if word.len() < MIN_BEGINNING {
            return Ok(None);
        }
        self.closest(word, 1, Some(word.len()))
    }

    /// As [`Self::close`], one letter further off: for a query of which nothing else was found.
    pub(super) fn not_far(&self, word: &str) -> tantivy::Result<Option<Guess>> {
        self.closest(word, allowed_for(word) + 1, None)
    }

    /// Two words written as one: `peeraccess`. Of several ways the one whose rarer word is commonest.
    pub(super) fn split(&self, word: &str) -> tantivy::Result<Option<[Needle; 2]>> {
        if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Ok(None);
        }
        let mut best: Option<(f32, [Needle; 2])> = None;
        for at in MIN_HALF..=word.len().saturating_sub(MIN_HALF) {
            let (left, right) = word.split_at(at);
            let Some(left) = self.exact(left)? else { continue };
            let Some(right) = self.exact(right)? else { continue };
            let rarer = left.rarity.max(right.rarity);
            if best.as_ref().is_none_or(|(known, _)| rarer < *known) {
                best = Some((rarer, [left, right]));
            }
        }
        Ok(best.map(|(_, halves)| halves))
    }

    /// The closest words, at most `allowed` letters off; with `beginning`, words of which so many bytes are compared.
    fn closest(
        &self,
        word: &str,
        mut allowed: usize,
        beginning: Option<usize>,
    ) -> tantivy::Result<Option<Guess>> {
        let is_word = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if word.len() < MIN_CHARACTERS || !is_word {
            return Ok(None);
        }
        let mut meant: Vec<(String, u32)> = Vec::new();
        let own = letters(word);
        for first in word.split("").filter(|letter| !letter.is_empty()).take(2) {
            let is_swapped = !word.starts_with(first);
            // The closest so far; what is further off is not even kept.
            let mut least = allowed;
            let near = self.words_from(first, |known| {
                let part = compared(known, beginning);
                let is_far = part.len().abs_diff(word.len()) > least || apart(own, letters(part)) > least;
                if is_far || (is_swapped && part.get(1..2) != word.get(..1)) {
                    return Ok(false);
                }
                let distance = strsim::osa_distance(word, part);
                if distance > least || !self.knows(known)? {
                    return Ok(false);
                }
                least = distance;
                Ok(true)
            })?;
            if least < allowed {
                allowed = least;
                meant.clear();
            }
            for (known, _) in near {
                if strsim::osa_distance(word, compared(&known, beginning)) <= allowed {
                    let records = self.records(&known)?;
                    meant.push((known, records));
                }
            }
        }
        self.guess(meant)
    }

    fn guess(&self, mut meant: Vec<(String, u32)>) -> tantivy::Result<Option<Guess>> {
        meant.sort_by(|(a, a_records), (b, b_records)| b_records.cmp(a_records).then_with(|| a.cmp(b)));
        meant.dedup_by(|(a, _), (b, _)| a == b);
        let Some(commonest) = meant.first().map(|(_, records)| *records) else {
            return Ok(None);
        };
        meant.truncate(MAX_MEANT);
        meant.retain(|(_, records)| records.saturating_mul(TOO_RARE) >= commonest);
        let scale = self.rarity(commonest);
        let weighted = meant.iter().enumerate().map(|(place, (word, records))| {
            let weight = if place == 0 { 1.0 } else { OTHER_GUESS };
            // A rare word must not score more for being rare: it is the less likely guess.
            (word.clone(), weight * scale / self.rarity(*records).max(scale))
        });
        let alternatives: Vec<(String, f32)> = weighted.collect();
        let needle = self.needle(&alternatives)?;
        Ok(needle.map(|mut needle| {
            needle.rarity *= GUESS;
            Guess {
                needle,
                meant: meant.into_iter().map(|(word, _)| word).collect(),
                weighted: alternatives,
            }
        }))
    }
}

/// Which of the letters a to z a word has, one bit each.
fn letters(word: &str) -> u32 {
    let letters = word.bytes().filter(u8::is_ascii_lowercase);
    letters.fold(0, |found, letter| found | 1 << (letter - b'a'))
}

/// At least so many letters must be changed to make one of two words out of the other: a change brings in one letter, and
/// takes one away. Far quicker than to count the changes, and enough to tell nearly all words apart.
fn apart(one: u32, other: u32) -> usize {
    let missing = |have: u32, want: u32| (want & !have).count_ones();
    missing(one, other).max(missing(other, one)) as usize
}

fn compared(known: &str, beginning: Option<usize>) -> &str {
    beginning.and_then(|end| known.get(..end)).unwrap_or(known)
}

fn allowed_for(word: &str) -> usize {
    if word.len() < LONG_CHARACTERS { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_other_letters_are_apart() {
        assert_eq!(apart(letters("suported"), letters("supported")), 0);
        assert_eq!(apart(letters("peer"), letters("pear_1显")), 1);
        assert_eq!(apart(letters("access"), letters("about")), 4);
    }

    proptest! {
        #[test]
        fn words_are_never_closer_than_their_letters(one in "[a-f_1显]{0,8}", other in "[a-f_1显]{0,8}") {
            prop_assert!(apart(letters(&one), letters(&other)) <= strsim::osa_distance(&one, &other));
        }
    }
}
