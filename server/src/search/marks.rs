//! Finds the words sought in a text, without cutting the text into words of its own first: each hit of a page has all
//! its texts looked through for each query.

use std::ops::Range;

use super::concepts::names_of;
use super::openings::{Openings, Within};
use super::tokenizer::{Span, each_word_and_part, is_cjk};

/// Looks through texts for the words of one query.
pub(super) struct Marker<'a> {
    words: Vec<&'a str>,
    /// Names of the things sought, in words.
    names: Vec<&'static [String]>,
    /// Where the words, and the first ones of the names, may begin.
    openings: Openings,
    /// Whether anything beyond ASCII is sought.
    with_cjk: bool,
}

impl<'a> Marker<'a> {
    /// For words as the index has them, in lower case, words for things among them.
    pub(super) fn new<T: AsRef<str> + ?Sized + 'a>(sought: impl IntoIterator<Item = &'a T>) -> Self {
        let mut words: Vec<&str> = Vec::new();
        let mut names: Vec<&'static [String]> = Vec::new();
        for word in sought.into_iter().map(AsRef::as_ref) {
            if let Some(known) = names_of(word) {
                names.extend(known.iter().map(Vec::as_slice));
            } else if !words.contains(&word) {
                words.push(word);
            }
        }
        let firsts = names.iter().filter_map(|name| name.first());
        let begun: Vec<&str> = firsts.map(String::as_str).chain(words.iter().copied()).collect();
        Self {
            openings: Openings::of(&begun),
            with_cjk: !begun.iter().all(|word| word.is_ascii()),
            words,
            names,
        }
    }

    /// Places of the words sought, merged where they overlap (pairs of Chinese characters do).
    pub(super) fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        let within = self.openings.within(text);
        match &within {
            Some(within) if self.names.is_empty() => self.note_where(text, within, &mut places),
            Some(within) if within.next(0).is_none() => {}
            _ => self.note_all(text, within.as_ref(), &mut places),
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

    /// Cuts into words only what stands around places where one may begin.
    fn note_where(&self, text: &str, within: &Within<'_>, places: &mut Vec<Range<usize>>) {
        let mut from = 0;
        while let Some(Range { start, end }) = within.next(from) {
            let piece = text.get(start..end).unwrap_or_default();
            each_word_and_part(piece, self.with_cjk, |(Span::Word(span) | Span::Part(span))| {
                let written = piece.get(span.clone()).unwrap_or_default();
                if within.may_be(written) && self.says(written) {
                    places.push(start + span.start..start + span.end);
                }
            });
            from = end;
        }
    }

    /// Names may be of several words, or parts, so that all that comes after each must be known, Chinese too.
    fn note_all(&self, text: &str, within: Option<&Within<'_>>, places: &mut Vec<Range<usize>>) {
        let mut words = Vec::new();
        let mut parts = Vec::new();
        each_word_and_part(text, true, |span| match span {
            Span::Word(span) => words.push(span),
            Span::Part(span) => parts.push(span),
        });
        self.note(text, &words, within, places);
        self.note(text, &parts, within, places);
    }

    fn says(&self, written: &str) -> bool {
        self.words.iter().any(|word| is_same(written, word))
    }

    fn note(
        &self,
        text: &str,
        spans: &[Range<usize>],
        within: Option<&Within<'_>>,
        places: &mut Vec<Range<usize>>,
    ) {
        let slice = |span: &Range<usize>| text.get(span.clone()).unwrap_or_default();
        for (at, span) in spans.iter().enumerate() {
            let written = slice(span);
            if within.is_some_and(|within| !within.may_be(written)) {
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

/// Whether a text says a word that is in lower case.
fn is_same(written: &str, word: &str) -> bool {
    if written.is_ascii() {
        written.eq_ignore_ascii_case(word)
    } else if written.starts_with(is_cjk) {
        // All of it is, and has one case.
        written == word
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
            words in prop::sample::subsequence(
                vec!["peer", "access", "nccl_p2p_disable", "p2p", "disable", "79", "xid", "显存", "不足", "kelvin", "make", "x"],
                0..6,
            ),
            changing in prop::option::weighted(0.3, prop::sample::select(vec!["éa", "i\u{307}d", "ⱥb", "bⱥ"])),
            with_many in prop::bool::weighted(0.2),
            named in prop::option::weighted(0.5, prop::sample::subsequence(
                vec!["=out of memory", "=gpu memory", "=p2p", "=gpu", "=hang", "=pcie", "=fabric manager"],
                0..4,
            )),
        ) {
            let text: String = pieces.concat();
            let sought = words.into_iter().chain(changing).chain(named.unwrap_or_default());
            let many = ('a'..='z').filter(|_| with_many).map(|c| format!("{c}qq"));
            let sought: Vec<String> = sought.map(str::to_owned).chain(many).collect();
            prop_assert_eq!(marked(&text, &sought), as_indexed(&text, &sought), "{}", text);
        }
    }
}
