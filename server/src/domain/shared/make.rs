//! From an answer and its text to what may be shared of them.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::ids::RecordId;
use kb_core::redact;
use kb_core::scanner::{Marked, Match, UnknownCause, Writer, without_colours};

use super::{
    Cause, Fault, Line, MOST_BYTES, MOST_CHARS, MOST_COUNTED, MOST_FAULTS, MOST_LINES, Shared, VERSION,
};
use crate::domain::lookup::MatchAnswer;

/// What of a pattern's captures says who wrote a line.
const ORIGIN: [&str; 4] = ["rank", "gpu", "pci", "device"];
/// A line without a record is read up to here, in bytes.
const LINE_BYTES: usize = 4 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct Unknown<'a> {
    pub looked: bool,
    pub numbers: &'a [u64],
    pub are_more: bool,
}

struct Raw<'a> {
    /// Nothing where it stands in the text.
    text: Option<&'a Marked>,
    captures: Option<&'a BTreeMap<String, String>>,
    is_unknown: bool,
}

impl Shared {
    /// What may be shared of an answer once it is [`Self::settled`], whose matches are in the order of the page. Without the text the lines of the matches are
    /// all there is.
    ///
    /// This computes; call it off the async threads.
    pub fn of(answer: &MatchAnswer, ordered: &[&Match], unknown: Unknown<'_>, text: Option<&str>) -> Self {
        let ordered = ordered.get(..MOST_FAULTS).unwrap_or(ordered);
        let mut raw: BTreeMap<u64, Raw<'_>> = BTreeMap::new();
        let mut first: BTreeSet<u64> = BTreeSet::new();
        for found in ordered {
            let cause = answer.root_causes.iter().find(|cause| cause.id == found.id);
            first.extend(cause.map(|cause| cause.line));
            first.extend(found.lines.first().map(|line| line.line));
            for line in &found.lines {
                note(&mut raw, line.line, line.text.as_ref(), Some(&line.captures));
                for part in &line.parts {
                    note(&mut raw, part.line, part.text.as_ref(), None);
                }
            }
        }
        if text.is_some() {
            for number in unknown.numbers {
                raw.entry(*number).or_insert(Raw {
                    text: None,
                    captures: None,
                    is_unknown: true,
                });
            }
        }
        let marked = redacted(&raw, &first, text);
        let shown: BTreeSet<u64> = marked.iter().map(|line| line.number).collect();
        let left_out = unknown.numbers.iter().any(|number| !shown.contains(number));
        let has = |id: &RecordId| ordered.iter().any(|found| found.id == *id);
        let last = marked.last().map_or(0, |line| line.number);
        Self {
            version: VERSION,
            seq: answer.kb.seq.0,
            lines: answer.lines_scanned.max(last).min(MOST_COUNTED),
            bytes: answer.bytes_scanned.min(MOST_COUNTED),
            order: answer.order,
            faults: ordered.iter().map(|found| fault(found, &shown)).collect(),
            causes: answer
                .root_causes
                .iter()
                .filter(|cause| has(&cause.id))
                .map(|cause| Cause {
                    id: cause.id.clone(),
                    line: cause.line,
                    chain: cause.chain.clone(),
                })
                .collect(),
            unknown_cause: answer.unknown_cause.as_ref().map(unnamed),
            notes: answer.notes.clone(),
            environment: answer.environment.clone(),
            marked,
            looked: unknown.looked,
            are_more_unknown: unknown.are_more || left_out,
        }
    }
}

pub(super) fn unnamed(unknown: &UnknownCause) -> UnknownCause {
    UnknownCause {
        text: None,
        writer: Writer {
            rank: unknown.writer.rank.clone(),
            ..Writer::default()
        },
        ..unknown.clone()
    }
}

fn note<'a>(
    raw: &mut BTreeMap<u64, Raw<'a>>,
    number: u64,
    text: Option<&'a Marked>,
    captures: Option<&'a BTreeMap<String, String>>,
) {
    let line = raw.entry(number).or_insert(Raw {
        text,
        captures,
        is_unknown: false,
    });
    line.text = line.text.or(text);
    line.captures = line.captures.or(captures);
}

fn fault(found: &Match, shown: &BTreeSet<u64>) -> Fault {
    let lines = found.lines.iter().enumerate();
    let lines = lines.filter(|(nth, line)| *nth == 0 || shown.contains(&line.line));
    Fault {
        id: found.id.clone(),
        count: found.count,
        applies: found.applies,
        harmless: found.harmless,
        lines: lines.map(|(_, line)| line.line).collect(),
    }
}

/// The lines without what they give away, in order. All of the text is gone through: a key may begin on a line left out.
fn redacted(raw: &BTreeMap<u64, Raw<'_>>, first: &BTreeSet<u64>, text: Option<&str>) -> Vec<Line> {
    let mut redactor = redact::Lines::of(None);
    let mut marked = Vec::new();
    let mut bytes = 0;
    let mut take = |number: u64, of_text: &str, redactor: &mut redact::Lines| {
        let is_first = first.contains(&number);
        let line = raw
            .get(&number)
            .filter(|_| is_first || marked.len() < MOST_LINES && bytes < MOST_BYTES)
            .filter(|_| !redactor.is_within_key());
        let Some(line) = line else {
            redactor.pass(of_text);
            return;
        };
        let line = redacted_line(number, line, of_text, redactor);
        bytes += line.text.len();
        marked.push(line);
    };
    match text {
        Some(text) => {
            for (number, line) in (1_u64..).zip(text.lines()) {
                take(number, line, &mut redactor);
            }
        }
        None => raw.keys().for_each(|number| take(*number, "", &mut redactor)),
    }
    marked
}

fn redacted_line(number: u64, raw: &Raw<'_>, of_text: &str, redactor: &mut redact::Lines) -> Line {
    let own = without_colours(of_text);
    let (text, (start, end)) = match raw.text {
        Some(marked) => {
            let span = (marked.mark_start as usize, marked.mark_end as usize);
            match matched_of_cut(marked) {
                // What stood before the cut may have said that a word is a secret: what matched is all that is shared.
                Some(matched) => (matched, (0, matched.len())),
                None => (marked.text.as_str(), span),
            }
        }
        None => (whole_words(&own), (0, 0)),
    };
    let clean = redactor.next(text);
    let (start, end) = moved((start, end), text, &clean);
    let (clean, (start, end)) = short(clean, (start, end));
    let captures = raw.captures.into_iter().flatten();
    let captures = captures.filter(|(name, value)| {
        ORIGIN.contains(&name.as_str()) && !value.is_empty() && clean.contains(value.as_str())
    });
    Line {
        number,
        captures: captures
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        text: clean,
        start: at(start),
        end: at(end),
        is_unknown: raw.is_unknown,
    }
}

/// What matched of a line that was cut; of a match that was cut itself its whole words.
fn matched_of_cut(marked: &Marked) -> Option<&str> {
    let (start, end) = (marked.mark_start as usize, marked.mark_end as usize);
    let matched = marked.text.get(start..end).filter(|_| marked.cut)?;
    let is_whole = marked
        .text
        .get(end..)
        .is_some_and(|rest| rest.chars().count() > 1);
    let last = matched.rfind(char::is_whitespace).filter(|_| !is_whole);
    matched.get(..last.unwrap_or(matched.len()))
}

/// A long line up to a blank: half a secret is not recognised as one.
fn whole_words(line: &str) -> &str {
    if line.len() <= LINE_BYTES {
        return line;
    }
    let head = line
        .get(..line.floor_char_boundary(LINE_BYTES))
        .unwrap_or_default();
    let end = head.rfind(char::is_whitespace).unwrap_or(0);
    head.get(..end).unwrap_or_default()
}

/// Where a span of a text is after the text was redacted; nothing where it was cut into.
pub(super) fn moved(span: (usize, usize), before: &str, after: &str) -> (usize, usize) {
    let head = in_common(before.bytes().zip(after.bytes()));
    let tail = in_common(before.bytes().rev().zip(after.bytes().rev()));
    let place = |at: usize| {
        if at <= head {
            Some(at)
        } else {
            let behind = before.len().checked_sub(at)?;
            after.len().checked_sub(behind).filter(|_| behind <= tail)
        }
    };
    let changed = head..before.len().saturating_sub(tail);
    let is_cut_into = span.0 < changed.end && changed.start < span.1;
    let moved = place(span.0).zip(place(span.1)).filter(|_| !is_cut_into);
    let moved = moved.filter(|(start, end)| start < end && after.get(*start..*end).is_some());
    moved.or_else(|| found(span, before, after)).unwrap_or_default()
}

/// What matched, where it stands in the redacted text as it was.
fn found(span: (usize, usize), before: &str, after: &str) -> Option<(usize, usize)> {
    let matched = before.get(span.0..span.1).filter(|matched| !matched.is_empty())?;
    let start = after.find(matched)?;
    Some((start, start + matched.len()))
}

fn in_common(pairs: impl Iterator<Item = (u8, u8)>) -> usize {
    pairs.take_while(|(one, other)| one == other).count()
}

/// A redacted line of bounded length: its beginning, or what matched where that stands further behind.
pub(super) fn short(line: String, span: (usize, usize)) -> (String, (usize, usize)) {
    let Some((end, _)) = line.char_indices().nth(MOST_CHARS) else {
        return (line, span);
    };
    let (kept, span) = if span.1 <= end {
        (line.get(..end), span)
    } else {
        let matched = line.get(span.0..span.1).unwrap_or_default();
        let length = matched.floor_char_boundary(MOST_CHARS);
        (matched.get(..length), (0, length))
    };
    (format!("{}…", kept.unwrap_or_default()), span)
}

pub(super) fn at(byte: usize) -> u32 {
    u32::try_from(byte).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_span_moves_with_what_was_cut_before_it_and_is_lost_where_it_was_cut_into() {
        for (before, after) in [
            (
                "ann@box: peer access failed at 10.1.2.3",
                "user-1@host-2: peer access failed at 192.0.2.3",
            ),
            ("ann@box: peer access failed", "user-1@host-2: peer access failed"),
            ("x: y: peer access by ann", "x: y: peer access by user-1"),
        ] {
            let at = before.find("peer access").unwrap();
            let (start, end) = moved((at, at + 11), before, after);
            assert_eq!(after.get(start..end), Some("peer access"), "{before}");
        }
        assert_eq!(
            moved((4, 18), "x y peer ann z peer", "x y peer u-1 z q peer"),
            (0, 0)
        );
        assert_eq!(moved((0, 4), "peer x", "peer y"), (0, 4));
    }

    #[test]
    fn a_long_line_keeps_its_mark() {
        let line = format!("{}peer{}", "x ".repeat(600), " y".repeat(600));
        let (kept, (start, end)) = short(line, (1200, 1204));
        assert_eq!(kept.get(start..end), Some("peer"));
        assert!(kept.chars().count() <= MOST_CHARS + 1);
    }
}
