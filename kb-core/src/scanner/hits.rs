//! The hits on one line: grouped by record, each record spoken for by one of them, then counted and reported.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::ops::Range;

use super::between;
use super::caught::is_optional_import;
use super::clock::Moment;
use super::crowd::keep_most_telling;
use super::devices::{Devices, Judged};
use super::event::{Event, Hit, Sink};
use super::fatal::is_called_fatal;
use super::fold::{Place, Tally};
use super::origin::Origin;
use super::score::{Explained, Score, authority, score};
use super::sequence::{FoundPart, Sequences, further_parts};
use super::source_code::is_source;
use super::{MatchedLine, ScanOptions, prefix, text};
use crate::matcher::rarity::SPECIFIC;
use crate::matcher::{Kind, Line, Matcher, PartOf, RawHit, Signal};
use crate::signature::{DeviceRule, tells_of_lost_gpu};

pub(super) struct Hits<'a> {
    pub(super) matcher: &'a Matcher,
    pub(super) line: &'a Line<'a>,
    pub(super) origin: &'a Origin<'a>,
    /// That the line names; else empty.
    pub(super) host: &'a dyn Fn() -> &'a [u8],
    pub(super) moment: Option<Moment>,
    pub(super) options: &'a ScanOptions,
    pub(super) seen: &'a mut Vec<(u32, bool)>,
    pub(super) sequences: &'a mut Sequences,
    pub(super) devices: &'a mut Devices,
    pub(super) tally: &'a mut Tally,
}

impl Hits<'_> {
    pub(super) fn count(&mut self, hits: &mut Vec<RawHit>, events: &mut Sink<'_>) {
        let matcher = self.matcher;
        let record_of = |hit: &RawHit| {
            matcher
                .signal(hit.signal)
                .map_or(u32::MAX, |signal| signal.record)
        };
        if let Some(joined) = self.origin.joined {
            // What stands on one of the lines alone was found there.
            hits.retain(|hit| joined.is_cut_at(hit));
        }
        for hit in hits.iter_mut() {
            hit.weak |= is_source(self.line.text, hit) || is_optional_import(self.line.text, hit);
        }
        let lower = self.line.lower;
        let is_lost = LazyCell::new(|| tells_of_lost_gpu(lower));
        let is_harmless = |hit: &RawHit| {
            matcher
                .record(record_of(hit))
                .is_some_and(|record| record.harmless)
        };
        // What such a record says of its message is not true of this line.
        hits.retain(|hit| !(is_harmless(hit) && *is_lost));
        let parts = self.take_parts(hits);
        hits.sort_by_key(|hit| (record_of(hit), hit.weak, hit.signal));
        let dropped = keep_most_telling(matcher, hits, record_of);
        self.tally.crowded.take(0, dropped);
        for group in hits.chunk_by(|a, b| record_of(a) == record_of(b)) {
            // A generic hit counts only where the record has no specific one.
            let strong = group.partition_point(|hit| !hit.weak);
            let (group, generic) = if strong > 0 {
                group.split_at(strong)
            } else {
                (group as &[RawHit], &[][..])
            };
            if let Some(record) = group.first().map(record_of)
                && self.is_new(record, strong > 0)
            {
                self.count_record(record, group, generic, strong > 0, events);
            }
        }
        self.put_together(&parts, events);
    }

    /// Whether the record was not yet counted on this line, of which earlier pieces may have been read.
    fn is_new(&mut self, record: u32, is_match: bool) -> bool {
        if self.origin.piece.is_none() {
            return true;
        }
        let counted = self
            .seen
            .iter()
            .any(|(seen, as_match)| *seen == record && (*as_match || !is_match));
        if !counted {
            self.seen.push((record, is_match));
        }
        !counted
    }

    fn count_record(
        &mut self,
        record: u32,
        group: &[RawHit],
        generic: &[RawHit],
        is_match: bool,
        events: &mut Sink<'_>,
    ) {
        let (matcher, line) = (self.matcher, self.line);
        let by_authority = |a: &&RawHit, b: &&RawHit| authority(matcher, a).total_cmp(&authority(matcher, b));
        let Some(speaker) = group.iter().max_by(by_authority) else {
            return;
        };
        let wants_event = events.is_some() && (is_match || self.options.report_candidates);
        if !is_match && !wants_event && self.tally.knows_candidate(record) {
            return;
        }
        let mut on_line = self.on_line(&speaker.span, captures(matcher, line.text, speaker, group));
        if self.origin.restored && (!is_match || self.tally.stands_on(record, std::iter::once(on_line.line)))
        {
            return;
        }
        if let Some(joined) = self.origin.joined {
            let line = self.origin.line_of(speaker.span.start);
            let further = joined.further_lines(line, on_line.end);
            let lines = std::iter::once(line).chain(further.iter().map(|part| part.line));
            if !is_match {
                return;
            }
            if self.tally.stands_on(record, lines.clone()) {
                lines.for_each(|line| self.tally.error_lines.explain(line, record));
                return;
            }
            on_line.parts = further;
        }
        let judged = match device_rule(matcher, group) {
            Some(rule) if is_match => {
                self.devices
                    .judge(rule, line.text, (self.host)(), &on_line.captures, on_line.line)
            }
            _ => Judged::Counts,
        };
        let (is_match, waits) = match judged {
            Judged::Counts => (is_match, None),
            Judged::Not => (false, None),
            Judged::Waits(waiting) => (false, Some(waiting)),
        };
        let is_hit = is_match || waits.as_ref().is_some_and(|waiting| waiting.counts_so_far);
        let wants_event = events.is_some() && (is_hit || self.options.report_candidates);
        if let Some(events) = events
            && wants_event
            && let Some(hit) = reported(matcher, record, speaker, group.iter().chain(generic), &on_line)
        {
            events.push(if is_hit {
                Event::Hit(hit)
            } else {
                Event::Candidate(hit)
            });
        }
        let explained = Explained {
            matcher,
            line,
            record,
            speaker,
            group,
        };
        let place = Place {
            line: on_line.line,
            moment: self.moment,
        };
        if (is_match || waits.is_some()) && self.is_fatal(record) {
            self.tally.fatal.insert(record);
        }
        if let Some(waiting) = waits {
            let by = (record, speaker.signal);
            self.devices.hold(&waiting, on_line, place, by, score(&explained));
        } else if is_match {
            self.tally
                .add(on_line, place, record, speaker.signal, || score(&explained));
        } else {
            self.tally
                .add_candidate(on_line, record, speaker.signal, || score(&explained));
        }
    }

    fn is_fatal(&self, record: u32) -> bool {
        self.matcher.record(record).is_some_and(|record| {
            record.harmless && is_called_fatal(self.line.text)
                || record.notice && tells_of_lost_gpu(self.line.lower)
        })
    }

    fn on_line(&self, span: &Range<usize>, captures: BTreeMap<String, String>) -> MatchedLine {
        let (start, end) = self.origin.body_span(span);
        MatchedLine {
            line: self.origin.line_of(span.start),
            start,
            end,
            text: self.options.keep_text.then(|| text::marked(self.line.text, span)),
            captures,
            parts: Vec::new(),
        }
    }

    /// Takes out the hits that are one line of several. The lines of a text that was cut were all read before.
    fn take_parts(&self, hits: &mut Vec<RawHit>) -> Vec<RawHit> {
        if !hits.iter().any(|hit| self.part_of(hit).is_some()) {
            return Vec::new();
        }
        let parts = hits.extract_if(.., |hit| self.part_of(hit).is_some());
        let parts = parts.collect();
        if self.origin.joined.is_some() || self.origin.within {
            Vec::new()
        } else {
            parts
        }
    }

    fn part_of(&self, hit: &RawHit) -> Option<PartOf> {
        match self.matcher.signal(hit.signal)?.kind {
            Kind::Part(_, part) => Some(part),
            _ => None,
        }
    }

    fn put_together(&mut self, parts: &[RawHit], events: &mut Sink<'_>) {
        if parts.is_empty() {
            return;
        }
        let matcher = self.matcher;
        for hit in parts {
            let (Some(part), Some(signal)) = (self.part_of(hit), matcher.signal(hit.signal)) else {
                continue;
            };
            let group = std::slice::from_ref(hit);
            let stream = stream_at(self.line.text, hit.span.start);
            let found = FoundPart {
                on_line: self.on_line(&hit.span, captures(matcher, self.line.text, hit, group)),
                score: score(&Explained {
                    matcher,
                    line: self.line,
                    record: signal.record,
                    speaker: hit,
                    group,
                }),
                weak: hit.weak,
                weight: hit.weight,
                moment: self.moment,
                is_fatal: self.is_fatal(signal.record),
            };
            let (origin, text) = (self.origin, self.line.text);
            let joins = |end| {
                origin
                    .between(text, end, hit.span.start)
                    .is_some_and(|between| between::joins(between, part.reach))
            };
            if let Some(parts) = self.sequences.take(part, stream, found, joins) {
                self.count_parts(hit, signal, parts, events);
            }
        }
    }

    fn count_parts(&mut self, last: &RawHit, signal: &Signal, parts: Vec<FoundPart>, events: &mut Sink<'_>) {
        let is_signature = &*signal.name == "signature";
        let score = Score::of_parts(parts.iter().map(|part| part.score), is_signature);
        // Generic lines together may be specific.
        let weight: f32 = parts.iter().map(|part| part.weight).sum();
        let is_match = weight >= SPECIFIC || parts.iter().any(|part| !part.weak);
        if is_match && parts.iter().any(|part| part.is_fatal) {
            self.tally.fatal.insert(signal.record);
        }
        let further = further_parts(&parts);
        let mut captures = BTreeMap::new();
        for part in &parts {
            for (name, value) in &part.on_line.captures {
                captures.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        let Some(first) = parts.into_iter().next() else {
            return;
        };
        let place = Place {
            line: first.on_line.line,
            moment: first.moment,
        };
        let lines = std::iter::once(place.line).chain(further.iter().map(|part| part.line));
        // A line of it may have given the record away by itself already.
        if is_match && self.tally.stands_on(signal.record, lines.clone()) {
            lines.for_each(|line| self.tally.error_lines.explain(line, signal.record));
            self.tally
                .improve(signal.record, last.signal, &place, &captures, score);
            return;
        }
        let on_line = MatchedLine {
            captures,
            parts: further.clone(),
            ..first.on_line
        };
        let wanted = is_match || self.options.report_candidates;
        if let Some(events) = events
            && wanted
            && let Some(hit) = reported(self.matcher, signal.record, last, std::iter::empty(), &on_line)
        {
            events.push(if is_match {
                Event::Hit(hit)
            } else {
                Event::Candidate(hit)
            });
        }
        if is_match {
            self.tally
                .add(on_line, place, signal.record, last.signal, || score);
        } else {
            self.tally
                .add_candidate(on_line, signal.record, last.signal, || score);
        }
    }
}

/// Who wrote what a terminal shows at a place: a progress bar before a carriage return is no writer.
fn stream_at(line: &[u8], at: usize) -> Option<u64> {
    let before = line.get(..at).unwrap_or_default();
    let start = memchr::memrchr(b'\r', before).map_or(0, |end| end + 1);
    let shown = line.get(start..).unwrap_or_default();
    prefix::read(shown).stream(shown)
}

/// Whose device the hits of a record on a line must be of; none where one of them counts for any device.
fn device_rule(matcher: &Matcher, group: &[RawHit]) -> Option<DeviceRule> {
    let mut rules = group
        .iter()
        .map(|hit| matcher.signal(hit.signal).and_then(|signal| signal.device));
    let first = rules.next()??;
    rules.try_fold(first, |mildest, rule| {
        Some(if rule? == DeviceRule::NotOther {
            DeviceRule::NotOther
        } else {
            mildest
        })
    })
}

fn captures(matcher: &Matcher, text: &[u8], speaker: &RawHit, group: &[RawHit]) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for hit in std::iter::once(speaker).chain(group) {
        let Some(Signal {
            kind: Kind::Pattern(slot) | Kind::Part(slot, _),
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

fn reported<'h>(
    matcher: &Matcher,
    record: u32,
    speaker: &RawHit,
    all: impl Iterator<Item = &'h RawHit>,
    on_line: &MatchedLine,
) -> Option<Hit> {
    let record = matcher.record(record)?;
    let name = |hit: &RawHit| matcher.signal(hit.signal).map(|signal| signal.name.to_string());
    Some(Hit {
        record: record.id.clone(),
        revision: record.revision,
        pattern: name(speaker)?,
        also: all
            .filter(|hit| hit.signal != speaker.signal)
            .filter_map(name)
            .collect(),
        line: on_line.line,
        start: on_line.start,
        end: on_line.end,
        captures: on_line.captures.clone(),
        parts: on_line.parts.clone(),
        text: on_line.text.clone(),
    })
}
