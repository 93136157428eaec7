//! Phrases of a query: the whole of a short one, and what stands in quotes.

use crate::analysis::words;

const MAX_PHRASES: usize = 4;
const MAX_WORDS: usize = 16;

/// Phrases, each as its words. A phrase adds to the score and excludes nothing: error messages put names in quotes.
pub(super) fn phrases(text: &str) -> Vec<Vec<String>> {
    let quoted = text.split(['"', '“', '”']).skip(1).step_by(2);
    let mut found: Vec<Vec<String>> = Vec::new();
    for phrase in std::iter::once(text).chain(quoted) {
        let phrase: Vec<String> = words(phrase).into_iter().map(|word| word.text).collect();
        if (2..=MAX_WORDS).contains(&phrase.len()) && !found.contains(&phrase) {
            found.push(phrase);
        }
        if found.len() == MAX_PHRASES {
            break;
        }
    }
    found
}
