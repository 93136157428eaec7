//! The tokenizer of all text fields.

use std::ops::Range;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::synonyms::mentions_at;
use super::words::{each_part, each_word, push_lower_case};

/// Name under which the index knows the analyzer.
pub(crate) const ANALYZER: &str = "words";

/// Gives the words of a text. At the position of a compound word stand its parts, too, and at the position of the first
/// word of a name the synonym token of what it names, over the whole name. So phrases of words keep their positions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Analyzer {
    lower: String,
    words: Vec<Piece>,
    parts: Vec<Piece>,
    tokens: Vec<Piece>,
    token: Token,
}

#[derive(Debug, Clone)]
struct Piece {
    text: PieceText,
    source: Range<usize>,
    position: usize,
    /// Characters of Chinese, Japanese or Korean, which have no case and no parts.
    is_cjk: bool,
}

#[derive(Debug, Clone)]
enum PieceText {
    Lower(Range<usize>),
    Synonym(&'static str),
}

impl Piece {
    fn text<'l>(&'l self, lower: &'l str) -> &'l str {
        match &self.text {
            PieceText::Lower(range) => lower.get(range.clone()).unwrap_or_default(),
            PieceText::Synonym(token) => token,
        }
    }
}

impl Analyzer {
    fn analyze(&mut self, text: &str) {
        self.lower.clear();
        self.words.clear();
        self.tokens.clear();
        each_word(text, |source, is_cjk| {
            let position = self.words.len();
            self.words
                .push(piece(text, source, position, is_cjk, &mut self.lower));
        });
        for position in 0..self.words.len() {
            let Some(word) = self.words.get(position) else {
                break;
            };
            self.tokens.push(word.clone());
            push_mentions(&self.words, position, position, &self.lower, &mut self.tokens);
            if word.is_cjk {
                continue;
            }
            self.parts.clear();
            each_part(text, word.source.clone(), |part| {
                self.parts
                    .push(piece(text, part, position, false, &mut self.lower));
            });
            for part in 0..self.parts.len() {
                self.tokens.extend(self.parts.get(part).cloned());
                push_mentions(&self.parts, part, position, &self.lower, &mut self.tokens);
            }
        }
    }
}

fn piece(text: &str, source: Range<usize>, position: usize, is_cjk: bool, lower: &mut String) -> Piece {
    let start = lower.len();
    let written = text.get(source.clone()).unwrap_or_default();
    if is_cjk {
        lower.push_str(written);
    } else {
        push_lower_case(written, lower);
    }
    Piece {
        text: PieceText::Lower(start..lower.len()),
        source,
        position,
        is_cjk,
    }
}

/// Adds the synonym token of each name that begins with piece `first`.
fn push_mentions(pieces: &[Piece], first: usize, position: usize, lower: &str, tokens: &mut Vec<Piece>) {
    let word_at = |place: usize| pieces.get(place).map(|piece| piece.text(lower));
    for mention in mentions_at(word_at, first) {
        if let (Some(begin), Some(end)) = (pieces.get(mention.first), pieces.get(mention.last)) {
            tokens.push(Piece {
                text: PieceText::Synonym(mention.token),
                source: begin.source.start..end.source.end,
                position,
                is_cjk: false,
            });
        }
    }
}

impl Tokenizer for Analyzer {
    type TokenStream<'a> = Tokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Tokens<'a> {
        self.analyze(text);
        Tokens {
            next: 0,
            analyzer: self,
        }
    }
}

/// The tokens of one text, positions ascending.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    analyzer: &'a mut Analyzer,
    next: usize,
}

impl TokenStream for Tokens<'_> {
    fn advance(&mut self) -> bool {
        let Analyzer {
            lower, tokens, token, ..
        } = &mut *self.analyzer;
        let Some(piece) = tokens.get(self.next) else {
            return false;
        };
        token.text.clear();
        token.text.push_str(piece.text(lower));
        token.offset_from = piece.source.start;
        token.offset_to = piece.source.end;
        token.position = piece.position;
        token.position_length = 1;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.analyzer.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.analyzer.token
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::characters::is_cjk;
    use super::super::words::{parts, words};
    use super::*;

    fn tokens(text: &str) -> Vec<(String, usize, Range<usize>)> {
        let mut analyzer = Analyzer::default();
        analyzer.analyze("of another text");
        let mut stream = analyzer.token_stream(text);
        let mut found = Vec::new();
        while stream.advance() {
            let token = stream.token();
            found.push((
                token.text.clone(),
                token.position,
                token.offset_from..token.offset_to,
            ));
        }
        found
    }

    #[test]
    fn parts_and_synonyms_stand_at_the_position_of_their_word() {
        let found = tokens("is out of memory: cudaErrorPeerAccess");
        for (text, position, source) in [
            ("=out of memory", 1, 3..16),
            ("memory", 3, 10..16),
            ("cudaerrorpeeraccess", 4, 18..37),
            ("peer", 4, 27..31),
            ("=p2p", 4, 27..37),
        ] {
            assert!(
                found.contains(&(text.to_owned(), position, source)),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn characters_that_are_written_without_blanks_have_no_case_and_no_parts() {
        for c in ('\u{80}'..=char::MAX).filter(|c| is_cjk(*c)) {
            let has_none = c.to_lowercase().eq([c]) && !c.is_uppercase() && !c.is_numeric();
            assert!(has_none, "{c}");
        }
    }

    #[test]
    fn shorter_names_within_longer_ones_are_mentioned_too() {
        let found = tokens("显存不足");
        let texts: Vec<&str> = found.iter().map(|(text, ..)| text.as_str()).collect();
        assert_eq!(texts, ["显存", "=out of memory", "=gpu memory", "存不", "不足"]);
    }

    proptest! {
        #[test]
        fn tokens_are_the_words_and_parts_of_the_text(
            pieces in prop::collection::vec(prop_oneof![
                2 => "[a-zA-Z0-9_ \n\t，É显存不足peer]{0,20}",
                1 => prop::sample::select(vec!["显存不足", "peerAccess", " out of memory "]).prop_map(str::to_owned),
            ], 0..6)
        ) {
            let text = pieces.concat();
            let found = tokens(&text);
            prop_assert!(found.windows(2).all(|pair| pair[0].1 <= pair[1].1));
            let mut written: Vec<_> = found.iter().filter(|(text, ..)| !text.starts_with('=')).map(|(text, _, source)| (text.clone(), source.clone())).collect();
            let mut expected: Vec<_> = words(&text).into_iter().chain(parts(&text)).map(|word| (word.text, word.start..word.end)).collect();
            written.sort_by_key(|(text, source)| (source.start, source.end, text.clone()));
            expected.sort_by_key(|(text, source)| (source.start, source.end, text.clone()));
            prop_assert_eq!(written, expected);
        }
    }
}
