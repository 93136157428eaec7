//! Where in a text some words may begin. Nearly all of a text says nothing of what is sought, and cutting all of it into
//! words to see so took a third of a query's time.

use aho_corasick::Span;
use aho_corasick::packed::{Config, MatchKind, Searcher};

use super::tokenizer::is_cjk;

/// Most beginnings that are looked for at once: the library goes through no more in one go.
const MOST: usize = 64;

/// Lengths of beginnings, in bytes: the longest of which there are not too many is taken.
const LENGTHS: [usize; 2] = [3, 2];

/// The first bytes of some words, in whatever case.
pub(super) struct Openings {
    /// `None` where nothing can be told by them.
    searcher: Option<Searcher>,
    /// Bytes that begin a word.
    firsts: [bool; 256],
}

impl Openings {
    /// Of words in lower case.
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut firsts = [false; 256];
        for first in words.clone().filter_map(|word| word.bytes().next()) {
            for case in [first, first.to_ascii_uppercase()] {
                if let Some(known) = firsts.get_mut(usize::from(case)) {
                    *known = true;
                }
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
            searcher: beginnings.filter(|_| is_told).and_then(|beginnings| {
                let mut builder = Config::new().match_kind(MatchKind::LeftmostFirst).builder();
                builder.extend(beginnings).build()
            }),
            firsts,
        }
    }

    /// Looks through a text; `None` where every word of it may be one.
    pub(super) fn within<'a>(&'a self, text: &'a str) -> Option<Within<'a>> {
        let searcher = self.searcher.as_ref()?;
        // Of all characters beyond ASCII, the Kelvin sign alone is ASCII in lower case.
        let is_told = text.is_ascii() || !text.contains('\u{212a}');
        is_told.then_some(Within {
            openings: self,
            searcher,
            text,
        })
    }
}

/// A text in which words are only said where their first bytes are.
pub(super) struct Within<'a> {
    openings: &'a Openings,
    searcher: &'a Searcher,
    text: &'a str,
}

impl Within<'_> {
    /// The first place from `from` on where a word may begin.
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        let span = Span::from(from..self.text.len());
        let found = self.searcher.find_in(self.text, span);
        found.map(|found| found.start())
    }

    /// Whether one may begin with the first byte of this piece of the text.
    pub(super) fn may_be(&self, piece: &str) -> bool {
        let first = piece.bytes().next().map(usize::from);
        let known = first.and_then(|first| self.openings.firsts.get(first));
        known.copied().unwrap_or_default()
    }
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

    fn places(openings: &Openings, text: &str) -> Vec<usize> {
        let within = openings.within(text).unwrap();
        let mut places = Vec::new();
        let mut from = 0;
        while let Some(place) = within.next(from) {
            places.push(place);
            from = place + 1;
        }
        places
    }

    #[test]
    fn a_word_may_begin_where_its_first_bytes_are_in_any_case() {
        let openings = of(&["peer", "x", "显存"]);
        let text =
            "no PEer, 不显存 x and a text long enough to be looked through with wide instructions: 显pEE";
        let wanted = ["PEer", "显存", "x", "xt long", "显p", "pEE"].map(|piece| text.find(piece).unwrap());
        assert_eq!(places(&openings, text), wanted);
        assert_eq!(places(&openings, ""), [0; 0]);
        assert_eq!(places(&openings, "pe"), [0; 0]);
        assert_eq!(places(&openings, "aX"), [1]);
    }

    #[test]
    fn letters_that_change_their_length_with_case_are_not_told() {
        assert!(of(&["kelvin"]).within("kelvin 显存").is_some());
        assert!(of(&["kelvin"]).within("\u{212a}elvin").is_none());
        assert!(of(&["éa"]).within("a").is_none());
        assert!(of(&[]).within("a").is_none());
    }

    #[test]
    fn many_words_are_told_by_fewer_bytes_and_very_many_not_at_all() {
        let words: Vec<String> = ('a'..='z').map(|c| format!("{c}zz")).collect();
        let of = |count: usize| Openings::of(words.iter().take(count).map(String::as_str));
        assert_eq!(places(&of(8), "czz cz"), [0]);
        assert_eq!(places(&of(16), "czz cz"), [0, 4]);
        assert!(of(17).within("czz").is_none());
    }

    #[test]
    fn one_character_alone_is_ascii_in_lower_case_only() {
        let ascii = ('\u{80}'..=char::MAX).filter(|c| c.to_lowercase().all(|lower| lower.is_ascii()));
        assert!(ascii.eq(['\u{212a}']));
    }
}
