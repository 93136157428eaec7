//! Where in a text some words may begin. Nearly all of a text says nothing of what is sought, and cutting all of it into
//! words to see so took a fifth of a query's time.

use std::ops::Range;

use aho_corasick::packed::{Config, MatchKind, Searcher};

use super::tokenizer::{is_cjk, unbroken_around};

/// Most beginnings that are looked for at once: the library goes through no more in one go, and through 16 where one of them is
/// a single byte.
const MOST: usize = 64;

/// Lengths of beginnings, in bytes: the longest of which there are not too many is taken.
const LENGTHS: [usize; 2] = [3, 2];

/// The first bytes of some words, in whatever case.
pub(super) struct Openings {
    /// `None` where they are too many, or not told by their bytes.
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
    pub(super) fn of(words: &[&str]) -> Self {
        let mut looks = [0; LOOKS / 64];
        for look in words.iter().map(|word| look(word)) {
            if let Some(known) = looks.get_mut(look / 64) {
                *known |= 1 << (look % 64);
            }
        }
        // The bytes of other letters change with case.
        let is_told = words
            .iter()
            .all(|word| word.chars().all(|c| c.is_ascii() || is_cjk(c)));
        Self {
            searcher: LENGTHS
                .iter()
                .filter(|_| is_told)
                .find_map(|length| searcher(words, *length)),
            is_told,
            looks,
        }
    }

    /// Looks through a text; `None` where the bytes of the words may be others in it.
    pub(super) fn within<'a>(&'a self, text: &'a str) -> Option<Within<'a>> {
        (self.is_told && !has_kelvin(text)).then_some(Within { openings: self, text })
    }
}

/// Whether a text has the Kelvin sign: of all characters beyond ASCII it alone is ASCII in lower case. It is looked for by its first
/// byte, which it shares with quotes and dashes: its last one is in each second Chinese character.
fn has_kelvin(text: &str) -> bool {
    let mut firsts = memchr::memchr_iter(0xe2, text.as_bytes());
    firsts.any(|at| text.get(at..).is_some_and(|rest| rest.starts_with('\u{212a}')))
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
        Some(unbroken_around(self.text, found.start()))
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

/// Looks for the first bytes of words, so many where a word has as many, in all cases; `None` where they are too many.
fn searcher(words: &[&str], length: usize) -> Option<Searcher> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    // No text has a word that is empty or broken.
    let whole = words
        .iter()
        .filter(|word| !word.is_empty() && unbroken_around(word, 0) == (0..word.len()));
    for word in whole {
        let mut cases = vec![Vec::new()];
        for byte in word.bytes().take(length) {
            let other = byte.to_ascii_uppercase();
            let also = if other == byte { Vec::new() } else { cases.clone() };
            for case in &mut cases {
                case.push(byte);
            }
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
    let mut builder = Config::new().match_kind(MatchKind::LeftmostFirst).builder();
    builder.extend(found).build()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let openings = Openings::of(&["peer", "x", "显存"]);
        let text =
            "no myPEer, 不显存 x and a text long enough to be looked through with wide instructions: 显pEE";
        let wanted = ["myPEer", "不显存", "x", "text", "显pEE"];
        assert_eq!(pieces(&openings, text), wanted);
        assert!(pieces(&openings, "").is_empty());
        assert!(pieces(&openings, "pe").is_empty());
        assert_eq!(pieces(&openings, "aX b"), ["aX"]);
        assert_eq!(pieces(&Openings::of(&["=bcd", "bc", ""]), "a =bcd"), ["bcd"]);
    }

    #[test]
    fn letters_that_change_their_length_with_case_are_not_told() {
        assert!(Openings::of(&["kelvin"]).within("kelvin 显存").is_some());
        assert!(Openings::of(&["kelvin"]).within("\u{212a}elvin").is_none());
        assert!(Openings::of(&["éa"]).within("a").is_none());
    }

    #[test]
    fn many_words_are_told_by_fewer_bytes_and_very_many_not_at_all() {
        let words: Vec<String> = ('a'..='z').map(|c| format!("{c}zz")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let of = |count: usize| Openings::of(&words[..count]);
        assert_eq!(pieces(&of(8), "czz cz x"), ["czz"]);
        assert_eq!(pieces(&of(16), "czz cz x"), ["czz", "cz"]);
        assert_eq!(pieces(&of(17), "czz cz x"), ["czz cz x"]);
        // Beside a single byte fewer go, and of a length that fits.
        assert_eq!(
            pieces(&Openings::of(&["1", "peer", "access"]), "peg pear 1"),
            ["peg", "pear", "1"]
        );
    }

    #[test]
    fn a_word_looks_the_same_in_any_case() {
        let openings = Openings::of(&["peer", "显存"]);
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
