//! The messages of a line, which anchored patterns ask for: what a terminal would show one over the other, each without its
//! prefix, and what quotes, a table's cell, a label or a logger's fields enclose in it.

use std::ops::Range;

use memchr::{memchr_iter, memmem};

use super::labels::label;
use super::prefix::{self, Prefix};

/// What stands between two carriage returns of a line, and its prefix.
pub(super) type Shown = (Range<usize>, Prefix);

/// Most values that are looked at on one line.
const MOST: usize = 16;
/// Marks that pages, pagers and programs put around a line.
const BEFORE: &[u8] = b" \t>|*-+`\"'#([{";
const BEHIND: &[u8] = b" \t|`\"',;)]}\\";
/// The same without the bar, with which a row of a table begins.
const BEFORE_ROW: &[u8] = b" \t>*-+`\"'#([{,";
const BEHIND_ROW: &[u8] = b" \t`\"',;)]}\\";
/// Most bars at which a row may begin: a launcher's own bar stands before it.
const MOST_BARS: usize = 2;
/// No row begins further into a message, in bytes.
const ROW_WITHIN: usize = 512;

/// What a terminal would show one over the other, without prefixes, and what each encloses; not what ends elsewhere.
pub(super) fn messages(text: &[u8], shown: &[Shown], last: bool) -> Vec<Range<usize>> {
    let whole = shown.iter().filter(|(part, _)| last || part.end < text.len());
    let mut all: Vec<_> = whole
        .clone()
        .map(|(part, prefix)| part.start + prefix.len..part.end)
        .collect();
    let enclosed: Vec<_> = all.iter().flat_map(|message| within(text, message)).collect();
    all.extend(enclosed);
    // `1732800000123 | GPU Memory | Fail |`: the bar may be a launcher's, or the row's.
    let prefixed = whole.filter(|(_, prefix)| prefix.len > 0);
    all.extend(prefixed.flat_map(|(part, _)| rows(text, part)));
    all
}

/// What stands between carriage returns, and its prefix. What began elsewhere is left out.
pub(super) fn shown_parts(text: &[u8], first: bool) -> Vec<Shown> {
    let mut start = 0;
    memchr_iter(b'\r', text)
        .chain(std::iter::once(text.len()))
        .filter_map(|end| {
            let part = start..end;
            start = end + 1;
            let is_whole = part.start > 0 || first;
            is_whole.then(|| {
                let prefix = prefix::read(text.get(part.clone()).unwrap_or_default());
                (part, prefix)
            })
        })
        .collect()
}

/// The host that a line names, by the first of its prefixes that does; else empty.
pub(super) fn host_of<'t>(text: &'t [u8], shown: &[Shown]) -> &'t [u8] {
    let mut hosts = shown
        .iter()
        .map(|(part, prefix)| prefix.host_in(text.get(part.clone()).unwrap_or_default()));
    hosts.find(|host| !host.is_empty()).unwrap_or_default()
}

fn within(text: &[u8], message: &Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut add = |range: Range<usize>| {
        if range != *message && !range.is_empty() && !found.contains(&range) {
            found.push(range);
        }
    };
    let unmarked = without_marks(text, message.clone());
    let part = text.get(message.clone()).unwrap_or_default();
    let without_fields = message.start..message.start + before_fields(part);
    add(without_marks(text, without_fields));
    // What ends in a bracket of its own: `(rev ff)",`.
    add(unmarked.start..message.end);
    add(unmarked);
    rows(text, message).for_each(&mut add);
    let labelled = label(part);
    if labelled > 0 {
        add(behind_prefix(text, message.start + labelled..message.end));
    }
    for value in values(part).take(MOST) {
        let value = message.start + value.start..message.start + value.end;
        add(behind_prefix(text, value));
    }
    found
}

/// Rows of a table, which may begin at one of the first bars.
fn rows<'t>(text: &'t [u8], message: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<'t> {
    let part = text.get(message.clone()).unwrap_or_default();
    let (start, end) = (message.start, message.end);
    let near = part.get(..part.len().min(ROW_WITHIN)).unwrap_or(part);
    let behind = part
        .iter()
        .rev()
        .take_while(|byte| BEHIND_ROW.contains(byte))
        .count();
    memchr_iter(b'|', near)
        .take(MOST_BARS)
        .filter(|bar| {
            let before = part.get(..*bar).and_then(<[u8]>::last);
            before.is_none_or(|byte| BEFORE_ROW.contains(byte) || *byte == b']')
        })
        .map(move |bar| start + bar..end - behind)
}

fn without_marks(text: &[u8], message: Range<usize>) -> Range<usize> {
    let part = text.get(message.clone()).unwrap_or_default();
    let before = part.iter().take_while(|byte| BEFORE.contains(byte)).count();
    let behind = part.iter().rev().take_while(|byte| BEHIND.contains(byte)).count();
    let end = message.end.saturating_sub(behind);
    behind_prefix(text, (message.start + before).min(end)..end)
}

fn behind_prefix(text: &[u8], message: Range<usize>) -> Range<usize> {
    let part = text.get(message.clone()).unwrap_or_default();
    message.start + prefix::read(part).len..message.end
}

/// Length of a message before the fields that a logger has put behind it: `…    [worker] rank=3`.
fn before_fields(part: &[u8]) -> usize {
    let is_field = |word: &[u8]| {
        word.starts_with(b"[") && word.ends_with(b"]")
            || word
                .iter()
                .position(|byte| *byte == b'=')
                .is_some_and(|at| at > 0)
    };
    let gap = memmem::rfind(part, b"  ");
    let fields = gap.and_then(|gap| part.get(gap..)).unwrap_or_default();
    let mut words = fields.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    match gap {
        Some(gap) if words.all(is_field) => gap,
        _ => part.len(),
    }
}

/// Values of `"key":"value"`, `"key": "value"` and `key="value"`, and those of lists, up to where the next key or the end comes.
fn values(part: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = part.get(at..)?;
        let quote = memchr::memchr(b'"', rest).map(|quote| at + quote)?;
        at = quote + 1;
        Some(quote)
    })
    .filter(|quote| {
        let before = part.get(..*quote).unwrap_or_default().trim_ascii_end();
        before.last().is_some_and(|byte| b":=,[".contains(byte))
    })
    .map(|quote| {
        let from = quote + 1;
        let rest = part.get(from..).unwrap_or_default();
        let ends = [&b"\","[..], b"\"}", b"\"]", b"\" "]
            .into_iter()
            .filter_map(|end| memmem::find(rest, end));
        let len = ends
            .min()
            .unwrap_or_else(|| rest.strip_suffix(b"\"").unwrap_or(rest).len());
        from..from + len
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<&str> {
        let ranges = within(line.as_bytes(), &(0..line.len()));
        ranges.into_iter().map(|range| &line[range]).collect()
    }

    #[test]
    fn what_a_line_encloses_is_a_message_of_its_own() {
        for (line, message) in [
            ("| the call failed: Timeout |", "the call failed: Timeout"),
            ("- `the call failed: Timeout`", "the call failed: Timeout"),
            ("> > the call failed: Timeout", "the call failed: Timeout"),
            ("'the call failed: Timeout',", "the call failed: Timeout"),
            (
                r#"{"level":"error","msg":"the call failed: Timeout"}"#,
                "the call failed: Timeout",
            ),
            (
                r#"{"event": "the call failed: Timeout", "level": "error"}"#,
                "the call failed: Timeout",
            ),
            (
                r#"level=ERROR msg="the call failed: Timeout" rank=3"#,
                "the call failed: Timeout",
            ),
            (
                "the call failed: Timeout    [worker] rank=3",
                "the call failed: Timeout",
            ),
            (
                r#"{"log":"2026-11-21T03:14:07Z the call failed: Timeout"#,
                "the call failed: Timeout",
            ),
        ] {
            assert!(found(line).contains(&message), "{line}: {:?}", found(line));
        }
        assert_eq!(found("the call failed: Timeout"), [""; 0]);
        assert_eq!(found("a  table of words"), [""; 0]);
    }

    #[test]
    fn a_row_of_a_table_is_a_message_whatever_stands_before_it() {
        let row = "| GPU Memory | Fail - GPU: 3 |";
        for before in [
            "> ",
            "- ",
            "+ ",
            "[node7] ",
            "wandb: ",
            "##[error]",
            "node7\t",
            "gpu-burn-1 | ",
            "1732800000123 ",
            "12:00:00.123 ",
            "    \"",
        ] {
            let line = format!("{before}{row}");
            assert!(found(&line).contains(&row), "{line}: {:?}", found(&line));
        }
        let of_json = format!("{{\"values\":[[\"1\",\"{row}\"]]}}");
        assert!(found(&of_json).contains(&row), "{:?}", found(&of_json));
        // A cell further on is no row.
        assert!(!found("| a | Fail | b |").contains(&"| b |"));
    }

    #[test]
    fn a_bar_of_a_launcher_may_be_that_of_a_row() {
        for before in ["- ", "1732800000123 ", "gpu-burn-1 | "] {
            let row = "| GPU Memory | Fail - GPU: 3 |";
            let line = format!("{before}{row}");
            let text = line.as_bytes();
            let ranges = messages(text, &shown_parts(text, true), true);
            assert!(ranges.into_iter().any(|range| &line[range] == row), "{line}");
        }
    }

    #[test]
    fn what_stands_behind_a_label_is_a_message() {
        let said = "3b:00.0 3D controller: NVIDIA (rev ff)";
        for line in [
            format!("[node7] {said}"),
            format!("[rank: 3] {said}"),
            format!("##[error]{said}"),
            format!("node7\t{said}"),
            format!("1732800000123 {said}"),
            format!("12:00:00.123 {said}"),
            format!("> {said}"),
        ] {
            assert!(found(&line).contains(&said), "{line}: {:?}", found(&line));
        }
    }

    #[test]
    fn marks_alone_are_no_message() {
        assert_eq!(found("----"), [""; 0]);
        assert_eq!(found("\"\""), [""; 0]);
    }
}
