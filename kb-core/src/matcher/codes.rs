//! A record's codes as tests on a line: names stand as words (`ncclSystemError`), numbers need their family word and
//! their domain (`Xid 79`, `CUDA error 217`). A bare number is nothing.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Kind;
use super::denied::denial;
use super::lists::further;
use super::markers::{Markers, XID, places, starts_word};
use super::rarity::is_word_byte;

/// Shortest name that is looked for in text, in bytes.
const MIN_NAME: usize = 5;
/// Shortest word before a number, in bytes.
const MIN_FAMILY: usize = 3;
/// Furthest that a number may stand behind its family word, in bytes: room for a PCI address between them.
const MAX_DISTANCE: usize = 64;

pub(super) struct CodeTest {
    /// The text that wakes the test: the name itself, or the family word.
    pub(super) entry: Vec<u8>,
    pub(super) number: Option<u64>,
    pub(super) kind: Kind,
}

/// Reads a code as people write it. The error says why it cannot be looked for in text; it still names its record.
pub(super) fn parse(code: &str, domain: &str) -> Result<CodeTest, String> {
    let lower = code.trim().to_ascii_lowercase();
    let mut words: Vec<&str> = lower.split_ascii_whitespace().collect();
    let number = words.last().and_then(|last| last.parse::<u64>().ok());
    let Some(number) = number else {
        return name(&lower);
    };
    words.pop();
    let Some(family) = words.pop() else {
        return Err(format!(
            "{code:?} is a bare number; write it with its domain, for example \"Xid 79\""
        ));
    };
    if family.len() < MIN_FAMILY {
        return Err(format!(
            "the word before the number of {code:?} is too short to be told from other words; write it out"
        ));
    }
    // A code that names its world (`CUDA error 217`) needs those words on the line, and an Xid any word of NVIDIA's where
    // it is not written as the driver's; any other needs its record's domain there.
    let names_world = Markers::on(lower.as_bytes(), lower.as_bytes()) != Markers::NONE;
    let domain_markers = Markers::of_domain(&domain.to_ascii_lowercase()).unwrap_or(Markers::NONE);
    let needs = if names_world {
        Markers::NONE
    } else if family == XID {
        Markers::BY_XID
    } else {
        domain_markers
    };
    if needs == Markers::NONE && words.is_empty() && !names_world {
        return Err(format!(
            "{code:?} names no domain; write it with one, for example \"CUDA error 217\""
        ));
    }
    Ok(CodeTest {
        entry: family.as_bytes().to_vec(),
        number: Some(number),
        kind: Kind::Number {
            words: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            needs,
        },
    })
}

fn name(lower: &str) -> Result<CodeTest, String> {
    let letters = lower.bytes().filter(u8::is_ascii_alphabetic).count();
    if letters < MIN_NAME || lower.contains('\n') {
        return Err(format!(
            "{lower:?} is too short to be told from other words in a text; write the full name of the code"
        ));
    }
    Ok(CodeTest {
        entry: lower.as_bytes().to_vec(),
        number: None,
        kind: Kind::Word(lower.as_bytes().to_vec()),
    })
}

/// Where a name stands as words of their own within this part of the line; what surrounds the part tells word ends.
pub(super) fn find_name(line: &[u8], name: &[u8], within: &Range<usize>) -> Option<Range<usize>> {
    places(line, name)
        .map(|at| at..at + name.len())
        .filter(|span| lies_in(span, within))
        .find(|span| starts_word(line, span.start) && line.get(span.end).is_none_or(|&b| !is_word_byte(b)))
}

fn lies_in(span: &Range<usize>, within: &Range<usize>) -> bool {
    within.start <= span.start && span.end <= within.end
}

/// The numbers that a family word introduces in this part of a line (ASCII lower case), each once, with the span from the
/// word to the number's last digit where it stands first. Between them may stand `code`, `error`, separators and one
/// bracketed group, as in `Xid (PCI:0000:3b:00): 79`. A number of which the line speaks in the plural (`all Xid 31s`) is a
/// kind of event, and no report of one; nor is one that the line denies. Of the driver's numbers a list is read to its end: `Xids: 31, 79`.
pub(super) fn numbers(line: &[u8], family: &[u8], within: &Range<usize>) -> Vec<(u64, Range<usize>)> {
    let mut first: FxHashMap<u64, usize> = FxHashMap::default();
    let mut found: Vec<(u64, Option<Range<usize>>)> = Vec::new();
    for (number, span, end) in introduced(line, family) {
        let reports = end == End::Number && lies_in(&span, within);
        if !reports && end != End::Plural {
            continue;
        }
        let place = *first.entry(number).or_insert_with(|| {
            found.push((number, reports.then_some(span)));
            found.len() - 1
        });
        if end == End::Plural
            && let Some((_, span)) = found.get_mut(place)
        {
            *span = None;
        }
    }
    let reported = found
        .into_iter()
        .filter_map(|(number, span)| Some((number, span?)));
    reported.collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Number,
    /// As the plural of one: `31s`.
    Plural,
    /// As something else: `31b`, `31.5`.
    Other,
}

fn introduced<'a>(line: &'a [u8], family: &'a [u8]) -> impl Iterator<Item = (u64, Range<usize>, End)> + 'a {
    places(line, family)
        .filter(|&at| starts_word(line, at))
        .filter_map(move |at| {
            let after = at + family.len();
            let rest = line.get(after..line.len().min(after + MAX_DISTANCE + 20))?;
            let digits_at = skip_to_number(rest)?;
            let (number, len) = read_number(rest.get(digits_at..)?)?;
            let first_end = after + digits_at + len;
            let behind = line.get(first_end..).unwrap_or_default();
            // `ERROR: 12 errors found` and `xid: 3 errors` are counts. `Xid 79 errors` names the Xid.
            let is_xid = family.ends_with(XID.as_bytes());
            let is_named = is_xid && rest.get(..digits_at) == Some(b" ".as_slice());
            let is_count =
                !is_named && (behind.starts_with(b" errors") || behind.starts_with(b" error found"));
            let has_place = rest
                .get(..digits_at)
                .is_some_and(|between| between.contains(&b'('));
            // `Xid (PCI:0000:4c:00): 31:00): 79` is two lines in one: the number may be cut, and the rest is another's.
            let is_mixed =
                is_xid && has_place && matches!(behind, [b':', next, ..] if next.is_ascii_hexdigit());
            let end = if is_count || is_mixed {
                End::Other
            } else {
                digits_end(behind)
            };
            // The driver's own line, `Xid (PCI:0000:3b:00): 13, 0003`, names one.
            let may_list = is_xid && end == End::Number && !has_place;
            let is_plural = rest.first() == Some(&b's');
            let mut list = if may_list {
                further(behind, is_plural)
            } else {
                Vec::new()
            };
            let last_end = first_end + list.last().map_or(0, |(_, end)| *end);
            let is_denied = is_xid && denial(line, at, last_end).is_some();
            if is_denied {
                list.clear();
            }
            let first = (number, at..first_end, if is_denied { End::Other } else { end });
            let list = list
                .into_iter()
                .map(move |(number, end)| (number, at..first_end + end, End::Number));
            Some(std::iter::once(first).chain(list))
        })
        .flatten()
}

/// The number that a text begins with, and its length.
pub(super) fn read_number(text: &[u8]) -> Option<(u64, usize)> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(text.get(..len)?).ok()?.parse().ok()?;
    Some((number, len))
}

/// Signs that end a number in Chinese; no other character beyond ASCII does.
const SIGNS: [&str; 8] = ["？", "！", "，", "。", "、", "；", "：", "）"];

fn digits_end(behind: &[u8]) -> End {
    let is_word = |at: usize| behind.get(at).is_some_and(|&byte| is_word_byte(byte));
    match behind.first() {
        // A version or a decimal goes on after the point; a sentence does not.
        Some(b'.') if behind.get(1).is_some_and(u8::is_ascii_digit) => End::Other,
        Some(b's') if !is_word(1) => End::Plural,
        _ if SIGNS.iter().any(|sign| behind.starts_with(sign.as_bytes())) => End::Number,
        _ if is_word(0) => End::Other,
        _ if says_status_of_http(behind) => End::Other,
        _ => End::Number,
    }
}

/// Whether the number before this text is the status of an HTTP answer, by the reason that RFC 9110 (section 15) gives it:
/// servers of models wrap the GPU's error so (`Error: 500 Internal Server Error: ... CUDA error: ...`), and CUDA has a 500 of its
/// own. `Not Found` is no sign of it, for that is what CUDA's 500 says.
fn says_status_of_http(behind: &[u8]) -> bool {
    const REASONS: [&[u8]; 7] = [
        b"bad gateway",
        b"bad request",
        b"forbidden",
        b"gateway timeout",
        b"internal server error",
        b"service unavailable",
        b"too many requests",
    ];
    let reason = behind.strip_prefix(b" ").unwrap_or_default();
    REASONS.iter().any(|known| reason.starts_with(known))
}

/// Length of what may stand between a family word and its number; `None` if something else does.
fn skip_to_number(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    let (mut bracket_seen, mut is_plural) = (false, false);
    while at <= MAX_DISTANCE {
        let tail = rest.get(at..)?;
        match tail.first()? {
            b if b.is_ascii_digit() => return (at > 0).then_some(at),
            b'(' if !bracket_seen && !tail.get(1).is_some_and(u8::is_ascii_digit) => {
                bracket_seen = true;
                let group = tail.iter().position(|&b| b == b')')? + 1;
                // Where another begins in it, the number behind it is that one's.
                if tail.get(1..group)?.contains(&b'(') {
                    return None;
                }
                at += group;
            }
            // `NVML errors (1)` is a count.
            b'(' if is_plural && !bracket_seen => return None,
            b' ' | b'\t' | b':' | b'=' | b'#' | b'(' | b'[' | b'\'' | b'"' => at += 1,
            // As a key: `xid_errors`.
            b'_' if at == 0 => at += 1,
            b's' if at == 0 => {
                is_plural = true;
                at += 1;
            }
            _ => {
                is_plural |= tail.starts_with(b"errors");
                at += filler(tail)?;
            }
        }
    }
    None
}

/// Words that say nothing between a family word and its number.
fn filler(tail: &[u8]) -> Option<usize> {
    [
        "codes", "code", "number", "errors", "error", "events", "seen", "no.", "is",
    ]
    .into_iter()
    .find_map(|word| {
        let goes_on = tail.get(word.len()).is_some_and(|&b| is_word_byte(b));
        (tail.starts_with(word.as_bytes()) && !goes_on).then_some(word.len())
    })
}
