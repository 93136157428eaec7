//! The hits on one line: grouped by record, each record spoken for by one of them, then counted and reported.

use std::collections::BTreeMap;
use std::ops::Range;

use super::clean::Clean;
use super::clock::Moment;
use super::engine::{Sink, size};
use super::event::{Event, Hit};
use super::fold::{Place, Tally};
use super::lines::Piece;
use super::score::Explained;
use super::{MatchedLine, ScanOptions, text};
use crate::matcher::{Kind, Line, Matcher, RawHit, Signal};

/// Where a line stands, and how its text came from the bytes as sent.
pub(super) struct Origin<'a> {
    pub(super) line: u64,
    pub(super) offset: u64,
    pub(super) piece: Option<Piece>,
    pub(super) cleaned: Option<&'a Clean>,
}

impl Origin<'_> {
    fn body_span(&self, span: &Range<usize>) -> (u64, u64) {
        let sent = self
            .cleaned
            .map_or_else(|| span.clone(), |clean| clean.original(span));
        (self.offset + size(sent.start), self.offset + size(sent.end))
    }
}

/// What the hits on a line go through.
pub(super) struct Hits<'a> {
    pub(super) matcher: &'a Matcher,
    pub(super) line: &'a Line<'a>,
    pub(super) origin: &'a Origin<'a>,
    pub(super) moment: Option<Moment>,
    pub(super) options: &'a ScanOptions,
    pub(super) seen: &'a mut Vec<(u32, bool)>,
    pub(super) tally: &'a mut Tally,
}

impl Hits<'_> {
    /// Counts each record once, and reports it if it is a match.
    pub(super) fn count(&mut self, hits: &mut [RawHit], events: &mut Sink<'_>) {
        let matcher = self.matcher;
        let record_of = |hit: &RawHit| {
            matcher
                .signal(hit.signal)
                .map_or(u32::MAX, |signal| signal.record)
        };
        hits.sort_by_key(|hit| (record_of(hit), hit.weak, hit.signal));
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
        let (start, end) = self.origin.body_span(&speaker.span);
        let on_line = MatchedLine {
            line: self.origin.line,
            start,
            end,
            text: self
                .options
                .keep_text
                .then(|| text::marked(line.text, &speaker.span)),
            captures: captures(matcher, line.text, speaker, group),
        };
        if let Some(events) = events
            && wants_event
            && let Some(hit) = reported(matcher, record, speaker, group.iter().chain(generic), &on_line)
        {
            events.push(if is_match {
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
        if is_match {
            let place = Place {
                line: self.origin.line,
                moment: self.moment,
            };
            self.tally.add(on_line, place, &explained);
        } else {
            self.tally.add_candidate(on_line, &explained);
        }
    }
}

/// Which of a record's hits on a line speaks for it: patterns before the signature before codes, then weight.
fn authority(matcher: &Matcher, hit: &RawHit) -> f32 {
    matcher.signal(hit.signal).map_or(0.0, |signal| {
        let rank = match signal.kind {
            Kind::Pattern(_) => 2_000.0,
            Kind::Signature => 1_000.0,
            Kind::Word(_) | Kind::Number { .. } => 0.0,
        };
        rank + hit.weight
    })
}

/// The speaker's captured values, and those that only other hits have.
fn captures(matcher: &Matcher, text: &[u8], speaker: &RawHit, group: &[RawHit]) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for hit in std::iter::once(speaker).chain(group) {
        let Some(Signal {
            kind: Kind::Pattern(slot),
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
        text: on_line.text.clone(),
    })
}
