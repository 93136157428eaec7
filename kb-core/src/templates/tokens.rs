//! The tokens of a line, from which templates are made.

use crate::propose::parts;
use crate::scanner::{message_start, without_colours};

/// Tokens of a template; a longer message is cut.
const MOST_TOKENS: usize = 120;

/// The tokens of a line's message, behind what logging puts before it: words and signs as they stand, and `<number>` and the
/// like for what varies. Each carries the blank before it.
pub fn tokens(line: &str) -> Vec<String> {
    let line = without_colours(line);
    let message = line.get(message_start(&line)..).unwrap_or(&line).trim_start();
    let parts = parts(message);
    let tokens = parts.into_iter().take(MOST_TOKENS).map(|part| {
        let blank = if part.follows_blank { " " } else { "" };
        match part.varies {
            Some(name) => format!("{blank}<{name}>"),
            None => format!("{blank}{}", part.text),
        }
    });
    tokens.collect()
}
