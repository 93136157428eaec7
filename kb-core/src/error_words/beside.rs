//! What stands beside a name: its value, its number, the words around it. Each reads a bounded part of the line.

/// Words around a figure are read up to here, in bytes.
pub(super) const NEAR: usize = 40;
/// Blanks and signs between a name and its value, in bytes: tables are wide.
const APART: usize = 64;
/// Labels of a counter are read up to here, in bytes.
const LABELS: usize = 256;
/// A value is read up to here, in bytes.
const VALUE: usize = 64;

/// The word that stands as the value of a name that ends at `at`: behind a colon, an equals sign, the side of a column or blanks.
pub(super) fn value(line: &[u8], at: usize) -> &[u8] {
    let rest = line.get(at..).unwrap_or_default();
    let is_between = |byte: &&u8| {
        matches!(
            byte,
            b' ' | b'\t' | b':' | b'=' | b'"' | b'\'' | b'(' | b')' | b'|' | b'?'
        )
    };
    let apart = rest.iter().take(APART).take_while(is_between).count();
    let rest = rest.get(apart..).unwrap_or_default();
    let length = rest
        .iter()
        .take(VALUE)
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    if apart == 0 {
        &[]
    } else {
        rest.get(..length).unwrap_or_default()
    }
}

/// The number behind a name: `exit code: 1`, `exitcode=-9`, `exited with code 1`, `percentage_used : 104%`.
pub(super) fn number(line: &[u8], at: usize) -> Option<u64> {
    const BETWEEN: [&str; 7] = ["code", "status", "exit", "of", "was", "is", "a"];
    let mut rest = line.get(at..)?;
    for _ in 0..BETWEEN.len() {
        let is_between = |byte: &&u8| {
            matches!(
                byte,
                b' ' | b'\t' | b':' | b'=' | b'(' | b'-' | b'"' | b'\'' | b')'
            )
        };
        let apart = rest.iter().take(APART).take_while(is_between).count();
        rest = rest.get(apart..)?;
        let letters = rest
            .iter()
            .take(VALUE)
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        let word = rest.get(..letters)?;
        if !BETWEEN
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
        {
            break;
        }
        rest = rest.get(letters..)?;
    }
    let digits = rest
        .iter()
        .take(VALUE)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
}

/// The number of a counter whose name goes on from `at`: behind dots, as `perfquery` writes them, or the labels of Prometheus.
pub(super) fn counter(line: &[u8], at: usize) -> Option<u64> {
    let rest = line.get(at..)?;
    let length =
        |is_of: fn(&u8) -> bool, text: &[u8]| text.iter().take(VALUE).take_while(|byte| is_of(byte)).count();
    let name = length(|byte| byte.is_ascii_alphanumeric() || *byte == b'_', rest);
    let rest = rest.get(name..)?;
    let rest = match rest {
        [b'{', labels @ ..] => {
            let end = labels.iter().take(LABELS).position(|byte| *byte == b'}')?;
            labels.get(end + 1..)?
        }
        _ => rest,
    };
    let dots = length(|byte| matches!(byte, b':' | b'.' | b' '), rest);
    number(rest, dots)
}

/// Whether the last number before the phrase is zero: `0% packet loss`.
pub(super) fn ends_with_zero(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let before = before.strip_suffix(b"%").unwrap_or(before);
    let digits = before
        .iter()
        .rev()
        .take(VALUE)
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    let number = before.get(before.len() - digits..).unwrap_or_default();
    number.iter().all(|byte| matches!(byte, b'0' | b'.'))
}

/// Whether one of the last words before a place begins so.
pub(super) fn names(before: &[u8], known: &[&str]) -> bool {
    const WORDS: usize = 3;
    let near = before
        .get(before.len().saturating_sub(NEAR)..)
        .unwrap_or_default();
    let first = words(near).count().saturating_sub(WORDS);
    words(near)
        .skip(first)
        .any(|word| known.iter().any(|name| begins_with(word, name)))
}

pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
}

pub(super) fn begins_with(word: &[u8], name: &str) -> bool {
    word.get(..name.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(name.as_bytes()))
}

pub(super) fn is_one_of(word: &[u8], list: &[&str]) -> bool {
    list.iter()
        .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// `State=IDLE+DRAIN`, `State : clean, degraded`, `state: PORT_DOWN (1)`.
pub(super) fn has_part(line: &[u8], at: usize, parts: &[&str]) -> bool {
    let rest = line.get(at..).unwrap_or_default();
    let rest = rest.trim_ascii_start();
    let is_of_value = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'*' | b'~' | b'#' | b'$' | b'@')
    };
    let length = rest.iter().take(VALUE).take_while(is_of_value).count();
    let value = rest.get(..length).unwrap_or_default();
    value
        .split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
        .any(|part| is_one_of(part, parts))
}

/// A column of `sinfo`: behind a number or two blanks, and before blanks or the end.
pub(super) fn is_column(line: &[u8], from: usize, to: usize) -> bool {
    let end = line
        .iter()
        .skip(to)
        .take(VALUE)
        .take_while(|byte| byte.is_ascii_lowercase() || matches!(byte, b'*' | b'~' | b'#' | b'$' | b'@'))
        .count();
    let word = line.get(from..to + end).unwrap_or_default();
    let ends = line.get(to + end).is_none_or(u8::is_ascii_whitespace);
    let letters = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let known = ["drain", "drained", "draining", "drng", "down"];
    let is_state = is_one_of(word.get(..letters).unwrap_or_default(), &known);
    let before = line.get(..from).unwrap_or_default();
    let is_behind = match before {
        [.., b' ', b' '] => true,
        [.., digit, b' '] => digit.is_ascii_digit(),
        _ => false,
    };
    ends && is_state && is_behind
}

/// `[U_]`, `[_UU]`: each place of an array is `U` for up or `_` for missing.
pub(super) fn has_missing_member(line: &[u8], from: usize) -> bool {
    let rest = line.get(from + 1..).unwrap_or_default();
    let length = rest
        .iter()
        .take(VALUE)
        .take_while(|byte| matches!(byte, b'U' | b'_'))
        .count();
    let places = rest.get(..length).unwrap_or_default();
    rest.get(length) == Some(&b']') && length > 1 && places.contains(&b'_')
}
