//! From lines to hits: the filter reads whole runs, only the lines it points at are looked at again.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};

use super::clean::Clean;
use super::clock::{Clocks, Moment};
use super::event::Event;
use super::fold::{Seen, Tally};
use super::hits::{Hits, Origin};
use super::lines::{End, Part};
use super::sequence::Sequences;
use super::stated::Stated;
use super::summary::Summary;
use super::wrap::Joined;
use super::{ScanOptions, prefix};
use crate::matcher::{Found, Grams, Line, Matcher, Work};

/// A run is read in blocks of about this size, in bytes, so that what was found in one stays small.
const BLOCK_BYTES: usize = 128 * 1024;

#[derive(Debug)]
pub(super) struct Engine {
    matcher: Arc<Matcher>,
    options: ScanOptions,
    tally: Tally,
    clocks: Clocks,
    work: Work,
    /// What is worth a look on a line.
    found: Vec<Found>,
    /// Literals that stand in a block or on a line.
    marks: Vec<Mark<u32>>,
    /// What the slow lane found in it.
    slow_marks: Vec<Mark<Found>>,
    grams: Grams,
    lower: Vec<u8>,
    clean: Clean,
    /// Records seen on the long line that is being read; `true` for a match, `false` for a candidate.
    seen_on_long_line: Vec<(u32, bool)>,
    sequences: Sequences,
    stated: Stated,
}

/// A place in a block and what was found there.
type Mark<T> = (usize, T);

pub(super) type Sink<'a> = Option<&'a mut Vec<Event>>;

impl Engine {
    pub(super) fn new(matcher: Arc<Matcher>, options: ScanOptions) -> Self {
        Self {
            matcher,
            options,
            tally: Tally::default(),
            clocks: Clocks::default(),
            work: Work::default(),
            found: Vec::new(),
            marks: Vec::new(),
            slow_marks: Vec::new(),
            grams: Grams::default(),
            lower: Vec::new(),
            clean: Clean::default(),
            seen_on_long_line: Vec::new(),
            sequences: Sequences::default(),
            stated: Stated::default(),
        }
    }

    /// Reads a run of lines or a piece of a long one.
    pub(super) fn scan(&mut self, part: &Part<'_>, mut events: Sink<'_>) {
        if let Some(piece) = part.piece {
            let origin = Origin {
                line: part.line,
                offset: part.offset,
                piece: Some(piece),
                cleaned: None,
                joined: None,
            };
            self.scan_single(part.bytes, &origin, &mut events);
            if piece.last {
                self.seen_on_long_line.clear();
            }
            return;
        }
        // Lines with terminal colours are cleaned one by one; all that stands between them is read as it is.
        let mut from = 0;
        let mut line = part.line;
        while let Some(coloured) = memchr(0x1b, tail(part.bytes, from)).map(|at| from + at) {
            let start = line_start(part.bytes, coloured).max(from);
            let end = line_end(part.bytes, coloured);
            let plain = part.bytes.get(from..start).unwrap_or_default();
            self.scan_run(plain, line, part.offset + size(from), &mut events);
            line += newlines(plain);
            let origin = Origin {
                line,
                offset: part.offset + size(start),
                piece: None,
                cleaned: None,
                joined: None,
            };
            self.scan_single(
                part.bytes.get(start..end).unwrap_or_default(),
                &origin,
                &mut events,
            );
            line += 1;
            from = end + 1;
        }
        self.scan_run(
            tail(part.bytes, from),
            line,
            part.offset + size(from),
            &mut events,
        );
    }

    pub(super) fn finish(self, end: &End) -> Summary {
        let seen = Seen {
            end,
            broken: &self.work.broken,
            clocks: &self.clocks,
            given_up: self.sequences.given_up,
            stated: &self.stated,
        };
        self.tally.finish(&self.matcher, &self.options, &seen)
    }

    /// Reads whole lines without terminal colours.
    fn scan_run(&mut self, run: &[u8], first_line: u64, offset: u64, events: &mut Sink<'_>) {
        let mut from = 0;
        let mut line = first_line;
        while from < run.len() {
            let rest = tail(run, from);
            let end = if rest.len() > BLOCK_BYTES {
                line_end(rest, BLOCK_BYTES) + 1
            } else {
                rest.len()
            };
            let block = rest.get(..end).unwrap_or(rest);
            line = self.scan_block(block, line, offset + size(from), events);
            from += block.len();
        }
    }

    /// Reads a block of whole lines and returns the number of the line behind it.
    fn scan_block(&mut self, block: &[u8], first_line: u64, offset: u64, events: &mut Sink<'_>) -> u64 {
        let matcher = Arc::clone(&self.matcher);
        let mut marks = std::mem::take(&mut self.marks);
        let mut slow_marks = std::mem::take(&mut self.slow_marks);
        mark(&matcher, block, &mut marks, &mut slow_marks);
        let mut counted = 0;
        let mut line = first_line;
        let (mut fast, mut slow) = (marks.as_slice(), slow_marks.as_slice());
        while let Some(at) = first_of(fast).into_iter().chain(first_of(slow)).min() {
            let start = line_start(block, at);
            let end = line_end(block, at);
            let on_line = block.get(start..end).unwrap_or_default();
            self.wake(on_line, upto(&mut fast, end), upto(&mut slow, end));
            if self.found.is_empty() {
                continue;
            }
            line += newlines(block.get(counted..start).unwrap_or_default());
            counted = start;
            let origin = Origin {
                line,
                offset: offset + size(start),
                piece: None,
                cleaned: None,
                joined: None,
            };
            self.look_at(on_line, &origin, events);
        }
        marks.clear();
        slow_marks.clear();
        self.marks = marks;
        self.slow_marks = slow_marks;
        line + newlines(tail(block, counted))
    }

    /// Reads one line, or a piece of one, that may hold terminal colours.
    fn scan_single(&mut self, bytes: &[u8], origin: &Origin<'_>, events: &mut Sink<'_>) {
        let matcher = Arc::clone(&self.matcher);
        if memchr(0x1b, bytes).is_none() {
            self.wake_single(&matcher, bytes);
            self.look_at(bytes, origin, events);
            return;
        }
        let mut clean = std::mem::take(&mut self.clean);
        clean.load(bytes);
        self.wake_single(&matcher, &clean.text);
        self.look_at(
            &clean.text,
            &Origin {
                cleaned: Some(&clean),
                ..*origin
            },
            events,
        );
        self.clean = clean;
    }

    /// Reads lines that were put together again; counts what stands across a cut.
    pub(super) fn scan_joined(&mut self, joined: &Joined, events: &mut Sink<'_>) {
        let matcher = Arc::clone(&self.matcher);
        self.wake_single(&matcher, &joined.clean.text);
        let origin = Origin {
            line: size(joined.first) + 1,
            offset: size(joined.offset),
            piece: None,
            cleaned: Some(&joined.clean),
            joined: Some(joined),
        };
        self.look_at(&joined.clean.text, &origin, events);
    }

    /// What is worth a look on a line that is read by itself.
    fn wake_single(&mut self, matcher: &Matcher, line: &[u8]) {
        let mut marks = std::mem::take(&mut self.marks);
        let mut slow_marks = std::mem::take(&mut self.slow_marks);
        mark(matcher, line, &mut marks, &mut slow_marks);
        self.wake(line, &marks, &slow_marks);
        marks.clear();
        slow_marks.clear();
        self.marks = marks;
        self.slow_marks = slow_marks;
    }

    /// What is worth a look on a line: what its literals wake and the rest of the line does not refute.
    fn wake(&mut self, line: &[u8], fast: &[Mark<u32>], slow: &[Mark<Found>]) {
        self.grams.load(line);
        let found = &mut self.found;
        found.extend(slow.iter().map(|(_, found)| *found));
        let filter = self.matcher.filter();
        for (_, literal) in fast {
            filter.wake(*literal, &self.grams, |woken| found.push(woken));
        }
        found.sort_unstable();
        found.dedup();
    }

    /// Tests what was found on a line and counts the hits.
    fn look_at(&mut self, text: &[u8], origin: &Origin<'_>, events: &mut Sink<'_>) {
        let mut found = std::mem::take(&mut self.found);
        if found.is_empty() {
            self.found = found;
            return;
        }
        let (first, last) = origin
            .piece
            .map_or((true, true), |piece| (piece.first, piece.last));
        let text = if last {
            text.strip_suffix(b"\r").unwrap_or(text)
        } else {
            text
        };
        let mut lower = std::mem::take(&mut self.lower);
        lower.clear();
        lower.extend_from_slice(text);
        lower.make_ascii_lowercase();
        // A match may not lean on the edge of a piece where the line goes on beyond it.
        let from = usize::from(!first).min(text.len());
        let read_messages = || messages(text, first, last);
        let line = Line {
            text,
            lower: &lower,
            grams: &self.grams,
            within: from..text.len().saturating_sub(usize::from(!last)).max(from),
            read_messages: &read_messages,
            messages: OnceCell::new(),
            is_valid: OnceCell::new(),
        };
        for found in &found {
            // Where lines are put together, a value may have swallowed the next line's first word.
            if let Found::Stated(words) = found
                && origin.joined.is_none()
            {
                self.stated.read(*words, text, &lower, origin.line);
            }
        }
        let matcher = Arc::clone(&self.matcher);
        let mut work = std::mem::take(&mut self.work);
        work.hits.clear();
        matcher.verify(&line, &found, &mut work);
        if !work.hits.is_empty() {
            // What is only a candidate is not ordered.
            let needs_moment = work
                .hits
                .iter()
                .any(|hit| !hit.weak || matcher.is_part(hit.signal));
            let moment = if needs_moment {
                moment(&mut self.clocks, text, first)
            } else {
                None
            };
            let mut hits = Hits {
                matcher: &matcher,
                line: &line,
                origin,
                moment,
                options: &self.options,
                seen: &mut self.seen_on_long_line,
                sequences: &mut self.sequences,
                tally: &mut self.tally,
            };
            hits.count(&mut work.hits, events);
        }
        self.work = work;
        self.lower = lower;
        found.clear();
        self.found = found;
    }
}

/// The first time in the prefixes of a line, on its clock.
fn moment(clocks: &mut Clocks, text: &[u8], first: bool) -> Option<Moment> {
    shown(text, first, true).find_map(|part| {
        let part = text.get(part)?;
        let prefix = prefix::read(part);
        clocks.moment(prefix.stamp?, prefix.host_in(part))
    })
}

/// What a terminal would show one over the other, each without its prefix.
fn messages(text: &[u8], first: bool, last: bool) -> Vec<Range<usize>> {
    shown(text, first, last)
        .map(|part| {
            let prefix = prefix::read(text.get(part.clone()).unwrap_or_default());
            part.start + prefix.len..part.end
        })
        .collect()
}

/// What stands between carriage returns. What began or ends elsewhere is left out.
fn shown(text: &[u8], first: bool, last: bool) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    memchr_iter(b'\r', text)
        .chain(last.then_some(text.len()))
        .filter_map(move |end| {
            let part = start..end;
            start = end + 1;
            (part.start > 0 || first).then_some(part)
        })
}

/// The literals in a block or on a line, and what the slow lane finds in it.
fn mark(matcher: &Matcher, text: &[u8], fast: &mut Vec<Mark<u32>>, slow: &mut Vec<Mark<Found>>) {
    matcher
        .filter()
        .search(text, |literal, at| fast.push((at, literal)));
    if let Some(lane) = matcher.slow() {
        lane.search(text, |found, at| slow.push((at, found)));
    }
}

fn first_of<T>(marks: &[Mark<T>]) -> Option<usize> {
    marks.first().map(|(at, _)| *at)
}

/// Takes the marks up to a place off the front.
fn upto<'m, T>(marks: &mut &'m [Mark<T>], end: usize) -> &'m [Mark<T>] {
    let here = marks.iter().take_while(|(at, _)| *at <= end).count();
    let (taken, behind) = marks.split_at(here);
    *marks = behind;
    taken
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    memrchr(b'\n', bytes.get(..at).unwrap_or_default()).map_or(0, |end| end + 1)
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr(b'\n', tail(bytes, at)).map_or(bytes.len(), |end| at + end)
}

fn newlines(bytes: &[u8]) -> u64 {
    size(memchr_iter(b'\n', bytes).count())
}

fn tail(bytes: &[u8], from: usize) -> &[u8] {
    bytes.get(from..).unwrap_or_default()
}

pub(super) fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
