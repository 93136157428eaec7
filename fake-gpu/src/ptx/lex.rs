//! Text to tokens. Comments and white space go; a word keeps its dots (`ld.global.u32`, `%tid.x`, `.reg`).

use super::LoadError;

/// A piece of text and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) line: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, directive, opcode or register.
    Word(String),
    /// Digits as they stand, with base and suffix.
    Number(String),
    /// One of `,;:[]{}()<>@!+-=|`.
    Mark(char),
}

/// Splits a text. Fails on characters outside the language and on a comment that does not end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, LoadError> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = if first.is_ascii_whitespace() {
            1
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/")
                .ok_or_else(|| error(line, "a comment does not end"))?
                + 2
        } else {
            let (kind, bytes) =
                token(rest, first).ok_or_else(|| error(line, format!("unexpected {first:?}")))?;
            found.push(Token { line, kind });
            bytes
        };
        let (passed, left) = rest.split_at(taken);
        line += passed.matches('\n').count();
        rest = left;
    }
    Ok(found)
}

fn token(rest: &str, first: char) -> Option<(Kind, usize)> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    let end = rest
        .char_indices()
        .skip(1)
        .find(|(_, c)| !in_word(*c))
        .map_or(rest.len(), |(at, _)| at);
    let word = rest.get(..end)?;
    match first {
        '0'..='9' => Some((Kind::Number(word.to_owned()), end)),
        'a'..='z' | 'A'..='Z' | '_' | '$' | '%' | '.' => Some((Kind::Word(word.to_owned()), end)),
        ',' | ';' | ':' | '[' | ']' | '{' | '}' | '(' | ')' | '<' | '>' | '@' | '!' | '+' | '-' | '='
        | '|' => Some((Kind::Mark(first), 1)),
        _ => None,
    }
}

pub(super) fn error(line: usize, message: impl Into<String>) -> LoadError {
    LoadError::Text {
        line,
        message: message.into(),
    }
}
