//! Where in a text some words may begin. Nearly all of a text says nothing of what is sought, and cutting all of it into
//! words to see so took a third of a query's time.

use std::ops::Range;

use aho_corasick::packed::{Config, MatchKind, Searcher};

use super::tokenizer::{is_cjk, unbroken_around};

/// Most beginnings that are looked for at once: the library goes through no more in one go.
const MOST: usize = 64;

/// Lengths of beginnings, in bytes: the longest of which there are not too many is taken.
const LENGTHS: [usize; 2] = [3, 2];

/// The first bytes of some words, in whatever case.
pub(super) struct Openings {
    /// `None` where they are too many.
    searcher: Option<Searcher>,
    /// Whether no byte of the words changes with case, but those of ASCII.
    is_told: bool,
    /// What the words look like, see [`look`].
    looks: [u64; LOOKS / 64],
}

/// Looks that are told apart.
const LOOKS: usize = 4096;

impl Openings {
    /// Of words in lower case.
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut looks = [0; LOOKS / 64];
        for look in words.clone().map(look) {
            if let Some(known) = looks.get_mut(look / 64) {
                *known |= 1 << (look % 64);
            }
        }
        // The bytes of other letters change with case.
        let is_told = words
            .clone()
            .all(|word| word.chars().all(|c| c.is_ascii() || is_cjk(c)));
        let beginnings = LENGTHS
            .iter()
            .find_map(|length| beginnings(words.clone(), *length));
        Self {
            searcher: beginnings.and_then(|beginnings| {
                let mut builder = Config::new().match_kind(MatchKind::LeftmostFirst).builder();
                builder.extend(beginnings).build()
            }),
            is_told,
            looks,
        }
    }

    /// Looks through a text; `None` where the bytes of the words may be others in it.
    pub(super) fn within<'a>(&'a self, text: &'a str) -> Option<Within<'a>> {
        // Of all characters beyond ASCII, the Kelvin sign alone is ASCII in lower case.
        let is_told = self.is_told && (text.is_ascii() || !text.contains('\u{212a}'));
        is_told.then_some(Within { openings: self, text })
    }
}

/// A text in which words are only said by their bytes.
pub(super) struct Within<'a> {
    openings: &'a Openings,
    text: &'a str,
}

impl Within<'_> {
    /// The first piece from `from` on in which a word may begin, and beyond which none goes that does.
    pub(super) fn next(&self, from: usize) -> Option<Range<usize>> {
        let all = from..self.text.len();
        let Some(searcher) = &self.openings.searcher else {
            return Some(all).filter(|all| !all.is_empty());
        };
        let found = searcher.find_in(self.text, all.into())?;
        let Range { start, end } = unbroken_around(self.text, found.start());
        // Of something that is no word nothing is unbroken.
        Some(start..end.max(found.end()))
    }

    /// Whether a piece of the text may be one of the words: most are not, and need not be compared with each.
    pub(super) fn may_be(&self, piece: &str) -> bool {
        let look = look(piece);
        let known = self.openings.looks.get(look / 64);
        known.is_some_and(|known| known >> (look % 64) & 1 == 1)
    }
}

/// A number that is the same for the same word in whatever case, and mostly another for another: of its first and last
/// bytes, and its length.
fn look(word: &str) -> usize {
    let lower = |byte: Option<&u8>| byte.map_or(0, |byte| usize::from(byte.to_ascii_lowercase()));
    let bytes = word.as_bytes();
    (lower(bytes.first()) * 31 + lower(bytes.last()) * 5 + bytes.len()) % LOOKS
}

/// The first bytes of words, so many where a word has as many, in all cases; `None` where they are too many.
fn beginnings<'a>(words: impl Iterator<Item = &'a str>, length: usize) -> Option<Vec<Vec<u8>>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        let mut cases = vec![Vec::new()];
        for byte in word.bytes().take(length) {
            let other = byte.to_ascii_uppercase();
            let also = if other == byte { Vec::new() } else { cases.clone() };
            cases.iter_mut().for_each(|case| case.push(byte));
            cases.extend(also.into_iter().map(|mut case| {
                case.push(other);
                case
            }));
        }
        cases.retain(|case| !found.contains(case));
        found.append(&mut cases);
        if found.len() > MOST {
            return None;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Openings {
        Openings::of(words.iter().copied())
    }

    fn pieces<'a>(openings: &Openings, text: &'a str) -> Vec<&'a str> {
        let within = openings.within(text).unwrap();
        let mut pieces = Vec::new();
        let mut from = 0;
        while let Some(piece) = within.next(from) {
            from = piece.end;
            pieces.push(&text[piece]);
        }
        pieces
    }

    #[test]
    fn a_word_may_begin_where_its_first_bytes_are_in_any_case() {
        let openings = of(&["peer", "x", "显存"]);
        let text =
            "no myPEer, 不显存 x and a text long enough to be looked through with wide instructions: 显pEE";
        let wanted = ["myPEer", "不显存", "x", "text", "显pEE"];
        assert_eq!(pieces(&openings, text), wanted);
        assert!(pieces(&openings, "").is_empty());
        assert!(pieces(&openings, "pe").is_empty());
        assert_eq!(pieces(&openings, "aX b"), ["aX"]);
        assert_eq!(pieces(&of(&["=b"]), "a=b"), ["a=b"]);
    }

    #[test]
    fn letters_that_change_their_length_with_case_are_not_told() {
        assert!(of(&["kelvin"]).within("kelvin 显存").is_some());
        assert!(of(&["kelvin"]).within("\u{212a}elvin").is_none());
        assert!(of(&["éa"]).within("a").is_none());
    }

    #[test]
    fn many_words_are_told_by_fewer_bytes_and_very_many_not_at_all() {
        let words: Vec<String> = ('a'..='z').map(|c| format!("{c}zz")).collect();
        let of = |count: usize| Openings::of(words.iter().take(count).map(String::as_str));
        assert_eq!(pieces(&of(8), "czz cz x"), ["czz"]);
        assert_eq!(pieces(&of(16), "czz cz x"), ["czz", "cz"]);
        assert_eq!(pieces(&of(17), "czz cz x"), ["czz cz x"]);
    }

    #[test]
    fn a_word_looks_the_same_in_any_case() {
        let openings = of(&["peer", "显存"]);
        let within = openings.within("").unwrap();
        let may_be = |piece: &&str| within.may_be(piece);
        assert!(["peer", "PEER", "pEeR", "显存"].iter().all(may_be));
        assert!(!["pearl", "显存不", "存显", "", "r"].iter().any(may_be));
    }

    #[test]
    fn one_character_alone_is_ascii_in_lower_case_only() {
        let ascii = ('\u{80}'..=char::MAX).filter(|c| c.to_lowercase().all(|lower| lower.is_ascii()));
        assert!(ascii.eq(['\u{212a}']));
    }
}
