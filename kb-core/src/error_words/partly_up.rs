//! Whether a line counts fewer ports, links or GPUs that work than there are: `Active links: 17/18`, `NVLinks up: 17 (of 18)`.

use super::tokens::{Token, tokens};

/// Each stands for its plural, too.
const LINKS: [&str; 7] = ["link", "nvlink", "port", "hca", "nic", "nvswitch", "adapter"];
const GPUS: [&str; 2] = ["gpu", "accelerator"];
const UP: [&str; 7] = [
    "up",
    "online",
    "healthy",
    "connected",
    "responding",
    "detected",
    "visible",
];
/// Of GPUs it may say that they are in use.
const ACTIVE: [&str; 1] = ["active"];

/// Whether the part of a line around `at` counts so. Reads a bounded part of it.
pub(super) fn is_partly_up(line: &[u8], at: usize) -> bool {
    let mut tokens = tokens(line, at);
    // `links_up`, `"active links": "17/18"`.
    tokens.retain(|token| !matches!(token, Token::Sign(b'_' | b'"' | b'\'')));
    (0..tokens.len()).any(|at| match tokens.get(at..).unwrap_or_default() {
        [one, other, Token::Sign(b':' | b'='), value @ ..] => {
            (is_up(one, other) || is_up(other, one)) && is_less(value)
        }
        _ => false,
    })
}

fn is_up(thing: &Token<'_>, state: &Token<'_>) -> bool {
    thing.is_thing(&LINKS) && (state.is_of(&UP) || state.is_of(&ACTIVE))
        || thing.is_thing(&GPUS) && state.is_of(&UP)
}

/// `17/18`, `17 of 18`, `17 out of 18`, `17 (of 18)`, `17 (18)`.
fn is_less(value: &[Token<'_>]) -> bool {
    let [Token::Number(part), rest @ ..] = value else {
        return false;
    };
    let (rest, is_bracketed) = match rest {
        [Token::Sign(b'(' | b'['), rest @ ..] => (rest, true),
        _ => (rest, false),
    };
    let rest = match rest {
        [out, rest @ ..] if out.is_of(&["out"]) => rest,
        _ => rest,
    };
    let (whole, behind) = match rest {
        [Token::Sign(b'/'), Token::Number(whole), behind @ ..] => (whole, behind),
        [of, Token::Number(whole), behind @ ..] if of.is_of(&["of"]) => (whole, behind),
        [Token::Number(whole), Token::Sign(b')' | b']'), behind @ ..] if is_bracketed => (whole, behind),
        _ => return false,
    };
    // A date or a path has further parts.
    part < whole && !matches!(behind.first(), Some(Token::Sign(b'/')))
}
