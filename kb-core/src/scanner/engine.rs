//! From lines to hits: the automaton reads whole runs, only the lines it points at are looked at again.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};

use super::clean::Clean;
use super::clock::{Clocks, Moment};
use super::event::{Event, Hit};
use super::fold::{Place, Tally};
use super::lines::{End, Part, Piece};
use super::score::Explained;
use super::summary::Summary;
use super::{MatchedLine, ScanOptions, prefix, text};
use crate::matcher::{Found, Kind, Line, Matcher, RawHit, Signal, Work};

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
    /// Records seen on the long line that is being read.
    seen_on_long_line: Vec<u32>,
}

/// Where a line stands, and how its text came from the bytes as sent.
struct Origin<'a> {
    line: u64,
    offset: u64,
    piece: Option<Piece>,
    cleaned: Option<&'a Clean>,
}

impl Origin<'_> {
    fn body_span(&self, span: &Range<usize>) -> (u64, u64) {
        let sent = self
            .cleaned
            .map_or_else(|| span.clone(), |clean| clean.original(span));
        (self.offset + size(sent.start), self.offset + size(sent.end))
    }
}

type Sink<'a> = Option<&'a mut Vec<Event>>;

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
        self.count(&matcher, &line, origin, moment, &mut work.hits, events);
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

    fn count(
        &mut self,
        matcher: &Matcher,
        line: &Line<'_>,
        origin: &Origin<'_>,
        moment: Option<Moment>,
        hits: &mut [RawHit],
        events: &mut Sink<'_>,
    ) {
        let record_of = |hit: &RawHit| {
            matcher
                .signal(hit.signal)
                .map_or(u32::MAX, |signal| signal.record)
        };
        hits.sort_by_key(|hit| (record_of(hit), hit.weak, hit.signal));
        for group in hits.chunk_by(|a, b| record_of(a) == record_of(b)) {
            let Some(record) = group.first().map(record_of) else {
                continue;
            };
            if origin.piece.is_some() {
                if self.seen_on_long_line.contains(&record) {
                    continue;
                }
                self.seen_on_long_line.push(record);
            }
            // A generic hit counts only beside a specific one of the same record.
            let strong = group.partition_point(|hit| !hit.weak);
            let group = if strong > 0 {
                group.get(..strong).unwrap_or(group)
            } else {
                group
            };
            let Some(speaker) = group
                .iter()
                .max_by(|a, b| authority(matcher, a).total_cmp(&authority(matcher, b)))
            else {
                continue;
            };
            let (start, end) = origin.body_span(&speaker.span);
            let marked = self
                .options
                .keep_text
                .then(|| text::marked(line.text, &speaker.span));
            let captures = captures(matcher, line.text, speaker, group);
            let on_line = MatchedLine {
                line: origin.line,
                start,
                end,
                text: marked,
                captures,
            };
            let explained = Explained {
                matcher,
                line,
                record,
                speaker,
                group,
            };
            if strong == 0 {
                self.tally.add_candidate(on_line, &explained);
                continue;
            }
            if let Some(events) = events {
                events.extend(event(matcher, record, speaker, group, &on_line));
            }
            self.tally.add(
                on_line,
                Place {
                    line: origin.line,
                    moment,
                },
                &explained,
            );
        }
    }
}

/// Which of a record's hits on a line speaks for it: patterns before the signature before codes, then weight.
fn authority(matcher: &Matcher, hit: &RawHit) -> f32 {
    matcher.signal(hit.signal).map_or(0.0, |signal| {
        let rank = match signal.kind {
            Kind::Pattern { .. } => 2_000.0,
            Kind::Signature => 1_000.0,
            Kind::Word(_) | Kind::Number { .. } => 0.0,
        };
        rank + signal.weight
    })
}

/// The speaker's captured values, and those that only other hits have.
fn captures(matcher: &Matcher, text: &[u8], speaker: &RawHit, group: &[RawHit]) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for hit in std::iter::once(speaker).chain(group) {
        let Some(Signal {
            kind: Kind::Pattern { slot, .. },
            ..
        }) = matcher.signal(hit.signal)
        else {
            continue;
        };
        for (at, span) in &hit.captures {
            if let (Some(capture), Some(value)) = (slot.facts.captures.get(*at), text.get(span.clone())) {
                values
                    .entry(capture.name.clone())
                    .or_insert_with(|| text::value(value));
            }
        }
    }
    values
}

fn event(
    matcher: &Matcher,
    record: u32,
    speaker: &RawHit,
    group: &[RawHit],
    on_line: &MatchedLine,
) -> Option<Event> {
    let record = matcher.record(record)?;
    let name = |hit: &RawHit| matcher.signal(hit.signal).map(|signal| signal.name.to_string());
    Some(Event::Hit(Hit {
        record: record.id.clone(),
        revision: record.revision,
        pattern: name(speaker)?,
        also: group
            .iter()
            .filter(|hit| hit.signal != speaker.signal)
            .filter_map(name)
            .collect(),
        line: on_line.line,
        start: on_line.start,
        end: on_line.end,
        captures: on_line.captures.clone(),
        text: on_line.text.clone(),
    }))
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

fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
