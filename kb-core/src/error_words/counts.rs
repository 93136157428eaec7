//! Whether the number or the value at a word of an error says that there are none: `0 failed`, `errors: 0`, `Unhealthy: N/A`.

/// Words between the word and its number.
const LABELS: [&str; 15] = [
    "count", "counts", "counter", "counters", "total", "rate", "flag", "number", "summary", "error",
    "errors", "parity", "sec-ded", "events", "warning",
];
/// Words before a number that make it no number of a thing: `rank 0 failed` tells of a failure.
const BEFORE_NUMBERS: [&str; 13] = [
    "with",
    "and",
    "found",
    "had",
    "has",
    "have",
    "reported",
    "passed",
    "ok",
    "encountered",
    "total",
    "are",
    "were",
];
/// Values that say so.
const NONES: [&str; 6] = ["n/a", "[n/a]", "no", "none", "false", "not affected"];
/// Numbers of a list that are read.
const MOST_NUMBERS: usize = 16;
const MOST_LABELS: usize = 3;
/// So many dots stand between a name and its value; fewer end a sentence.
const LEAST_DOTS: usize = 4;
/// A word is read up to here, in bytes, so that a line of one endless word costs no more than others.
const WORD_BYTES: usize = 64;

/// The word stands at `from..to`. Reads a bounded part around it, but for blanks.
pub(super) fn counts_none(line: &str, from: usize, to: usize) -> bool {
    let line = line.as_bytes();
    let to = to
        + part(line, to)
            .iter()
            .take(WORD_BYTES)
            .take_while(|byte| is_of_word(**byte))
            .count();
    match number_after(line, from, to) {
        Some(is_zero) => is_zero,
        None => is_zero_before(line, from, to),
    }
}

/// Whether the number after the word is zero, or a list of zeros; `None` where there is no number.
fn number_after(line: &[u8], from: usize, to: usize) -> Option<bool> {
    let word = line.get(from..to).unwrap_or_default();
    let mut is_several = is_plural(word) || ends_with(word, "flag") || ends_with(word, "count");
    let mut at = to;
    if part(line, at).starts_with(b"(s)") {
        at += 3;
        is_several = true;
    }
    for _ in 0..MOST_LABELS {
        let start = at + blanks(line, at);
        let length = letters(line, start);
        let label = line.get(start..start + length).unwrap_or_default();
        if start == at || !is_one_of(label, &LABELS) {
            break;
        }
        is_several = true;
        at = start + length;
    }
    at += usize::from(matches!(line.get(at), Some(b'"' | b'\'')));
    at += blanks(line, at);
    let mut is_value = matches!(line.get(at), Some(b':' | b'='));
    at += usize::from(is_value);
    // `SymbolErrorCounter:................0`, of `perfquery`.
    let dots = part(line, at)
        .iter()
        .take(WORD_BYTES)
        .take_while(|byte| **byte == b'.')
        .count();
    if dots >= LEAST_DOTS {
        is_value = true;
        at += dots;
    }
    if is_value {
        at += blanks(line, at);
        if is_none(line, at) {
            return Some(true);
        }
    } else if !is_several {
        // `failed 0` may name what failed.
        return None;
    }
    let (mut is_zero, mut end) = number(line, at)?;
    let is_message = !is_several && is_text(line, end);
    if is_message {
        // `error: 0 devices found`
        return Some(false);
    }
    for _ in 0..MOST_NUMBERS {
        let mut next = end + blanks(line, end);
        if matches!(line.get(next), Some(b'-' | b',' | b'|')) {
            next += 1;
            next += blanks(line, next);
        }
        match number(line, next) {
            // With a word of its own it counts something else.
            Some((other, after)) if next > end && !is_word(line, after) => {
                is_zero &= other;
                end = after;
            }
            _ => break,
        }
    }
    Some(is_zero)
}

/// Whether the rest of the line, or of a list, is a value that says so.
fn is_none(line: &[u8], at: usize) -> bool {
    let rest = part(line, at);
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    NONES.iter().any(|none| {
        let is_it = rest
            .get(..none.len())
            .is_some_and(|value| value.eq_ignore_ascii_case(none.as_bytes()));
        let after = part(rest, none.len()).trim_ascii_start();
        is_it && matches!(after.first(), None | Some(b',' | b'}' | b'"' | b';'))
    })
}

fn is_zero_before(line: &[u8], from: usize, to: usize) -> bool {
    let word = line.get(from..to).unwrap_or_default();
    // `0 failed to start` may tell of the device 0, `0 failed tests` does not.
    let next = to + blanks(line, to);
    let follows = line.get(next..next + letters(line, next)).unwrap_or_default();
    if !is_plural(word) && !follows.is_empty() && !is_plural(follows) {
        return false;
    }
    let mut before = line.get(..from).unwrap_or_default();
    let mut number = last_word(before);
    if is_plural(word) {
        // `0 uncorrectable errors`
        for _ in 0..2 {
            if !number.is_empty() && number.iter().all(u8::is_ascii_alphabetic) {
                before = without_last(before, number);
                number = last_word(before);
            }
        }
    }
    let is_apart = before.last().is_some_and(u8::is_ascii_whitespace);
    if !is_apart || number != b"0" {
        return false;
    }
    let before = without_last(before, number);
    match before.trim_ascii_end().last() {
        None | Some(b',' | b';' | b'(' | b'|') => true,
        Some(b':' | b'=') => is_plural(word),
        Some(_) => before.ends_with(b" ") && is_one_of(last_word(before), &BEFORE_NUMBERS),
    }
}

/// Whether a number is zero, and where it ends; an address or a time is none that is zero.
fn number(line: &[u8], at: usize) -> Option<(bool, usize)> {
    let rest = part(line, at);
    let length = rest
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    let digits = rest.get(..length)?;
    if !digits.first()?.is_ascii_digit() {
        return None;
    }
    if digits == b"0" && matches!(rest.get(1), Some(b'x' | b'X')) {
        // smartctl: `Critical Warning: 0x00`
        let digits = part(rest, 2).iter().take_while(|byte| is_of_word(**byte)).count();
        let value = rest.get(2..2 + digits)?;
        return Some((
            digits > 0 && value.iter().all(|digit| *digit == b'0'),
            at + 2 + digits,
        ));
    }
    let goes_on = matches!(rest.get(length..), Some([b':' | b'-', next, ..]) if next.is_ascii_hexdigit())
        || rest.get(length).is_some_and(|byte| is_of_word(*byte));
    // `Oops: 0000 [#1]`, `divide error: 0000 [#1]`: the kernel's code of an exception counts nothing.
    let is_code = digits.len() == 4 && part(rest, length).starts_with(b" [#");
    let is_zero = !goes_on && !is_code && digits.iter().all(|byte| matches!(byte, b'0' | b'.'));
    Some((is_zero, at + length))
}

/// Whether words of a sentence follow, not the next name with its value.
fn is_text(line: &[u8], at: usize) -> bool {
    let start = at + blanks(line, at);
    let end = start + letters(line, start);
    is_word(line, at) && !matches!(line.get(end), Some(b':' | b'='))
}

fn is_word(line: &[u8], at: usize) -> bool {
    let blanks = blanks(line, at);
    blanks > 0 && letters(line, at + blanks) > 0
}

fn last_word(before: &[u8]) -> &[u8] {
    let before = before.trim_ascii_end();
    let length = before
        .iter()
        .rev()
        .take(WORD_BYTES)
        .take_while(|byte| is_of_word(**byte))
        .count();
    part(before, before.len() - length)
}

fn without_last<'a>(before: &'a [u8], word: &[u8]) -> &'a [u8] {
    let before = before.trim_ascii_end();
    before.get(..before.len() - word.len()).unwrap_or_default()
}

fn is_plural(word: &[u8]) -> bool {
    ends_with(word, "s")
}

fn ends_with(word: &[u8], end: &str) -> bool {
    let start = word.len().checked_sub(end.len());
    start.is_some_and(|start| part(word, start).eq_ignore_ascii_case(end.as_bytes()))
}

fn is_one_of(word: &[u8], list: &[&str]) -> bool {
    list.iter()
        .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

fn part(line: &[u8], from: usize) -> &[u8] {
    line.get(from..).unwrap_or_default()
}

fn blanks(line: &[u8], at: usize) -> usize {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
    part(line, at).iter().take_while(is_blank).count()
}

fn letters(line: &[u8], at: usize) -> usize {
    let is_letter = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b'-';
    let rest = part(line, at);
    if rest.first().is_some_and(u8::is_ascii_alphabetic) {
        rest.iter().take(WORD_BYTES).take_while(is_letter).count()
    } else {
        0
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
