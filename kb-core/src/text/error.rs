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
        let mut line = 1;
        let mut column = 1;
        for (at, character) in text.char_indices() {
            if at >= offset {
                break;
            }
            if character == '\n' {
                line += 1;
                column = 1;
            } else {
                column += 1;
            }
        }
        Self { line, column }
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
