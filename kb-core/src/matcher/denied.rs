//! Denials of the driver's numbers: `Xid 79 is not present`, `Checked for Xid 79: none found`, `no Xid errors since boot`. A line that
//! says so reports nothing. The denial has to stand right beside the number, in its clause: what another clause denies says nothing of it.

use std::borrow::Cow;

use super::codes::read_number;
use super::lists::further;
use super::markers::{XID, places, starts_word};

/// Denials that stand behind the number.
const BEHIND: [&str; 26] = [
    " is not present",
    " not present",
    " is absent",
    " is not found",
    " was not found",
    " not found",
    " is not seen",
    " was not seen",
    " not seen",
    " was not detected",
    " not detected",
    " did not occur",
    " has not occurred",
    " never occurred",
    " none found",
    ": none found",
    ": none seen",
    ": none detected",
    ": none",
    ": not found",
    ": not present",
    ": not seen",
    ": not detected",
    ": absent",
    ": no",
    ": 0",
];
/// Denials that stand before the number.
const BEFORE: [&str; 8] = [
    "no ",
    "没有 ",
    "没有",
    "未发现 ",
    "未发现",
    "未检测到 ",
    "无 ",
    "kein ",
];
/// What may follow a denial, beside the end of its clause.
const FOLLOWING: [&str; 19] = [
    " since ",
    " in dmesg",
    " in journal",
    " in the journal",
    " in the log",
    " in the kernel log",
    " in kernel log",
    " in logs",
    " in this boot",
    " on any ",
    " on this ",
    " on all ",
    " yet",
    " so far",
    " here",
    " events",
    " times",
    " occurrences",
    " errors",
];
/// What may follow a number that was denied before it.
const FOUND: [&str; 10] = [
    " found",
    " seen",
    " present",
    " detected",
    " reported",
    " logged",
    " error",
    " event",
    " was found",
    " were found",
];
/// What may stand behind the word where no number does.
const WORDS: [&str; 6] = [" errors", " error", " events", " event", " messages", " entries"];

/// Where the denial of `from..to`, a number with its word, ends; `None` where nothing beside it denies it. The line is in lower case.
pub(super) fn denial(line: &[u8], from: usize, to: usize) -> Option<usize> {
    let before = line.get(..from)?;
    let behind = line.get(to..)?;
    let is_followed = |rest: &[u8]| ends_clause(rest) || begins_with_one(rest, &FOLLOWING);
    let denying = BEHIND
        .iter()
        .filter(|denial| behind.starts_with(denial.as_bytes()));
    let mut denying = denying.filter(|denial| is_followed(behind.get(denial.len()..).unwrap_or_default()));
    if let Some(denial) = denying.next() {
        return Some(to + denial.len());
    }
    let is_none = |word: &&str| {
        let begins = before.len().checked_sub(word.len());
        begins.is_some_and(|at| {
            before.ends_with(word.as_bytes()) && (!word.is_ascii() || starts_word(line, at))
        })
    };
    let is_denied = BEFORE.iter().any(is_none) && (is_followed(behind) || begins_with_one(behind, &FOUND));
    is_denied.then_some(to)
}

/// The line without what it denies: blanks stand in its place.
pub(crate) fn without_denials(line: &str) -> Cow<'_, str> {
    if !["xid", "Xid", "XID"].iter().any(|word| line.contains(word)) {
        return Cow::Borrowed(line);
    }
    let lower = line.to_ascii_lowercase();
    let lower = lower.as_bytes();
    let mut text = Cow::Borrowed(line);
    for from in places(lower, XID.as_bytes()).filter(|from| starts_word(lower, *from)) {
        let to = end_of_number(lower, from + XID.len());
        let end = denial(lower, from, to);
        if let Some(end) = end.filter(|end| line.is_char_boundary(*end)) {
            text.to_mut().replace_range(from..end, &" ".repeat(end - from));
        }
    }
    text
}

/// Where the numbers end that stand behind the word, or the word for what it tells of.
fn end_of_number(line: &[u8], word: usize) -> usize {
    let at = |from: usize| line.get(from..).unwrap_or_default();
    let is_plural = at(word).starts_with(b"s");
    let word = word + usize::from(is_plural);
    let named = WORDS.iter().find(|name| at(word).starts_with(name.as_bytes()));
    if let Some(name) = named {
        return word + name.len();
    }
    let blanks = at(word).iter().take_while(|byte| **byte == b' ').count();
    let Some((_, length)) = read_number(at(word + blanks)) else {
        return word;
    };
    let end = word + blanks + length;
    let further = further(at(end), is_plural);
    end + further.last().map_or(0, |(_, end)| *end)
}

fn begins_with_one(text: &[u8], known: &[&str]) -> bool {
    known.iter().any(|known| text.starts_with(known.as_bytes()))
}

fn ends_clause(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    match rest {
        [b'.', next, ..] => next.is_ascii_whitespace(),
        [] | [b'.' | b',' | b';' | b')' | b']' | b'!' | b'"' | b'\'' | b'|', ..] => true,
        _ => ["，", "。", "；", "）"]
            .iter()
            .any(|sign| rest.starts_with(sign.as_bytes())),
    }
}
