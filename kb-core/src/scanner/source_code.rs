//! Lines of a program's source, which quote messages and codes that nobody printed: `klog.Warningf("Device %v is too old", id)`,
//! `if (rc != NVML_ERROR_UNKNOWN) {`. What is found in them is a candidate.

use std::ops::Range;

use super::prefix;
use crate::matcher::RawHit;

/// How far from a hit the quotes of its string are looked for, in bytes.
const MAX_STRING: usize = 512;
const STATEMENTS: [&[u8]; 7] = [
    b"if ",
    b"if(",
    b"case ",
    b"return ",
    b"} else if",
    b"else if",
    b"elif ",
];
const ENDS: [u8; 4] = *b"{;:)";

/// Whether a value of a hit is still a place for one, whether the hit lies in a string with such a place, or is a code that a
/// statement compares or returns. A program that forgot its value prints the place itself; a pattern that expects that names it.
pub(super) fn is_source(text: &[u8], hit: &RawHit) -> bool {
    let captures = hit.captures.iter().map(|(_, value)| value);
    let mut values = hit.gaps.iter().chain(captures);
    values.any(|value| holds_directive(text.get(value.clone()).unwrap_or_default()))
        || argument(text, &hit.span)
            .is_some_and(|string| holds_directive(string) || string.windows(2).any(|two| two == b"{}"))
        || is_compared(text, &hit.span)
}

/// `%s`, `%lu`, `%08x`, `%.2f`, with no letter or digit beside it.
fn holds_directive(text: &[u8]) -> bool {
    memchr::memchr_iter(b'%', text).any(|at| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        let rest = text.get(at + 1..).unwrap_or_default();
        let width = count(rest, |byte| byte.is_ascii_digit() || byte == b'.');
        // `%2d` is a hyphen in an address.
        let is_width = width == 0 || matches!(rest.first(), Some(b'0' | b'.'));
        let rest = rest.get(width..).unwrap_or_default();
        let rest = rest
            .get(count(rest, |byte| b"lhz".contains(&byte)).min(2)..)
            .unwrap_or_default();
        let is_kind = rest.first().is_some_and(|kind| b"vsdupxXifgq".contains(kind));
        let is_end = !rest.get(1).is_some_and(u8::is_ascii_alphanumeric);
        is_width && is_kind && is_end && !before.is_some_and(u8::is_ascii_alphanumeric)
    })
}

fn count(text: &[u8], is_one: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| is_one(**byte)).count()
}

/// The string around a hit, where it is the first argument of a call.
fn argument<'a>(text: &'a [u8], span: &Range<usize>) -> Option<&'a [u8]> {
    let from = span.start.saturating_sub(MAX_STRING);
    let begin = from + memchr::memrchr(b'"', text.get(from..span.start)?)?;
    let behind = text.get(span.end..text.len().min(span.end + MAX_STRING))?;
    let end = span.end + memchr::memchr(b'"', behind)?;
    text.get(..begin)?
        .ends_with(b"(")
        .then(|| text.get(begin + 1..end))?
}

fn is_compared(text: &[u8], span: &Range<usize>) -> bool {
    let message = text.get(prefix::read(text).len..).unwrap_or(text).trim_ascii();
    let is_statement = STATEMENTS.iter().any(|word| message.starts_with(word))
        && message.last().is_some_and(|last| ENDS.contains(last));
    if !is_statement {
        return false;
    }
    // `nvml.ERROR_UNKNOWN`, `ncclResult_t::ncclSystemError`.
    let before = text.get(..span.start).unwrap_or_default();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:".contains(byte);
    let name = before.iter().rev().take_while(|byte| is_name(byte)).count();
    let before = before
        .get(..before.len() - name)
        .unwrap_or_default()
        .trim_ascii_end();
    let word = before.rsplit(u8::is_ascii_whitespace).next();
    before.ends_with(b"!=") || before.ends_with(b"==") || matches!(word, Some(b"case" | b"return"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_source_of(text: &str, words: &str) -> bool {
        let start = text.find(words).unwrap();
        let hit = RawHit {
            signal: 0,
            span: start..start + words.len(),
            captures: Vec::new(),
            gaps: text.find("%04x").map(|at| at..at + 4).into_iter().collect(),
            weight: 1.0,
            weak: false,
        };
        is_source(text.as_bytes(), &hit)
    }

    #[test]
    fn source_lines_are_told_from_messages() {
        let too_old = "is too old to support healthchecking";
        for (text, words) in [
            (
                "\tklog.Warningf(\"Device %v is too old to support healthchecking.\", d.ID)",
                too_old,
            ),
            (
                "error(\"NVML: Failed to get count(%d): %s\",",
                "NVML: Failed to get count",
            ),
            (
                "warn!(\"device {} is too old to support healthchecking\")",
                too_old,
            ),
            ("NVRM: Xid (PCI:%04x:%02x:%02x): %d, ", "Xid (PCI:%04x:%02x:%02x)"),
            (
                "if (rc != NVML_ERROR_INSUFFICIENT_SIZE) {",
                "NVML_ERROR_INSUFFICIENT_SIZE",
            ),
            ("case ret == nvml.ERROR_NOT_SUPPORTED:", "ERROR_NOT_SUPPORTED"),
            ("    case cudaErrorNoDevice:", "cudaErrorNoDevice"),
            ("    return ncclSystemError;", "ncclSystemError"),
        ] {
            assert!(is_source_of(text, words), "{text}");
        }
        for (text, words) in [
            (
                "Warning: Device GPU-1 is too old to support healthchecking.",
                too_old,
            ),
            (
                "Worker failed with error %s, see above",
                "Worker failed with error %s",
            ),
            (
                "raise RuntimeError(\"CUDA error: no device\")",
                "CUDA error: no device",
            ),
            (
                "    assert status == CUDNN_STATUS_SUCCESS, 'no'",
                "CUDNN_STATUS_SUCCESS",
            ),
            (
                "Check failed: e == cudaErrorNoDevice (100 vs. 0)",
                "cudaErrorNoDevice",
            ),
            ("GPU at 100%, is too old to support healthchecking", too_old),
            (
                "see https://example.com/a%2db: cudaErrorNoDevice",
                "a%2db: cudaErrorNoDevice",
            ),
            ("case 3 returned cudaErrorNoDevice", "cudaErrorNoDevice"),
        ] {
            assert!(!is_source_of(text, words), "{text}");
        }
    }
}
