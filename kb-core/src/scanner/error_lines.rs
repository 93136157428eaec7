//! Lines that look like errors and that no record explains. Without a word about them "no known error" would read as if nothing
//! had happened.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::lines::{line_end, line_start, newlines, tail};
use super::{message_start, without_colours};
use crate::templates::{find_error_word, looks_like_error, tokens};

/// Messages that are told.
const MOST: usize = 20;
/// Lines that a sentence names.
const MOST_NAMED: usize = 8;
/// Lines that look like errors are read until they have so many bytes together, known ones included: telling whether they say the
/// same costs more than matching does.
const MOST_BYTES: usize = 128 << 10;
/// What a line counts at least of it, in bytes.
const LEAST_BYTES: usize = 64;
/// What is kept of a line, in bytes.
const KEPT_BYTES: usize = 400;

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
            ([], _) => "there are more lines that look like errors than are looked at, and whether records explain the further ones is not \
                        known"
                .to_owned(),
            ([one], false) => format!("line {} looks like an error, and no record explains it", one.line),
            (several, false) => format!(
                "{} messages look like errors, and no record explains them (first on lines {which})",
                several.len()
            ),
            (several, true) => format!(
                "{} messages and perhaps more look like errors, and no record explains them (first on lines {which})",
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

#[derive(Debug, Default)]
pub(super) struct ErrorLines {
    /// In order; of a long line there may be several.
    lines: Vec<ErrorLine>,
    bytes: usize,
    is_over: bool,
}

#[derive(Debug)]
struct ErrorLine {
    number: u64,
    text: String,
    is_explained: bool,
}

impl ErrorLines {
    /// Takes the lines that look like errors, before it is known which records explain them.
    pub(super) fn read(&mut self, bytes: &[u8], first_line: u64) {
        let (mut at, mut number) = (0, first_line);
        while !self.is_over
            && let Some(found) = find_error_word(tail(bytes, at))
        {
            let start = line_start(bytes, at + found).max(at);
            let end = line_end(bytes, at + found);
            number += newlines(bytes.get(at..start).unwrap_or_default());
            self.take(bytes.get(start..end).unwrap_or_default(), number);
            number += 1;
            at = end + 1;
        }
    }

    fn take(&mut self, line: &[u8], number: u64) {
        let line = String::from_utf8_lossy(line);
        let line = without_colours(&line);
        let line = line.trim_end();
        if !looks_like_error(line) {
            return;
        }
        self.bytes += line.len().clamp(LEAST_BYTES, KEPT_BYTES);
        if self.bytes > MOST_BYTES {
            self.is_over = true;
            return;
        }
        self.lines.push(ErrorLine {
            number,
            text: kept(line),
            is_explained: false,
        });
    }

    /// A record stands on this line.
    pub(super) fn explain(&mut self, number: u64) {
        let from = self.lines.partition_point(|line| line.number < number);
        let of_it = self.lines.iter_mut().skip(from);
        for line in of_it.take_while(|line| line.number == number) {
            line.is_explained = true;
        }
    }

    /// A record that stood on this line does not count after all.
    pub(super) fn doubt(&mut self, number: u64) {
        let from = self.lines.partition_point(|line| line.number < number);
        let of_it = self.lines.iter_mut().skip(from);
        for line in of_it.take_while(|line| line.number == number) {
            line.is_explained = false;
        }
    }

    /// About what the lines take in memory, in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        self.bytes + self.lines.len() * size_of::<ErrorLine>()
    }

    /// What no record explains; `named`: the line that is told as an error of its own.
    pub(super) fn unexplained(&self, named: Option<u64>, keep_text: bool) -> Option<Unexplained> {
        let mut told = HashSet::new();
        let mut lines: Vec<UnexplainedLine> = Vec::new();
        let mut are_more = self.is_over;
        let of_none = |line: &&ErrorLine| !line.is_explained && Some(line.number) != named;
        for line in self.lines.iter().filter(of_none) {
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

/// What a line says, without what varies in it.
fn message(line: &str) -> Vec<String> {
    tokens(line.get(message_start(line)..).unwrap_or(line))
}
