//! Words that no record has, taken for misspellings of words that some have.

use super::terms::{Lexicon, Needle};

/// Shortest word that is corrected, in characters; a letter more or less makes another word of a shorter one.
const MIN_CHARACTERS: usize = 4;
/// From this length on two letters may be wrong.
const LONG_CHARACTERS: usize = 8;
/// Most words that one misspelling may stand for.
const MAX_MEANT: usize = 4;
/// A guess counts less than a word as written.
const GUESS: f32 = 0.8;

impl Lexicon<'_> {
    /// The closest words to one that no record has: one letter missing, added, wrong or swapped with its neighbour, two in
    /// long words. The first letter is taken as right. Numbers and names with digits mean what they say.
    pub(super) fn close(&self, word: &str) -> tantivy::Result<Option<Needle>> {
        let length = word.chars().count();
        if length < MIN_CHARACTERS || !word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
            return Ok(None);
        }
        let mut allowed = if length < LONG_CHARACTERS { 1 } else { 2 };
        let mut meant: Vec<String> = Vec::new();
        let first = word.get(..1).unwrap_or_default();
        self.each_word_from(first, |known| {
            // A length further off cannot be closer; most words end here.
            if known.len().abs_diff(word.len()) > allowed {
                return;
            }
            let distance = strsim::osa_distance(word, known);
            if distance < allowed {
                meant.clear();
            }
            if distance <= allowed && !meant.iter().any(|listed| listed == known) {
                allowed = distance;
                meant.push(known.to_owned());
            }
        })?;
        meant.truncate(MAX_MEANT);
        let mut needle = self.any_of(meant)?;
        if let Some(needle) = &mut needle {
            needle.rarity *= GUESS;
        }
        Ok(needle)
    }
}
