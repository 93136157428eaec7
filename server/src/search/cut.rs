//! Cuts texts into words for the index, and hands them over. The engine takes words that are cut already too, and writes and
//! reads them as JSON on the way to its own thread, which took longer than the indexing.

use rustc_hash::FxHashSet;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::concepts::{Said, named_at, push_word_for};
use super::tokenizer::{Span, each_word_and_part, push_lower_case};

/// Name under which the index knows [`CutTokenizer`].
pub(super) const CUT: &str = "cut";

/// Before a word that stands one place after the word before it, and before one that stands where that one stands. Both are
/// blanks, which no word begins with or holds.
const NEXT: char = '\n';
const SAME: char = '\t';

/// The words of one text, and the parts of its compound words, each list in one piece: a start cuts a million words, and each
/// had taken memory of its own.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub(super) words: List,
    pub(super) parts: List,
}

/// Words in lower case, in order.
#[derive(Debug, Default)]
pub(super) struct List {
    text: String,
    ends: Vec<usize>,
}

impl Cut {
    /// Cuts a text, in place of the one before.
    pub(super) fn cut(&mut self, text: &str) {
        self.words.clear();
        self.parts.clear();
        each_word_and_part(text, true, |span| match span {
            Span::Word(place) => self.words.push(text.get(place).unwrap_or_default()),
            Span::Part(place) => self.parts.push(text.get(place).unwrap_or_default()),
        });
    }
}

impl List {
    /// As one text, with no more of their places than what comes after what, which is all that the index keeps; beside the first
    /// word of each name the word for what it names, also within longer names.
    pub(super) fn joined(&self) -> String {
        let mut joined = String::with_capacity(self.text.len() + self.ends.len() + 64);
        self.join_to(&mut joined);
        joined
    }

    /// Writes the same behind another text.
    pub(super) fn join_to(&self, joined: &mut String) {
        for (place, word) in self.iter().enumerate() {
            joined.push(NEXT);
            joined.push_str(word);
            for mention in named_at(self, place) {
                joined.push(SAME);
                push_word_for(mention.concept, joined);
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).filter_map(|place| self.said(place))
    }

    fn push(&mut self, word: &str) {
        push_lower_case(word, &mut self.text);
        self.ends.push(self.text.len());
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

impl Said for List {
    fn said(&self, place: usize) -> Option<&str> {
        let end = *self.ends.get(place)?;
        let before = place.checked_sub(1).and_then(|before| self.ends.get(before));
        self.text.get(before.copied().unwrap_or(0)..end)
    }
}

/// Each word of a joined text once. Nobody asks where these stand.
pub(super) fn each_once(joined: &str) -> String {
    let words = joined.split([NEXT, SAME]).filter(|word| !word.is_empty());
    let mut known = FxHashSet::default();
    let mut once = String::with_capacity(joined.len());
    for word in words {
        if known.insert(word) {
            once.push(NEXT);
            once.push_str(word);
        }
    }
    once
}

/// Takes apart what [`List::joined`] has put together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CutTokenizer;

impl Tokenizer for CutTokenizer {
    type TokenStream<'a> = Taken<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Taken<'a> {
        Taken {
            rest: text,
            token: Token::default(),
        }
    }
}

/// The words of a joined text.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    rest: &'a str,
    /// Its position is the largest number until the first word: one more is 0.
    token: Token,
}

impl TokenStream for Taken<'_> {
    fn advance(&mut self) -> bool {
        let mut characters = self.rest.chars();
        let Some(mark) = characters.next() else {
            return false;
        };
        if mark == NEXT {
            self.token.position = self.token.position.wrapping_add(1);
        }
        let after = characters.as_str();
        let end = after
            .bytes()
            .position(|byte| byte == NEXT as u8 || byte == SAME as u8);
        let (word, rest) = after.split_at(end.unwrap_or(after.len()));
        self.token.text.clear();
        self.token.text.push_str(word);
        self.rest = rest;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::search::concepts::with_concepts;
    use crate::search::tokenizer::{parts, words};

    fn cut(text: &str) -> [String; 2] {
        let mut cut = Cut::default();
        cut.cut("of another text");
        cut.cut(text);
        [cut.words.joined(), cut.parts.joined()]
    }

    fn taken_apart(joined: &str) -> Vec<(String, usize)> {
        let mut tokenizer = CutTokenizer;
        let mut stream = tokenizer.token_stream(joined);
        let mut found = Vec::new();
        while stream.advance() {
            found.push((stream.token().text.clone(), stream.token().position));
        }
        found
    }

    #[test]
    fn a_thing_stands_where_its_name_begins() {
        let [found, _] = cut("is out of memory").map(|list| taken_apart(&list));
        assert!(found.contains(&("=out of memory".to_owned(), 1)), "{found:?}");
        assert!(found.contains(&("memory".to_owned(), 3)), "{found:?}");
    }

    proptest! {
        #[test]
        fn words_come_out_as_queries_cut_them(
            texts in prop::collection::vec(
                prop_oneof![
                    2 => "[a-zA-Z0-9_ \n\t，É显存不足peer]{0,20}",
                    1 => prop::sample::select(vec!["显存不足", "peerAccess", "P2P", " out of memory", " GPU memory "]).prop_map(str::to_owned),
                ],
                0..6,
            )
        ) {
            let text = texts.concat();
            let found = cut(&text).map(|list| taken_apart(&list));
            let expected = [words(&text), parts(&text)].map(|cut| {
                let words = with_concepts(cut).into_iter();
                words.map(|word| (word.text, word.position)).collect::<Vec<_>>()
            });
            prop_assert_eq!(&found, &expected);
            let [words, _] = cut(&text);
            let mut once: Vec<String> = taken_apart(&each_once(&words)).into_iter().map(|(word, _)| word).collect();
            once.sort_unstable();
            let [words, _] = expected;
            let distinct: BTreeSet<String> = words.into_iter().map(|(word, _)| word).collect();
            prop_assert!(once.iter().eq(&distinct));
        }
    }
}
