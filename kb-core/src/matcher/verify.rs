//! The second look: one line and what the automaton saw on it, tested signal by signal, the cheapest test first.

use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;
use regex_automata::{Anchored, Input, Span};

use super::cache::Slot;
use super::markers::{Markers, stands_in};
use super::{Found, Kind, Matcher, Record, Signal, codes};
use crate::signature::{Clause, CompiledPattern};

/// One line as the matcher sees it.
pub(crate) struct Line<'a> {
    /// The line without its end and without terminal colours; of a very long line, one piece of it.
    pub(crate) text: &'a [u8],
    /// The same in ASCII lower case.
    pub(crate) lower: &'a [u8],
    /// Where a match may lie. Less than all of `text` where the line goes on beyond it.
    pub(crate) within: Range<usize>,
    /// What stands between carriage returns, each without its log prefix.
    pub(crate) messages: &'a [Range<usize>],
}

/// A signal found on a line.
#[derive(Debug)]
pub(crate) struct RawHit {
    pub(crate) signal: u32,
    /// In the line's text.
    pub(crate) span: Range<usize>,
    /// Named captures: the name's place among the pattern's captures, and where the value stands.
    pub(crate) captures: Vec<(usize, Range<usize>)>,
    /// What wildcards swallowed.
    pub(crate) gaps: Vec<Range<usize>>,
    /// Generic, and the line names no world that it belongs to: a candidate only.
    pub(crate) weak: bool,
}

/// Reused from line to line.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) hits: Vec<RawHit>,
    /// Patterns that did not compile when first needed.
    pub(crate) broken: Vec<u32>,
}

impl Matcher {
    /// Tests what was found on a line and adds the hits to `work`. A signal is reported once a line, at its leftmost.
    pub(crate) fn verify(&self, line: &Line<'_>, found: &[Found], work: &mut Work) {
        let mut markers = None;
        for found in found {
            match *found {
                Found::Signal(signal) => self.test(signal, line, &mut markers, work),
                Found::Family(family) => self.test_numbers(family, line, &mut markers, work),
            }
        }
    }

    fn test(&self, place: u32, line: &Line<'_>, markers: &mut Option<Markers>, work: &mut Work) {
        let Some(signal) = self.signal(place) else {
            return;
        };
        let Some(record) = self.record(signal.record) else {
            return;
        };
        let hit = match &signal.kind {
            Kind::Pattern { slot, clauses } => self.test_pattern(place, slot, clauses, line, work),
            Kind::Signature => memmem::find(line.lower, &record.signature)
                .map(|at| bare(place, at..at + record.signature.len())),
            Kind::Word(name) => {
                codes::find_name(line.lower, name, &line.within).map(|span| bare(place, span))
            }
            Kind::Number { .. } => None,
        };
        if let Some(mut hit) = hit {
            hit.weak = !signal.specific && !speaks_of(record, line.lower, markers);
            work.hits.push(hit);
        }
    }

    fn test_pattern(
        &self,
        place: u32,
        slot: &Arc<Slot>,
        clauses: &[Clause],
        line: &Line<'_>,
        work: &mut Work,
    ) -> Option<RawHit> {
        let all_there = clauses.iter().all(|clause| {
            clause
                .iter()
                .any(|literal| memmem::find(line.lower, literal).is_some())
        });
        if !all_there {
            return None;
        }
        let Ok(compiled) = self.cache.get(slot) else {
            if !work.broken.contains(&place) {
                work.broken.push(place);
            }
            return None;
        };
        let whole = find(&compiled, slot, line.text, line.within.clone(), place);
        if whole.is_some() || !slot.facts.anchored {
            return whole;
        }
        line.messages.iter().find_map(|message| {
            let text = line.text.get(..message.end)?;
            let inner = text.get(message.start..)?;
            let mut hit = find(&compiled, slot, inner, 0..inner.len(), place)?;
            let moved =
                |span: &mut Range<usize>| *span = span.start + message.start..span.end + message.start;
            moved(&mut hit.span);
            hit.captures.iter_mut().for_each(|(_, span)| moved(span));
            hit.gaps.iter_mut().for_each(moved);
            Some(hit)
        })
    }

    fn test_numbers(&self, family: u16, line: &Line<'_>, markers: &mut Option<Markers>, work: &mut Work) {
        let Some(keyword) = self.automaton().family(family) else {
            return;
        };
        let first = work.hits.len();
        for (number, span) in codes::numbers(line.lower, keyword, &line.within) {
            for place in self.numbers.get(&(family, number)).into_iter().flatten() {
                let seen = work.hits.iter().skip(first).any(|hit| hit.signal == *place);
                let Some(Signal {
                    kind: Kind::Number { words, needs },
                    ..
                }) = self.signal(*place)
                else {
                    continue;
                };
                if seen {
                    continue;
                }
                let on_line = *markers.get_or_insert_with(|| Markers::on(line.lower));
                let marked = *needs == Markers::NONE || on_line.meets(*needs);
                let worded = words.iter().all(|word| stands_in(line.lower, word, false));
                let mut hit = bare(*place, span.clone());
                hit.weak = !(marked && worded);
                work.hits.push(hit);
            }
        }
    }
}

/// Whether the line names the record's world.
fn speaks_of(record: &Record, lower: &[u8], markers: &mut Option<Markers>) -> bool {
    if record.domain == Markers::NONE {
        return !record.domain_word.is_empty() && stands_in(lower, record.domain_word.as_bytes(), true);
    }
    markers
        .get_or_insert_with(|| Markers::on(lower))
        .meets(record.domain)
}

fn bare(signal: u32, span: Range<usize>) -> RawHit {
    RawHit {
        signal,
        span,
        captures: Vec::new(),
        gaps: Vec::new(),
        weak: false,
    }
}

/// The leftmost match of a pattern, its captures and its gaps.
fn find(
    compiled: &CompiledPattern,
    slot: &Slot,
    text: &[u8],
    within: Range<usize>,
    place: u32,
) -> Option<RawHit> {
    let input = Input::new(text).range(within.clone());
    let found = compiled.regex.search(&input)?;
    let mut hit = bare(place, found.range());
    if slot.facts.captures.is_empty() && compiled.gaps.is_empty() {
        return Some(hit);
    }
    // Anchored where the match is known to begin, the engine can use its fastest way to the groups.
    let again = Input::new(text)
        .range(found.start()..within.end)
        .anchored(Anchored::Yes);
    let mut groups = compiled.regex.create_captures();
    compiled.regex.search_captures(&again, &mut groups);
    let range = |span: Span| span.start..span.end;
    let captures = slot.facts.captures.iter().enumerate();
    hit.captures = captures
        .filter_map(|(at, capture)| Some((at, range(groups.get_group(capture.group)?))))
        .collect();
    hit.gaps = compiled
        .gaps
        .clone()
        .filter_map(|group| groups.get_group(group).map(range))
        .collect();
    Some(hit)
}
