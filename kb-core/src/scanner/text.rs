//! A line as it is shown: readable, of bounded length, with the match marked.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Longest text of a line that is kept, in bytes of UTF-8 before lossy replacement.
pub const TEXT_LIMIT_BYTES: usize = 1024;
/// Longest captured value that is kept, in bytes before lossy replacement.
const VALUE_LIMIT_BYTES: usize = 256;
const CUT: char = '…';

/// A line's text without colours and line end; what is no UTF-8 stands as U+FFFD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Marked {
    /// The text; `…` stands where it was cut.
    pub text: String,
    /// First byte of the match in `text`.
    pub mark_start: u32,
    /// First byte after the match in `text`.
    pub mark_end: u32,
    /// Whether only the part around the match is given.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

pub(super) fn marked(line: &[u8], span: &Range<usize>) -> Marked {
    let kept = window(line, span);
    let mark_end = span.end.min(kept.end);
    let part = |from: usize, to: usize| String::from_utf8_lossy(line.get(from..to).unwrap_or_default());
    let mut text = String::new();
    if kept.start > 0 {
        text.push(CUT);
    }
    text.push_str(&part(kept.start, span.start));
    let from = offset(&text);
    text.push_str(&part(span.start, mark_end));
    let to = offset(&text);
    text.push_str(&part(mark_end, kept.end));
    if kept.end < line.len() {
        text.push(CUT);
    }
    Marked {
        text,
        mark_start: from,
        mark_end: to,
        cut: kept.start > 0 || kept.end < line.len(),
    }
}

pub(super) fn value(bytes: &[u8]) -> String {
    if bytes.len() <= VALUE_LIMIT_BYTES {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let end = char_boundary(bytes, VALUE_LIMIT_BYTES);
    let mut text = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned();
    text.push(CUT);
    text
}

/// What is kept of a line: all of it, or the limit around the match, more of it behind than before.
fn window(line: &[u8], span: &Range<usize>) -> Range<usize> {
    if line.len() <= TEXT_LIMIT_BYTES {
        return 0..line.len();
    }
    let matched = span.len().min(TEXT_LIMIT_BYTES);
    let before = (TEXT_LIMIT_BYTES - matched) / 3;
    let latest = line.len() - TEXT_LIMIT_BYTES;
    let start = char_boundary(line, span.start.saturating_sub(before).min(latest)).min(span.start);
    start..char_boundary(line, start + TEXT_LIMIT_BYTES).max(start)
}

/// The nearest place at or before `at` that does not split a UTF-8 sequence.
fn char_boundary(bytes: &[u8], at: usize) -> usize {
    let mut at = at.min(bytes.len());
    for _ in 0..3 {
        match bytes.get(at) {
            Some(byte) if byte & 0b1100_0000 == 0b1000_0000 && at > 0 => at -= 1,
            _ => break,
        }
    }
    at
}

fn offset(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}
