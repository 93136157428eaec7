//! JSON pointers (RFC 6901): `/dead_ends/0/action`, with `~1` for `/` and `~0` for `~`.

use std::fmt::Write;

/// One step of a pointer while it is being built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<'a> {
    /// A member of an object.
    Key(&'a str),
    /// An item of an array.
    Index(usize),
}

/// Appends a step to a pointer, escaped.
pub fn push_step(pointer: &mut String, step: &Step<'_>) {
    pointer.push('/');
    match step {
        Step::Key(key) => {
            for character in key.chars() {
                match character {
                    '~' => pointer.push_str("~0"),
                    '/' => pointer.push_str("~1"),
                    other => pointer.push(other),
                }
            }
        }
        Step::Index(index) => {
            // Writing to a String cannot fail.
            let _ = write!(pointer, "{index}");
        }
    }
}

/// The unescaped steps of a pointer; `None` where it is no pointer. The empty pointer has no steps.
pub fn steps(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    pointer.strip_prefix('/')?.split('/').map(unescape).collect()
}

fn unescape(step: &str) -> Option<String> {
    let mut plain = String::with_capacity(step.len());
    let mut characters = step.chars();
    while let Some(character) = characters.next() {
        if character != '~' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            Some('0') => plain.push('~'),
            Some('1') => plain.push('/'),
            _ => return None,
        }
    }
    Some(plain)
}
