//! What is wrong with a text, and where.

use serde::Serialize;

/// A place in a text, as an editor shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// Line, from 1; lines end with `\n`.
    pub line: usize,
    /// Column, from 1, counted in characters.
    pub column: usize,
}

impl Position {
    /// The position of a byte offset; past the end it is the end.
    pub fn of(text: &str, offset: usize) -> Self {
        Cursor::new(text).advance_to(offset)
    }
}

/// Turns rising offsets into positions in one pass over the text.
pub(crate) struct Cursor<'t> {
    rest: std::iter::Peekable<std::str::CharIndices<'t>>,
    at: Position,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let rest = text.char_indices().peekable();
        let at = Position { line: 1, column: 1 };
        Self { rest, at }
    }

    /// The position of an offset that is not before the last one asked for.
    pub(crate) fn advance_to(&mut self, offset: usize) -> Position {
        while let Some((_, character)) = self.rest.next_if(|&(at, _)| at < offset) {
            if character == '\n' {
                self.at.line += 1;
                self.at.column = 1;
            } else {
                self.at.column += 1;
            }
        }
        self.at
    }
}

/// Why a text was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}, at {pointer:?}: {reason}", position.line, position.column)]
pub struct TextError {
    /// JSON pointer to the value that was being read.
    pub pointer: String,
    /// Where it stands in the text.
    pub position: Position,
    /// Stable name: `size`, `utf8`, `bom`, `nul`, `syntax`, `surrogate`, `number`, `duplicate-key`, `depth`, `trailing`.
    pub rule: &'static str,
    /// What is wrong, in words.
    pub reason: String,
}
