//! Lines of the tables of `dcgmi dmon`, behind whatever logging or a page puts before them: heads, rows, and what may stand between rows.

use std::ops::Range;

use super::dmon_fields::is_known;
use super::messages::{messages, shown_parts};

/// Columns of one table that are read.
const MOST_COLUMNS: usize = 128;
/// Bytes of a line that are read: a table has [`MOST_COLUMNS`] columns of 22 characters.
const LONGEST_LINE: usize = 4 << 10;
/// No head begins further into a line, in bytes.
const HEAD_WITHIN: usize = 512;

/// A line that begins a table. Ranges are places in the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) start: usize,
    /// Names of the columns of values.
    pub(super) columns: Vec<Range<usize>>,
}

/// A line of values. Ranges are places in the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) start: usize,
    /// Whether it is about a whole GPU or one of its links; a MIG instance is numbered apart from the GPUs.
    pub(super) is_of_gpu: bool,
    pub(super) index: Range<usize>,
    pub(super) values: Vec<Range<usize>>,
}

/// What a line is to an open table.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Row(Row),
    /// The units of a head, or nothing: heads are repeated below a blank line.
    Between,
    Other,
}

/// Whether the head of a table stands at the beginning.
pub(super) fn begins_head(text: &[u8]) -> bool {
    let name = text.strip_prefix(b"#").map(<[u8]>::trim_ascii_start);
    name.and_then(|name| name.strip_prefix(b"Entity"))
        .is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))
}

/// Reads the line that begins a table.
pub(super) fn head(line: &[u8]) -> Option<Head> {
    let line = near(line, LONGEST_LINE);
    let mut signs = memchr::memchr_iter(b'#', near(line, HEAD_WITHIN));
    let start = signs.find(|at| begins_head(tail(line, *at)))?;
    let words = words(line, start);
    let text = |word: &Range<usize>| line.get(word.clone()).unwrap_or_default();
    let name = words.iter().position(|word| text(word).ends_with(b"Entity"))?;
    let columns: Vec<_> = words.into_iter().skip(name + 1).take(MOST_COLUMNS).collect();
    // In a sentence about the head of a table no column follows.
    let is_alone = near(line, start).trim_ascii().is_empty();
    let is_table = is_alone
        || columns
            .iter()
            .any(|column| std::str::from_utf8(text(column)).is_ok_and(is_known));
    is_table.then_some(Head { start, columns })
}

/// Where the columns of Xids stand in a line that begins a table. Their name looks like an error; the rows say whether there was one.
pub(crate) fn xid_columns(line: &[u8]) -> Vec<usize> {
    if line.len() > LONGEST_LINE {
        return Vec::new();
    }
    let columns = head(line).map(|head| head.columns).unwrap_or_default();
    let of_xids = columns
        .into_iter()
        .filter(|column| line.get(column.clone()) == Some(b"XIDER"));
    of_xids.map(|column| column.start).collect()
}

/// Reads a further line of a table whose head began at `head`, in bytes of its line.
pub(super) fn read(line: &[u8], head: usize) -> Kind {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = near(line, LONGEST_LINE);
    if let Some(row) = row(line, 0..line.len()) {
        return Kind::Row(row);
    }
    // A mail program marks empty lines, too.
    if is_between(line) || line.iter().all(|byte| b"> |".contains(byte)) {
        return Kind::Between;
    }
    // Parts that a terminal shows one over the other may be empty beside others that are not.
    let is_one = memchr::memchr(b'\r', line).is_none();
    let mut kind = Kind::Other;
    for message in messages(line, &shown_parts(line, true), true) {
        if let Some(row) = row(line, message.clone()) {
            return Kind::Row(row);
        }
        if is_one && is_between(line.get(message).unwrap_or_default()) {
            kind = Kind::Between;
        }
    }
    // What no logger is known to write is as wide before a row as before the head.
    if let Some(row) = row(line, head..line.len()) {
        return Kind::Row(row);
    }
    if head < line.len() && is_between(tail(line, head)) {
        kind = Kind::Between;
    }
    kind
}

fn is_between(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let units = text.strip_prefix(b"ID");
    let is_units = units.is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace));
    text.is_empty() || is_units
}

/// `GPU 3`, `GPU-I 1` or `GPU 0 LINK 4`, and values.
fn row(line: &[u8], message: Range<usize>) -> Option<Row> {
    const ENTITIES: [&[u8]; 9] = [
        b"GPU", b"GPU-I", b"GPU-CI", b"vGPU", b"Switch", b"SW", b"CPU", b"Core", b"CX",
    ];
    let end = message.end;
    let text = line.get(message)?.trim_ascii_start();
    // Asked before the words are read: most lines are no rows.
    let entity = ENTITIES.into_iter().find(|name| {
        let rest = text.strip_prefix(*name);
        rest.is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))
    })?;
    let start = end - text.len();
    let mut words = words(line, start).into_iter().skip(1).peekable();
    let index = words.next()?;
    if !line.get(index.clone())?.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let is_link = |word: &Range<usize>| line.get(word.clone()) == Some(b"LINK");
    if words.next_if(is_link).is_some() {
        words.next()?;
    }
    Some(Row {
        start,
        is_of_gpu: entity == b"GPU",
        index,
        values: words.collect(),
    })
}

/// Where the words of a line stand from a place on, up to what JSON and pages put behind a message.
fn words(line: &[u8], from: usize) -> Vec<Range<usize>> {
    let end = tail(line, from)
        .iter()
        .position(|byte| matches!(byte, b'\\' | b'"' | b'\'' | b'`' | b'|' | b'\r'));
    let end = end.map_or(line.len(), |end| from + end);
    let mut words = Vec::new();
    let mut start = None;
    for (at, byte) in line.iter().enumerate().take(end).skip(from) {
        match (start, byte.is_ascii_whitespace()) {
            (None, false) => start = Some(at),
            (Some(begin), true) => {
                words.push(begin..at);
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|begin| begin..end));
    words
}

fn near(line: &[u8], len: usize) -> &[u8] {
    line.get(..len).unwrap_or(line)
}

fn tail(line: &[u8], from: usize) -> &[u8] {
    line.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIXES: [&str; 8] = [
        "",
        "2026-11-30T10:00:00Z ",
        "> ",
        "| ",
        "svc-1 | ",
        "[node7] ",
        "Nov 30 10:00:00 node7 dcgmi[812]: ",
        r#"{"log":""#,
    ];

    #[test]
    fn lines_of_a_table_are_read_behind_what_stands_before_them() {
        for before in PREFIXES {
            let first = format!("{before}#Entity   XIDER   TMPTR\\n\",\"stream\":\"stdout\"}}");
            let found = head(first.as_bytes()).unwrap();
            let names: Vec<&str> = found.columns.iter().map(|name| &first[name.clone()]).collect();
            assert_eq!((found.start, names), (before.len(), vec!["XIDER", "TMPTR"]));
            assert_eq!(xid_columns(first.as_bytes()), [before.len() + 10]);
            let line = format!("{before}GPU 3     79      45\\n\"}}");
            let Kind::Row(row) = read(line.as_bytes(), 0) else {
                panic!("{line}");
            };
            let values: Vec<&str> = row.values.iter().map(|value| &line[value.clone()]).collect();
            assert_eq!((row.start, values), (before.len(), vec!["79", "45"]), "{line}");
            let units = format!("{before}ID                C    ");
            assert_eq!(read(units.as_bytes(), before.len()), Kind::Between, "{units}");
        }
        assert!(matches!(read(b"as wide % GPU 3  79", 10), Kind::Row(_)));
        for other in [
            &b"as wide % step 1"[..],
            b"step 1\r",
            b"| step |",
            b"x\r\rx",
            b"> step",
        ] {
            assert_eq!(read(other, 10), Kind::Other);
        }
        assert_eq!(read(b"> > ", 10), Kind::Between);
    }

    #[test]
    fn a_sentence_begins_no_table() {
        for line in [
            "the head #Entity stands first",
            "#EntityX XIDER",
            "# gpu XIDER",
            "#Entity",
            "XIDER is a column",
        ] {
            assert_eq!(head(line.as_bytes()), None, "{line}");
            assert_eq!(xid_columns(line.as_bytes()), [0; 0], "{line}");
        }
        let long = format!("#Entity XIDER {}", "x ".repeat(LONGEST_LINE));
        assert_eq!(xid_columns(long.as_bytes()), [0; 0]);
    }
}
