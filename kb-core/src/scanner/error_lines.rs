//! Lines that look like errors and that no record explains. Without a word about them "no known error" would read as if nothing
//! had happened.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::hash::BuildHasher as _;

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::lines::{RUN_BYTES, line_end, line_start, newlines, size, tail};
use super::xid_columns;
use super::{message_start, without_colours};
use crate::error_words::{self, find_error_word};
use crate::matcher::without_denials;

/// Messages that are told.
const MOST: usize = 20;
/// Lines that a sentence names.
const MOST_NAMED: usize = 8;
/// Lines that look like errors are kept up to so many bytes together; the first half of them are the first lines of the text, the
/// second the last.
const MOST_BYTES: usize = 128 << 10;
/// Lines are compared to make room up to so many bytes: telling whether they say the same costs more than matching does.
const MOST_COMPARED_BYTES: usize = 1 << 20;
/// So far behind the line that is read, in bytes, the records that stand on a line are known.
const SETTLED_BYTES: u64 = RUN_BYTES as u64;
/// What a line counts at least of it, in bytes.
const LEAST_BYTES: usize = 64;
/// What is kept of a line, in bytes.
const KEPT_BYTES: usize = 400;

/// Whether a line may tell of an error (see [`crate::error_words`]). A column of Xids in a table of `dcgmi dmon` does not.
/// Nor does an Xid that the line says it does not have.
pub fn looks_like_error(line: &str) -> bool {
    let looks = |line: &str| error_words::looks_like_error(line, || xid_columns(line.as_bytes()));
    looks(line)
        && match without_denials(line) {
            Cow::Borrowed(_) => true,
            Cow::Owned(rest) => looks(&rest),
        }
}

/// Lines that look like errors and that no record explains, each message once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Unexplained {
    /// The first line of each message, in order, at most 20.
    pub lines: Vec<UnexplainedLine>,
    /// The text may have further ones: not all of them are told or were looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub are_more: bool,
}

impl Unexplained {
    /// What is to be said of them, as a sentence without its end.
    pub fn sentence(&self) -> String {
        let numbers: Vec<String> = self
            .lines
            .iter()
            .take(MOST_NAMED)
            .map(|line| line.line.to_string())
            .collect();
        let further = if self.lines.len() > MOST_NAMED { " …" } else { "" };
        let which = format!("{}{further}", numbers.join(", "));
        match (self.lines.as_slice(), self.are_more) {
            ([], _) => "not all lines that look like errors were looked at; the rest may hold errors that no record explains".to_owned(),
            ([one], true) => format!(
                "line {} looks like an error, and no record explains it; not all such lines were looked at",
                one.line
            ),
            ([one], false) => format!("line {} looks like an error, and no record explains it", one.line),
            (several, false) => format!(
                "{} messages look like errors, and no record explains them (first on lines {which})",
                several.len()
            ),
            (several, true) => format!(
                "at least {} different messages look like errors, and no record explains them (first on lines {which})",
                several.len()
            ),
        }
    }
}

/// A line that looks like an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnexplainedLine {
    /// Its number, from 1.
    pub line: u64,
    /// Its text, cut where it is long; absent where the text was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What is kept: the first lines and the last ones, for a failure stands at the end of a log.
#[derive(Debug, Default)]
pub(super) struct ErrorLines {
    /// Both in order; of a long line there may be several.
    first: Vec<ErrorLine>,
    last: VecDeque<ErrorLine>,
    first_bytes: usize,
    last_bytes: usize,
    /// Bytes of lines that came since room was made.
    since: usize,
    /// Bytes of lines whose messages were compared to make room.
    compared: usize,
    /// Records that explain lines that are no longer kept.
    forgotten: BTreeSet<u32>,
    is_over: bool,
}

#[derive(Debug)]
struct ErrorLine {
    number: u64,
    /// Where it ends in the text.
    end: u64,
    text: String,
    /// The records that stand on it.
    records: Vec<u32>,
    /// A hash of what it says; known once it was compared.
    message: Option<u64>,
}

impl ErrorLine {
    fn size(&self) -> usize {
        self.text.len().clamp(LEAST_BYTES, KEPT_BYTES)
    }
}

impl ErrorLines {
    /// Takes the lines that look like errors, before it is known which records explain them.
    pub(super) fn read(&mut self, bytes: &[u8], first_line: u64, offset: u64) {
        let (mut at, mut number) = (0, first_line);
        while let Some(found) = find_error_word(tail(bytes, at)) {
            let start = line_start(bytes, at + found).max(at);
            let end = line_end(bytes, at + found);
            number += newlines(bytes.get(at..start).unwrap_or_default());
            self.take(
                bytes.get(start..end).unwrap_or_default(),
                number,
                offset + size(end),
            );
            number += 1;
            at = end + 1;
        }
    }

    fn take(&mut self, line: &[u8], number: u64, end: u64) {
        let line = String::from_utf8_lossy(line);
        let line = without_colours(&line);
        let line = line.trim_end();
        if !looks_like_error(line) {
            return;
        }
        let line = ErrorLine {
            number,
            end,
            text: kept(line),
            records: Vec::new(),
            message: None,
        };
        self.since += line.size();
        self.push(line);
        if self.last_bytes > MOST_BYTES / 2 && self.since > MOST_BYTES / 4 {
            self.make_room(end.saturating_sub(SETTLED_BYTES));
        }
        while self.last_bytes > MOST_BYTES / 2
            && let Some(line) = self.last.pop_front()
        {
            self.last_bytes -= line.size();
            self.is_over = true;
        }
    }

    /// Takes a line that tells of an error without a word for it, at a time when later ones may have come.
    pub(super) fn insert(&mut self, line: &[u8], number: u64, end: u64) {
        let line = ErrorLine {
            number,
            end,
            text: kept(String::from_utf8_lossy(line).trim_end()),
            records: Vec::new(),
            message: None,
        };
        let before = |one: &ErrorLine| one.number <= number;
        let (bytes, first, last) = (
            line.size(),
            self.first.partition_point(before),
            self.last.partition_point(before),
        );
        if first < self.first.len() || self.last.is_empty() && self.first_bytes + bytes <= MOST_BYTES / 2 {
            self.first_bytes += bytes;
            self.first.insert(first, line);
        } else if self.last_bytes + bytes <= MOST_BYTES / 2 {
            self.last_bytes += bytes;
            self.last.insert(last, line);
        } else {
            self.is_over = true;
        }
    }

    fn push(&mut self, line: ErrorLine) {
        let bytes = line.size();
        if self.last.is_empty() && self.first_bytes + bytes <= MOST_BYTES / 2 {
            self.first_bytes += bytes;
            self.first.push(line);
        } else {
            self.last_bytes += bytes;
            self.last.push_back(line);
        }
    }

    /// Drops the lines that records explain and those that say the same as an earlier one. Of what ends behind `settled` it is not
    /// known yet whether a record explains it.
    fn make_room(&mut self, settled: u64) {
        self.since = 0;
        let lines: Vec<ErrorLine> = self.first.drain(..).chain(self.last.drain(..)).collect();
        (self.first_bytes, self.last_bytes) = (0, 0);
        let mut told = HashSet::new();
        for mut line in lines {
            if line.end <= settled {
                if !line.records.is_empty() {
                    self.forgotten.extend(line.records);
                    continue;
                }
                if line.message.is_none() && self.compared < MOST_COMPARED_BYTES {
                    self.compared += line.size();
                    line.message = Some(FxBuildHasher.hash_one(message(&line.text)));
                }
                if line.message.is_some_and(|message| !told.insert(message)) {
                    continue;
                }
            }
            self.push(line);
        }
    }

    /// A record stands on this line.
    pub(super) fn explain(&mut self, number: u64, record: u32) {
        let from = self.first.partition_point(|line| line.number < number);
        let of_first = self.first.iter_mut().skip(from);
        let from = self.last.partition_point(|line| line.number < number);
        let of_last = self.last.iter_mut().skip(from);
        let of_it = |line: &&mut ErrorLine| line.number == number;
        for line in of_first.take_while(of_it).chain(of_last.take_while(of_it)) {
            if !line.records.contains(&record) {
                line.records.push(record);
            }
        }
    }

    /// A record does not count after all, and so explains none of its lines.
    pub(super) fn doubt(&mut self, record: u32) {
        for line in self.first.iter_mut().chain(&mut self.last) {
            line.records.retain(|known| *known != record);
        }
        // Other records may explain those lines, too; which ones is no longer known.
        self.is_over |= self.forgotten.contains(&record);
    }

    /// About what the lines take in memory, in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        self.first_bytes + self.last_bytes + (self.first.len() + self.last.len()) * size_of::<ErrorLine>()
    }

    /// What no record explains; `named`: the line that is told as an error of its own.
    pub(super) fn unexplained(&self, named: Option<u64>, keep_text: bool) -> Option<Unexplained> {
        let mut told = HashSet::new();
        let mut lines: Vec<UnexplainedLine> = Vec::new();
        let mut are_more = self.is_over;
        let of_none = |line: &&ErrorLine| line.records.is_empty() && Some(line.number) != named;
        for line in self.first.iter().chain(&self.last).filter(of_none) {
            let is_there = lines.last().is_some_and(|last| last.line == line.number);
            if is_there || !told.insert(message(&line.text)) {
                continue;
            }
            if lines.len() == MOST {
                are_more = true;
                break;
            }
            lines.push(UnexplainedLine {
                line: line.number,
                text: keep_text.then(|| line.text.clone()),
            });
        }
        (!lines.is_empty() || self.is_over).then_some(Unexplained { lines, are_more })
    }
}

/// The part with the first word of an error, as it is shown.
fn kept(line: &str) -> String {
    if line.len() <= KEPT_BYTES {
        return line.to_owned();
    }
    let word = find_error_word(line.as_bytes()).unwrap_or_default();
    // A few words before it say what it is about.
    let from = line.floor_char_boundary(word.saturating_sub(KEPT_BYTES / 2));
    let from = if word < KEPT_BYTES / 2 { 0 } else { from };
    let rest = line.get(from..).unwrap_or_default();
    let end = rest.floor_char_boundary(KEPT_BYTES);
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    format!(
        "{}{}{}",
        cut(from > 0),
        rest.get(..end).unwrap_or_default(),
        cut(end < rest.len())
    )
}

/// What a line says, without what varies in it: each word with a digit is the same.
fn message(line: &str) -> String {
    let message = line.get(message_start(line)..).unwrap_or(line).trim();
    let words = message.split_inclusive(|one: char| !one.is_alphanumeric());
    words
        .map(|word| {
            if word.contains(|one: char| one.is_ascii_digit()) {
                "0"
            } else {
                word
            }
        })
        .collect()
}
