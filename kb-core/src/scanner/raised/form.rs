//! The forms of the lines: what stands before a report, and the line that names the error.

use memchr::{memchr2_iter, memmem};

use super::thrown::{Language, RaisedLine, Thrown, Writer};
use crate::scanner::prefix;

/// Bytes before a head that may be a prefix.
const MAX_PREFIX: usize = 256;
const MAX_NAME: usize = 120;
const WHAT: &[u8] = b"what():  ";
const THREAD: &[u8] = b"thread '";
const PANICKED: &[u8] = b"' panicked at ";
const PANIC: &[u8] = b"panic: ";
/// Characters of a message that are kept.
const MAX_TEXT: usize = 300;
/// A name alone on a line is an exception's if it ends so.
const ENDINGS: [&str; 5] = ["Error", "Exception", "Interrupt", "Exit", "StopIteration"];
/// What stands before a place of a line, its end where that is long.
pub(super) fn prefix(text: &[u8], at: usize) -> &[u8] {
    text.get(at.saturating_sub(MAX_PREFIX)..at).unwrap_or_default()
}

pub(super) fn find_any(text: &[u8], words: &[&[u8]]) -> Option<usize> {
    words.iter().find_map(|word| memmem::find(text, word))
}

/// Whether two prefixes are those of one writer: times may differ in their digits, ranks and processes may not.
pub(super) fn same_writer(one: &[u8], other: &[u8]) -> bool {
    let alike = |(a, b): (&u8, &u8)| a == b || a.is_ascii_digit() && b.is_ascii_digit();
    one == other
        || one.len() == other.len() && one.iter().zip(other).all(alike) && writer(one) == writer(other)
}

/// Who wrote a line, by its prefix. A launcher's own word may stand before the known part.
pub(super) fn writer(before: &[u8]) -> Writer {
    let mut writer = Writer::default();
    for at in std::iter::once(0).chain(memchr2_iter(b'[', b'(', before)) {
        let rest = before.get(at..).unwrap_or_default();
        let read = prefix::read(rest);
        let value = |range: Option<std::ops::Range<usize>>| {
            let value = rest.get(range?)?;
            (!value.is_empty()).then(|| String::from_utf8_lossy(value).into_owned())
        };
        writer.host = writer.host.or_else(|| value(read.host));
        writer.process = writer.process.or_else(|| value(read.pid));
        writer.rank = writer.rank.or_else(|| value(read.rank));
    }
    writer
}

/// `module.Name: message` or `Name`, as the last line of a traceback has it. Where frames are not indented, only the name tells.
pub(super) fn exception(rest: &[u8], is_indented: bool, line: &RaisedLine<'_>) -> Option<Thrown> {
    let rest = String::from_utf8_lossy(rest);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    let (name, behind) = rest.split_at(end);
    // `RayTaskError(ValueError): …`
    let behind = behind.strip_prefix('(').map_or(Some(behind), |inner| {
        inner.split_once(')').map(|(_, behind)| behind)
    })?;
    let message = behind.strip_prefix(": ").or_else(|| behind.strip_prefix(':'));
    if message.is_none() && !behind.is_empty() || name.len() > MAX_NAME {
        return None;
    }
    let last = name.rsplit('.').next()?;
    let has_ending = ENDINGS.iter().any(|ending| last.ends_with(ending));
    let is_dotted = last.len() < name.len() && !name.starts_with('.');
    let is_class =
        last.starts_with(|c: char| c.is_ascii_uppercase()) && last.contains(|c: char| c.is_ascii_lowercase());
    // `socket.timeout`, `struct.error`
    let is_old = is_dotted && (last.ends_with("error") || last.ends_with("timeout"));
    let is_raised = if is_indented && (message.is_some() || is_dotted) {
        is_class || is_old
    } else {
        has_ending
    };
    (is_raised && !last.ends_with("Warning")).then(|| Thrown {
        line: line.number,
        language: Language::Python,
        name: name.to_owned(),
        text: shortened(message.unwrap_or_default()),
        is_explained: line.is_explained,
    })
}

/// What C++, Rust and Go say on one line; of Rust the message may stand on the next.
pub(super) fn one_line<'t>(text: &'t [u8], line: &RaisedLine<'_>) -> Option<(&'t [u8], Thrown)> {
    let thrown = |language, name: &str, message: &[u8]| Thrown {
        line: line.number,
        language,
        name: name.to_owned(),
        text: shortened(&String::from_utf8_lossy(message)),
        is_explained: line.is_explained,
    };
    let behind = |at: usize, words: &[u8]| text.get(at + words.len()..).unwrap_or_default();
    if let Some(at) = memmem::find(text, WHAT) {
        let before = prefix(text, at);
        let is_whole = prefix::read(before).len == before.len();
        return is_whole.then(|| (before, thrown(Language::Cpp, "what()", behind(at, WHAT))));
    }
    if let Some(at) = memmem::find(text, PANICKED) {
        let begin = memmem::find(text, THREAD)?;
        let told = behind(at, PANICKED);
        // Since Rust 1.73 the message has a line of its own.
        let told = if told.ends_with(b":") { &[][..] } else { told };
        return Some((prefix(text, begin), thrown(Language::Rust, "panic", told)));
    }
    let at = memmem::find(text, PANIC)?;
    let before = prefix(text, at);
    let is_whole = at == before.len() && prefix::read(text).len == at;
    is_whole.then(|| (before, thrown(Language::Go, "panic", behind(at, PANIC))))
}

pub(super) fn shortened(message: &str) -> String {
    let message = message.trim();
    match message.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", message.get(..end).unwrap_or_default()),
        None => message.to_owned(),
    }
}
