//! Finds the words sought in a text, without cutting the text into words of its own first: each hit of a page has all
//! its texts looked through for each query.

use std::ops::Range;

use super::concepts::names_of;
use super::tokenizer::{Span, each_word_and_part};

/// Looks through texts for the words of one query.
pub(super) struct Marker<'a> {
    words: Vec<&'a str>,
    /// Names of the things sought, in words.
    names: Vec<&'static [String]>,
    /// For each ASCII character, in lower case, the lengths in bytes of the words and names that begin with it, the longest
    /// as the last bit. After these the characters beyond ASCII, of which some share a bit: the lengths of their words
    /// change with case (the Kelvin sign is a `k` of three bytes).
    beginnings: [u32; ASCII + BEYOND_ASCII],
    /// Of the text at hand: its words, and the parts of its compound words.
    spans: [Vec<Range<usize>>; 2],
}

const ASCII: usize = 128;
/// Entries for the characters beyond ASCII.
const BEYOND_ASCII: usize = 64;

impl<'a> Marker<'a> {
    /// For words as the index has them, in lower case, words for things among them.
    pub(super) fn new<T: AsRef<str> + ?Sized + 'a>(sought: impl IntoIterator<Item = &'a T>) -> Self {
        let mut marker = Self {
            words: Vec::new(),
            names: Vec::new(),
            beginnings: [0; ASCII + BEYOND_ASCII],
            spans: [Vec::new(), Vec::new()],
        };
        for word in sought.into_iter().map(AsRef::as_ref) {
            if let Some(names) = names_of(word) {
                marker.names.extend(names.iter().map(Vec::as_slice));
            } else if !marker.words.contains(&word) {
                marker.words.push(word);
            }
        }
        let firsts = marker.names.iter().filter_map(|name| name.first());
        let begun = firsts.map(String::as_str).chain(marker.words.iter().copied());
        for (first, length) in begun.map(beginning) {
            if let Some(known) = marker.beginnings.get_mut(first) {
                *known |= length;
            }
        }
        marker
    }

    /// Places of the words sought, merged where they overlap (pairs of Chinese characters do).
    pub(super) fn marks(&mut self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        if self.names.is_empty() {
            each_word_and_part(text, self.with_cjk(), |(Span::Word(span) | Span::Part(span))| {
                let written = text.get(span.clone()).unwrap_or_default();
                if self.may_begin(written) && self.says(written) {
                    places.push(span);
                }
            });
        } else {
            self.note_all(text, &mut places);
        }
        places.sort_unstable_by_key(|place| (place.start, place.end));
        let mut merged: Vec<Range<usize>> = Vec::new();
        for place in places {
            match merged.last_mut() {
                Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
                _ => merged.push(place),
            }
        }
        merged
    }

    /// Names may be of several words, or parts, so that all that comes after each must be known, Chinese too.
    fn note_all(&mut self, text: &str, places: &mut Vec<Range<usize>>) {
        let [mut words, mut parts] = std::mem::take(&mut self.spans);
        words.clear();
        parts.clear();
        each_word_and_part(text, true, |span| match span {
            Span::Word(span) => words.push(span),
            Span::Part(span) => parts.push(span),
        });
        self.note(text, &words, places);
        self.note(text, &parts, places);
        self.spans = [words, parts];
    }

    /// Whether anything beyond ASCII is sought.
    fn with_cjk(&self) -> bool {
        let beyond = self.beginnings.get(ASCII..).unwrap_or_default();
        beyond.iter().any(|lengths| *lengths != 0)
    }

    fn says(&self, written: &str) -> bool {
        self.words.iter().any(|word| is_same(written, word))
    }

    /// Whether a word or a name may begin with this, in whatever case: most words of a text do not, and are asked no more.
    fn may_begin(&self, written: &str) -> bool {
        let (first, length) = beginning(written);
        let known = self.beginnings.get(first).copied().unwrap_or_default();
        // Of what is not all ASCII the length says nothing where it begins with a letter that is ASCII in lower case.
        known & length != 0 || (known != 0 && first < ASCII && !written.is_ascii())
    }

    fn note(&self, text: &str, spans: &[Range<usize>], places: &mut Vec<Range<usize>>) {
        let slice = |span: &Range<usize>| text.get(span.clone()).unwrap_or_default();
        for (at, span) in spans.iter().enumerate() {
            let written = slice(span);
            if !self.may_begin(written) {
                continue;
            }
            if self.says(written) {
                places.push(span.clone());
            }
            for name in &self.names {
                let said = spans.get(at..at + name.len()).unwrap_or_default();
                let mut pairs = said.iter().zip(*name);
                if !said.is_empty() && pairs.all(|(span, word)| is_same(slice(span), word)) {
                    let end = said.last().map_or(span.end, |last| last.end);
                    places.push(span.start..end);
                }
            }
        }
    }
}

/// Where [`Marker::beginnings`] notes a word, and the bit of its length, or of its first character.
fn beginning(word: &str) -> (usize, u32) {
    let first = match word.as_bytes().first() {
        Some(byte) if byte.is_ascii() => {
            return (usize::from(byte.to_ascii_lowercase()), 1 << word.len().min(31));
        }
        _ => word.chars().next().unwrap_or_default(),
    };
    let lower = first.to_lowercase().next().unwrap_or(first);
    if lower.is_ascii() {
        (lower as usize, 1 << word.len().min(31))
    } else {
        let code = u32::from(lower);
        (ASCII + code as usize % BEYOND_ASCII, 1 << (code / 64 % 32))
    }
}

/// Whether a text says a word that is in lower case.
fn is_same(written: &str, word: &str) -> bool {
    if written.is_ascii() {
        written.eq_ignore_ascii_case(word)
    } else {
        written.chars().flat_map(char::to_lowercase).eq(word.chars())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::search::concepts::{with_concepts, word_for};
    use crate::search::tokenizer::{parts, words};

    /// By cutting the text into words as the index does.
    fn as_indexed(text: &str, sought: &[String]) -> Vec<bool> {
        let sought: HashSet<&str> = sought.iter().map(String::as_str).collect();
        let mut marked = vec![false; text.len()];
        for word in with_concepts(words(text))
            .into_iter()
            .chain(with_concepts(parts(text)))
        {
            if sought.contains(word.text.as_str()) {
                marked[word.start..word.end].fill(true);
            }
        }
        marked
    }

    fn marked(text: &str, sought: &[String]) -> Vec<bool> {
        let mut marked = vec![false; text.len()];
        for place in Marker::new(sought).marks(text) {
            marked[place].fill(true);
        }
        marked
    }

    #[test]
    fn a_thing_is_marked_by_any_of_its_names() {
        let sought = [word_for("out of memory")];
        let text = "OOM: Out  of memory, 显存不足";
        let places = Marker::new(&sought).marks(text);
        let said: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
        assert_eq!(said, ["OOM", "Out  of memory", "显存不足"]);
    }

    proptest! {
        #[test]
        fn what_is_marked_is_what_the_index_would_find(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "Peer", "peer access", "peerAccess", "NCCL_P2P_DISABLE", "out of memory", "OOM", "显存不足", "对等访问",
                    "hangs", "é", "Éa", "\u{212a}elvin", "ma\u{212a}e", "İd", "Ⱥb", "bȺ", "X", "79", "xid79", "gpu", "GPU memory", "PCI", "总线", "PCI总线", "fabric", "管理", "manager", "_", "-", ", ", " ", " ",
                ]),
                0..30,
            ),
            sought in prop::sample::subsequence(
                vec![
                    "peer", "access", "nccl_p2p_disable", "p2p", "disable", "79", "xid", "显存", "不足", "éa", "kelvin", "make", "i\u{307}d", "ⱥb", "bⱥ", "x",
                    "=out of memory", "=gpu memory", "=peer access", "=gpu", "=hang", "=pcie", "=fabric manager",
                ],
                0..8,
            ),
        ) {
            let text: String = pieces.concat();
            let sought: Vec<String> = sought.into_iter().map(str::to_owned).collect();
            prop_assert_eq!(marked(&text, &sought), as_indexed(&text, &sought), "{}", text);
        }
    }
}
