//! Codes that a query names, however they are written: `Xid 79`, `xid79`, `XID:79`, `cudaErrorAssert`.

use super::document::comparable_code;
use super::index::SearchIndex;
use super::tokenizer::{parts_of, words};
use super::view::Listing;

/// Puts a record whose code was named above every record that only speaks of it.
pub(super) const CODE_SCORE: f32 = 1000.0;

/// Words of the longest code that is looked up (`NVRM: Xid 79` has three).
const MAX_CODE_WORDS: usize = 3;

/// Words of a text that are looked at.
const MAX_WORDS: usize = 48;

/// Codes that a query names.
#[derive(Default)]
pub(super) struct Named {
    /// The records of each code.
    pub(super) listings: Vec<Listing>,
    /// The words that these codes are made of.
    pub(super) words: Vec<String>,
}

/// Records whose code, id or former id stands in the text.
pub(super) fn codes(index: &SearchIndex, text: &str) -> tantivy::Result<Named> {
    let written: Vec<String> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS)
        .map(str::to_owned)
        .collect();
    let mut found = Named::default();
    let mut known: Vec<String> = Vec::new();
    for pieces in [&apart(text), &written] {
        for length in 1..=MAX_CODE_WORDS {
            for window in pieces.windows(length) {
                let code = comparable_code(&window.join(" "));
                if known.contains(&code) {
                    continue;
                }
                let Some(listing) = index.view.find(index.fields.code, &code)? else {
                    continue;
                };
                known.push(code);
                found.listings.push(listing);
                // Also as the text has them: `xid79` is spent when `Xid 79` was found.
                for piece in window {
                    let spent = words(piece).into_iter().map(|word| word.text);
                    found.words.extend(spent);
                    let whole = text.split_whitespace().filter(|word| holds_part(word, piece));
                    found.words.extend(whole.flat_map(words).map(|word| word.text));
                }
            }
        }
    }
    Ok(found)
}

/// The words of a text without what stands between them, and `xid79` as `xid` and `79`.
fn apart(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for word in words(text).into_iter().take(MAX_WORDS) {
        let parts = parts_of(&word.text);
        if parts.len() == 2
            && parts
                .iter()
                .any(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
        {
            pieces.extend(parts);
        } else {
            pieces.push(word.text);
        }
    }
    pieces
}

fn holds_part(word: &str, piece: &str) -> bool {
    words(word)
        .iter()
        .any(|word| parts_of(&word.text).iter().any(|part| part == piece))
}
