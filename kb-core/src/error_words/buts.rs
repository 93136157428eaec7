//! Words that mean "but": what stands before one denies nothing behind it. In `geen fout gevonden maar GPU mislukt` something failed.

use super::denials::is_negator;

const BUTS: [&str; 28] = [
    "but",
    "however",
    "aber",
    "jedoch",
    "doch",
    "sondern",
    "mais",
    "cependant",
    "но",
    "однако",
    "ale",
    "lecz",
    "jednak",
    "však",
    "avšak",
    "ama",
    "ancak",
    "fakat",
    "pero",
    "sino",
    "ma",
    "però",
    "mas",
    "porém",
    "maar",
    "echter",
    "men",
    "nhưng",
];
/// The same in languages without blanks between words, and Korean.
const JOINED: [&str; 15] = [
    "但",
    "可是",
    "然而",
    "不过",
    "不過",
    "しかし",
    "けど",
    "けれど",
    "ただし",
    "하지만",
    "그러나",
    "지만",
    "แต่",
    "لكن",
    "لكنّ",
];

/// What stands behind the last such word. After a `not` it is another word: Polish `nie ma` is "there is none".
pub(super) fn behind_but(text: &str) -> &str {
    let joined = JOINED
        .iter()
        .filter_map(|but| Some(text.rfind(but)? + but.len()))
        .max();
    let (mut at, mut parted, mut is_behind_not) = (0, None, false);
    for piece in text.split_inclusive(|letter: char| !letter.is_alphanumeric()) {
        let word = piece.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        if is_but(word) && !is_behind_not {
            parted = Some(at + word.len());
        }
        if !word.is_empty() {
            is_behind_not = is_negator(word);
        }
        at += piece.len();
    }
    text.get(joined.max(parted).unwrap_or_default()..)
        .unwrap_or_default()
}

/// What stands before the first such word of the languages in which a word is denied behind it.
pub(super) fn before_but(text: &str) -> &str {
    let first = JOINED.iter().filter_map(|but| text.find(but)).min();
    text.get(..first.unwrap_or(text.len())).unwrap_or_default()
}

fn is_but(word: &str) -> bool {
    BUTS.iter().any(|but| word.eq_ignore_ascii_case(but))
}
