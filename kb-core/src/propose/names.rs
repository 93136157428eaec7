//! What a captured value is called: by the word before it, else by what it is.

use super::kinds::Kind;
use super::segments::Segment;

const MOST_LETTERS: usize = 30;
/// Signs between a word and the value that it names.
const MOST_SIGNS: usize = 3;
const EMPTY_WORDS: [&str; 34] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "but", "for", "from", "got", "has", "in", "into", "is",
    "it", "not", "of", "on", "or", "than", "that", "the", "to", "was", "were", "with", "after", "before",
    "between", "line", "x", "s",
];

pub(super) fn name(kind: Kind, before: &[Segment]) -> Option<String> {
    if !kind.is_named_by_word() {
        return None;
    }
    let Some(Segment::Literal { text, .. }) = before.last() else {
        return None;
    };
    if text == ":" {
        return behind_colon(before).map(str::to_owned);
    }
    let word_end = text.trim_end_matches(|sign: char| !sign.is_alphanumeric() && sign != '_');
    if text.chars().count() - word_end.chars().count() > MOST_SIGNS {
        return None;
    }
    let word = word_end
        .rsplit(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_')
        .next()
        .unwrap_or_default();
    let word = word.trim_matches('_').to_ascii_lowercase();
    let starts_well = word.starts_with(|letter: char| letter.is_ascii_alphabetic());
    (starts_well && word.len() <= MOST_LETTERS && !EMPTY_WORDS.contains(&word.as_str())).then_some(word)
}

/// `address:port` and `file:line`.
fn behind_colon(before: &[Segment]) -> Option<&'static str> {
    let Some(Segment::Value { name, .. }) = before.iter().rev().nth(1) else {
        return None;
    };
    match *name {
        "ip" | "host" => Some("port"),
        "path" => Some("line"),
        _ => None,
    }
}
