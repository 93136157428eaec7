//! Codes in a query, however they are written: `Xid 79`, `xid79`, `XID:79`, `cudaErrorAssert`.

use crate::analysis::{parts_of, words};
use crate::index::{Snapshot, comparable_code};

/// Words of the longest code that is looked up (`NVRM: Xid 79` has three).
const MAX_CODE_WORDS: usize = 3;
/// Words of a text that are looked at.
const MAX_WORDS: usize = 48;

#[derive(Debug, Default)]
pub(super) struct Codes {
    /// In comparable form, as the index has them.
    pub(super) codes: Vec<String>,
    /// The words of the query that belong to a code.
    pub(super) words: Vec<String>,
}

/// Finds codes, ids and aliases of records in a text.
pub(super) fn codes(snapshot: &Snapshot, text: &str) -> tantivy::Result<Codes> {
    let written: Vec<String> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS)
        .map(str::to_owned)
        .collect();
    let mut found = Codes::default();
    for pieces in [&separated(text), &written] {
        for length in 1..=MAX_CODE_WORDS {
            for window in pieces.windows(length) {
                let code = comparable_code(&window.join(" "));
                let is_known = found.codes.contains(&code);
                if is_known || snapshot.documents_with(snapshot.fields.code, &code)? == 0 {
                    continue;
                }
                found.codes.push(code);
                for piece in window {
                    let of_code = words(piece).into_iter().map(|word| word.text);
                    found.words.extend(of_code);
                    // Where `Xid 79` was found in `xid79`, the word as written is part of the code, too.
                    let whole = text.split_whitespace().filter(|word| has_part(word, piece));
                    found.words.extend(whole.flat_map(words).map(|word| word.text));
                }
            }
        }
    }
    Ok(found)
}

/// The words of a text without punctuation, and `xid79` as `xid` and `79`.
fn separated(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for word in words(text).into_iter().take(MAX_WORDS) {
        let parts = parts_of(&word.text);
        let has_number = |part: &String| part.bytes().all(|byte| byte.is_ascii_digit());
        if parts.len() == 2 && parts.iter().any(has_number) {
            pieces.extend(parts);
        } else {
            pieces.push(word.text);
        }
    }
    pieces
}

fn has_part(word: &str, part: &str) -> bool {
    let mut words = words(word).into_iter();
    words.any(|word| parts_of(&word.text).iter().any(|known| known == part))
}
