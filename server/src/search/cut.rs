//! Hands words that are cut already to the index. The engine takes such words too, and writes and reads them as JSON on the
//! way to its own thread, which took longer than the indexing.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::tokenizer::Word;

/// Name under which the index knows [`CutTokenizer`].
pub(super) const CUT: &str = "cut";

/// Before a word that stands one place after the word before it, and before one that stands where that one stands. Both are
/// blanks, which no word begins with or holds.
const NEXT: char = '\n';
const SAME: char = '\t';

/// Words as one text, with no more of their places than what comes after what, which is all that the index keeps.
pub(super) fn joined(words: &[Word]) -> String {
    let length: usize = words.iter().map(|word| word.text.len() + 1).sum();
    let mut joined = String::with_capacity(length);
    let mut before = None;
    for word in words {
        joined.push(if before == Some(word.position) { SAME } else { NEXT });
        joined.push_str(&word.text);
        before = Some(word.position);
    }
    joined
}

/// The same of words whose places nobody asks for.
pub(super) fn listed(words: &[&str]) -> String {
    words.iter().flat_map(|word| ["\n", word]).collect()
}

/// Takes apart what [`joined`] has put together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CutTokenizer;

impl Tokenizer for CutTokenizer {
    type TokenStream<'a> = Cut<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Cut<'a> {
        Cut {
            rest: text,
            token: Token::default(),
        }
    }
}

/// The words of a joined text.
#[derive(Debug)]
pub(super) struct Cut<'a> {
    rest: &'a str,
    /// Its position is the largest number until the first word: one more is 0.
    token: Token,
}

impl TokenStream for Cut<'_> {
    fn advance(&mut self) -> bool {
        let mut characters = self.rest.chars();
        let Some(mark) = characters.next() else {
            return false;
        };
        if mark == NEXT {
            self.token.position = self.token.position.wrapping_add(1);
        }
        let after = characters.as_str();
        let end = after.find([NEXT, SAME]).unwrap_or(after.len());
        let (word, rest) = after.split_at(end);
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
    use proptest::prelude::*;

    use super::*;
    use crate::search::concepts::with_concepts;
    use crate::search::tokenizer::{parts, words};

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
        let cut = with_concepts(words("is out of memory"));
        let found = taken_apart(&joined(&cut));
        assert!(found.contains(&("=out of memory".to_owned(), 1)), "{found:?}");
        assert!(found.contains(&("memory".to_owned(), 3)), "{found:?}");
    }

    proptest! {
        #[test]
        fn words_come_out_as_they_went_in(text in "[a-zA-Z0-9_ \n\t，显存不足peer]{0,80}( out of memory)?") {
            for cut in [with_concepts(words(&text)), with_concepts(parts(&text))] {
                let went_in: Vec<_> = cut.iter().map(|word| (word.text.clone(), word.position)).collect();
                prop_assert_eq!(taken_apart(&joined(&cut)), went_in);
            }
        }
    }
}
