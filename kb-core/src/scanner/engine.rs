//! From lines to hits: the automaton reads whole runs, only the lines it points at are looked at again.

use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};

use super::clean::Clean;
use super::clock::{Clocks, Moment};
use super::event::Event;
use super::fold::Tally;
use super::hits::{Hits, Origin};
use super::lines::{End, Part};
use super::summary::Summary;
use super::{ScanOptions, prefix};
use crate::matcher::{Found, Line, Matcher, Work};

#[derive(Debug)]
pub(super) struct Engine {
    matcher: Arc<Matcher>,
    options: ScanOptions,
    tally: Tally,
    clocks: Clocks,
    work: Work,
    found: Vec<Found>,
    lower: Vec<u8>,
    clean: Clean,
    /// Records seen on the long line that is being read; `true` for a match, `false` for a candidate.
    seen_on_long_line: Vec<(u32, bool)>,
}

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
            lower: Vec::new(),
            clean: Clean::default(),
            seen_on_long_line: Vec::new(),
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
        self.tally
            .finish(&self.matcher, &self.options, end, &self.work.broken)
    }

    /// Reads whole lines without terminal colours.
    fn scan_run(&mut self, run: &[u8], first_line: u64, offset: u64, events: &mut Sink<'_>) {
        let matcher = Arc::clone(&self.matcher);
        let mut current = 0..0;
        let mut line = first_line;
        matcher.automaton().search(run, |found, end| {
            let last_byte = end.saturating_sub(1);
            if last_byte >= current.end {
                self.line_of_run(run, &current, line, offset, events);
                let start = line_start(run, last_byte);
                line += newlines(run.get(current.start..start).unwrap_or_default());
                current = start..line_end(run, last_byte);
            }
            self.found.push(found);
        });
        self.line_of_run(run, &current, line, offset, events);
    }

    fn line_of_run(&mut self, run: &[u8], at: &Range<usize>, line: u64, offset: u64, events: &mut Sink<'_>) {
        if !self.found.is_empty() {
            let text = run.get(at.clone()).unwrap_or_default();
            let origin = Origin {
                line,
                offset: offset + size(at.start),
                piece: None,
                cleaned: None,
            };
            self.look_at(text, &origin, events);
        }
    }

    /// Reads one line, or a piece of one, that may hold terminal colours.
    fn scan_single(&mut self, bytes: &[u8], origin: &Origin<'_>, events: &mut Sink<'_>) {
        let matcher = Arc::clone(&self.matcher);
        if memchr(0x1b, bytes).is_none() {
            matcher
                .automaton()
                .search(bytes, |found, _| self.found.push(found));
            self.look_at(bytes, origin, events);
            return;
        }
        let mut clean = std::mem::take(&mut self.clean);
        clean.load(bytes);
        matcher
            .automaton()
            .search(&clean.text, |found, _| self.found.push(found));
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

    /// Tests what was found on a line and counts the hits.
    fn look_at(&mut self, text: &[u8], origin: &Origin<'_>, events: &mut Sink<'_>) {
        let mut found = std::mem::take(&mut self.found);
        if found.is_empty() {
            self.found = found;
            return;
        }
        found.sort_unstable();
        found.dedup();
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
        let (messages, moment) = self.messages(text, first, last);
        // A match may not lean on the edge of a piece where the line goes on beyond it.
        let from = usize::from(!first).min(text.len());
        let line = Line {
            text,
            lower: &lower,
            within: from..text.len().saturating_sub(usize::from(!last)).max(from),
            messages: &messages,
        };
        let matcher = Arc::clone(&self.matcher);
        let mut work = std::mem::take(&mut self.work);
        work.hits.clear();
        matcher.verify(&line, &found, &mut work);
        let mut hits = Hits {
            matcher: &matcher,
            line: &line,
            origin,
            moment,
            keep_text: self.options.keep_text,
            seen: &mut self.seen_on_long_line,
            tally: &mut self.tally,
        };
        hits.count(&mut work.hits, events);
        self.work = work;
        self.lower = lower;
        found.clear();
        self.found = found;
    }

    /// What a terminal would show one over the other, each without its prefix, and the time in the first prefix.
    fn messages(&mut self, text: &[u8], first: bool, last: bool) -> (Vec<Range<usize>>, Option<Moment>) {
        let mut messages = Vec::new();
        let mut moment = None;
        let mut start = 0;
        let ends = memchr_iter(b'\r', text).chain(last.then_some(text.len()));
        for end in ends {
            if start > 0 || first {
                let shown = text.get(start..end).unwrap_or_default();
                let prefix = prefix::read(shown);
                let host = prefix.host.and_then(|host| shown.get(host)).unwrap_or_default();
                moment = moment.or_else(|| self.clocks.moment(prefix.stamp?, host));
                messages.push(start + prefix.len..end);
            }
            start = end + 1;
        }
        (messages, moment)
    }
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
