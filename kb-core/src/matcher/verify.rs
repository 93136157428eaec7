//! The second look: one line and what the automaton saw on it, tested signal by signal, the cheapest test first.

use std::cell::OnceCell;
use std::ops::Range;

use memchr::memmem;
use regex_automata::Input;
use regex_automata::util::primitives::NonMaxUsize;
use rustc_hash::FxHashMap;

use super::grams::Grams;
use super::markers::{Markers, stands_by, stands_in};
use super::rarity::SPECIFIC;
use super::slot::{Slot, Test};
use super::{Found, Kind, Matcher, Record, Signal, chain, codes};
use crate::signature::{Chain, CompiledPattern, PatternError, PhraseHit, Texts};

/// A generic pattern with wildcards must explain at least one byte in this many of its line.
const LEAST_SHARE: usize = 10;

pub(crate) struct Line<'a> {
    /// The line without its end and without terminal colours; of a very long line, one piece of it.
    pub(crate) text: &'a [u8],
    /// The same in ASCII lower case.
    pub(crate) lower: &'a [u8],
    pub(crate) grams: &'a Grams,
    /// Where a match may lie. Less than all of `text` where the line goes on beyond it.
    pub(crate) within: Range<usize>,
    /// Reads what stands between carriage returns, each without its log prefix. Asked at most once.
    pub(crate) read_messages: &'a dyn Fn() -> Vec<Range<usize>>,
    pub(crate) messages: OnceCell<Vec<Range<usize>>>,
    /// Whether the text is valid UTF-8. Asked at most once.
    pub(crate) is_valid: OnceCell<bool>,
}

impl Line<'_> {
    pub(crate) fn messages(&self) -> &[Range<usize>] {
        self.messages.get_or_init(self.read_messages)
    }

    /// A match may lie on all of the line, and the line is valid UTF-8: chains alone tell where an exact pattern matches.
    fn is_text(&self) -> bool {
        let is_valid = || self.text.is_ascii() || std::str::from_utf8(self.text).is_ok();
        self.within == (0..self.text.len()) && *self.is_valid.get_or_init(is_valid)
    }
}

#[derive(Debug)]
pub(crate) struct RawHit {
    pub(crate) signal: u32,
    /// In the line's text.
    pub(crate) span: Range<usize>,
    /// Named captures: the name's place among the pattern's captures, and where the value stands.
    pub(crate) captures: Vec<(usize, Range<usize>)>,
    /// What wildcards swallowed.
    pub(crate) gaps: Vec<Range<usize>>,
    pub(crate) weight: f32,
    /// Generic, and the line names no world that it belongs to: a candidate only.
    pub(crate) weak: bool,
}

/// Reused from line to line.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) hits: Vec<RawHit>,
    /// Patterns that did not compile when first needed.
    pub(crate) broken: Vec<u32>,
    /// The signal that was last found not to be on the line.
    refuted: Option<u32>,
    runs: u32,
    slots: Vec<Option<NonMaxUsize>>,
}

impl Matcher {
    /// Tests what was found on a line and adds the hits to `work`. A signal is reported once a line, at its leftmost.
    pub(crate) fn verify(&self, line: &Line<'_>, found: &[Found], work: &mut Work) {
        let mut markers = None;
        work.refuted = None;
        for found in found {
            match *found {
                Found::Signal(signal) => self.test(signal, None, line, &mut markers, work),
                Found::Chain(signal, chain) => self.test(signal, Some(chain), line, &mut markers, work),
                Found::Family(family) => self.test_numbers(family, line, &mut markers, work),
                Found::Stated(_) | Found::Raised => {}
            }
        }
    }

    fn test(
        &self,
        place: u32,
        chain: Option<u16>,
        line: &Line<'_>,
        markers: &mut Option<Markers>,
        work: &mut Work,
    ) {
        // What wakes a signal is in the order of the signals: several chains of one come together.
        if work.refuted == Some(place) || work.hits.last().is_some_and(|hit| hit.signal == place) {
            return;
        }
        let Some(signal) = self.signal(place) else {
            return;
        };
        let Some(record) = self.record(signal.record) else {
            return;
        };
        let hit = match &signal.kind {
            Kind::Pattern(slot) | Kind::Part(slot, _) => self.test_pattern(place, slot, chain, line, work),
            Kind::Signature => record.signature.find(line.lower).map(|at| {
                let span = at..at + record.signature.text().len();
                bare(place, span, record.signature_weight)
            }),
            Kind::Word(name) => {
                codes::find_name(line.lower, name, &line.within).map(|span| bare(place, span, signal.weight))
            }
            Kind::Number { .. } => None,
        };
        if let Some(mut hit) = hit {
            hit.weak = hit.weight < SPECIFIC
                && !says_it_all(&signal.kind, &hit, line.text)
                && !(speaks_of(record, &hit, line, markers)
                    && (explains_enough(&hit, line.text.len()) || prints_event(&hit, line.lower)));
            work.hits.push(hit);
        }
    }

    fn test_pattern(
        &self,
        place: u32,
        slot: &Slot,
        woken: Option<u16>,
        line: &Line<'_>,
        work: &mut Work,
    ) -> Option<RawHit> {
        match (&slot.chains, woken) {
            (Some(chains), Some(_)) if chains.exact && slot.facts.captures.is_empty() && line.is_text() => {
                let hit = leftmost(place, slot, line);
                if hit.is_none() {
                    work.refuted = Some(place);
                }
                return hit;
            }
            (Some(chains), Some(woken)) => {
                let chain = chains.list.get(usize::from(woken))?;
                if !chain::stands(chain, line.lower) {
                    return None;
                }
            }
            _ if !holds_clauses(slot, line.lower) => {
                work.refuted = Some(place);
                return None;
            }
            _ => {}
        }
        let mut hit = self.run(place, slot, line, work);
        match &mut hit {
            Some(hit) => hit.weight = hit.weight.max(self.weight(place, slot, line)),
            None => work.refuted = Some(place),
        }
        hit
    }

    fn weight(&self, place: u32, slot: &Slot, line: &Line<'_>) -> f32 {
        let there = ways(slot, line).filter(|(chain, _)| chain::stands(chain, line.lower));
        let most = there.map(|(_, weight)| weight).max_by(f32::total_cmp);
        most.unwrap_or_else(|| self.signal(place).map_or(0.0, |signal| signal.weight))
    }

    fn run(&self, place: u32, slot: &Slot, line: &Line<'_>, work: &mut Work) -> Option<RawHit> {
        work.runs = work.runs.saturating_add(1);
        if let Ok(hit) = self.look(place, slot, line, work) {
            return hit;
        }
        if !work.broken.contains(&place) {
            work.broken.push(place);
        }
        None
    }

    fn look(
        &self,
        place: u32,
        slot: &Slot,
        line: &Line<'_>,
        work: &mut Work,
    ) -> Result<Option<RawHit>, PatternError> {
        let texts = Texts::of(line.text);
        let compiled = match &slot.test {
            Test::Pattern(pattern) => Some(self.cache.get(pattern, texts, work.runs)?),
            Test::Phrase(..) => None,
        };
        let slots = &mut work.slots;
        let mut look = |inside: &Range<usize>, within: Range<usize>| {
            let text = line.text.get(inside.clone()).unwrap_or_default();
            match (&slot.test, &compiled) {
                (Test::Phrase(phrase, weights), _) => {
                    let lower = line.lower.get(inside.clone()).unwrap_or_default();
                    let hit = phrase.find(text, lower, within, texts, slots)?;
                    Ok(hit.map(|hit| of_phrase(place, hit, weights)))
                }
                (Test::Pattern(_), Some(compiled)) => {
                    let bare = |span| bare(place, span, 0.0);
                    Ok(find(compiled, slot, text, within, slots, bare))
                }
                (Test::Pattern(_), None) => Ok(None),
            }
        };
        let whole = look(&(0..line.text.len()), line.within.clone())?;
        if whole.is_some() || !slot.facts.anchored {
            return Ok(whole);
        }
        for message in line.messages() {
            if let Some(mut hit) = look(message, 0..message.len())? {
                let moved =
                    |span: &mut Range<usize>| *span = span.start + message.start..span.end + message.start;
                moved(&mut hit.span);
                hit.captures.iter_mut().for_each(|(_, span)| moved(span));
                hit.gaps.iter_mut().for_each(moved);
                return Ok(Some(hit));
            }
        }
        Ok(None)
    }

    fn test_numbers(&self, family: u16, line: &Line<'_>, markers: &mut Option<Markers>, work: &mut Work) {
        let Some(keyword) = self.filter.family(family) else {
            return;
        };
        // Who asks for nothing but a number means it, as a question too.
        let asked = OnceCell::new();
        let stands = |word: &[u8]| stands_in(line.lower, word, false);
        let mut there: FxHashMap<&[u8], bool> = FxHashMap::default();
        let numbers = codes::numbers(line.lower, keyword, &line.within);
        // Of a list, all that a line says is the list.
        let longest = numbers.iter().map(|(_, span)| span.len()).max().unwrap_or(0);
        for (number, span) in numbers {
            for place in self.numbers.get(&(family, number)).into_iter().flatten() {
                let Some(Signal {
                    kind: Kind::Number { words, needs },
                    ..
                }) = self.signal(*place)
                else {
                    continue;
                };
                let on_line = *markers.get_or_insert_with(|| Markers::on(line.text, line.lower));
                let is_all = || *asked.get_or_init(|| said(line.text)) == longest;
                let marked = *needs == Markers::NONE
                    || on_line.meets(*needs)
                    || (*needs == Markers::BY_XID && is_all());
                let worded = words
                    .iter()
                    .all(|word| *there.entry(word).or_insert_with(|| stands(word)));
                let mut hit = bare(*place, span.clone(), 0.0);
                hit.weak = !(marked && worded);
                work.hits.push(hit);
            }
        }
    }
}

/// Length in bytes of what a line says, without the blanks and signs around it: `"xid 79"?` is `xid 79`.
fn said(line: &[u8]) -> usize {
    let line = String::from_utf8_lossy(line);
    line.trim_matches(|c: char| !c.is_alphanumeric()).len()
}

/// Whether a pattern for a whole line is all of this one, without a prefix: `No devices were found`. Who has nothing else to say
/// of an error means it. A whole row of a table may stand behind what a logger or a page puts before it.
fn says_it_all(kind: &Kind, hit: &RawHit, line: &[u8]) -> bool {
    let is_whole = matches!(kind, Kind::Pattern(slot) if slot.facts.whole);
    let own = line.get(hit.span.clone()).unwrap_or_default();
    let behind = line.get(hit.span.end..).unwrap_or_default();
    let is_row = || own.starts_with(b"|") && !behind.iter().any(u8::is_ascii_alphanumeric);
    // A terminal shows what stands between carriage returns one over the other.
    let mut shown = line.split(|byte| *byte == b'\r');
    is_whole && (shown.any(|part| part.trim_ascii() == own.trim_ascii()) || is_row())
}

fn speaks_of(record: &Record, hit: &RawHit, line: &Line<'_>, markers: &mut Option<Markers>) -> bool {
    let (text, lower) = (line.text, line.lower);
    if record.domain == Markers::NONE {
        return !record.domain_word.text().is_empty() && stands_by(lower, record.domain_word.finder(), true);
    }
    if markers
        .get_or_insert_with(|| Markers::on(text, lower))
        .meets(record.domain)
    {
        return true;
    }
    let own = hit.span.clone();
    let own = text.get(own.clone()).zip(lower.get(own));
    own.is_some_and(|(text, lower)| Markers::on(text, lower) != Markers::NONE)
}

fn holds_clauses(slot: &Slot, lower: &[u8]) -> bool {
    slot.facts.required.iter().all(|clause| {
        clause
            .iter()
            .any(|literal| memmem::find(lower, literal).is_some())
    })
}

fn ways<'a>(slot: &'a Slot, line: &'a Line<'_>) -> impl Iterator<Item = (&'a Chain, f32)> {
    let chains = slot.chains.iter().flat_map(|chains| &chains.list);
    chains
        .zip(&slot.weights)
        .zip(&slot.needs)
        .filter(|(_, needs)| line.grams.hold(**needs))
        .map(|((chain, weight), _)| (chain, *weight))
}

/// The match of exact chains that begins first; the earlier chain where two begin at the same place.
fn leftmost(place: u32, slot: &Slot, line: &Line<'_>) -> Option<RawHit> {
    let mut best: Option<RawHit> = None;
    for (chain, weight) in ways(slot, line) {
        if let Some((span, gaps)) = chain::find(chain, line.lower)
            && best.as_ref().is_none_or(|best| span.start < best.span.start)
        {
            let mut hit = bare(place, span, weight);
            hit.gaps = gaps;
            best = Some(hit);
        }
    }
    best
}

/// A hit with wildcards in it must explain some of its line before generic words count.
fn explains_enough(hit: &RawHit, line: usize) -> bool {
    let swallowed: usize = hit.gaps.iter().map(ExactSizeIterator::len).sum();
    hit.gaps.is_empty() || (hit.span.len() - swallowed) * LEAST_SHARE >= line
}

/// Whether the hit has the driver's own form of an event, `Xid (PCI:0000:3b:00): 79`: nothing else is written so.
fn prints_event(hit: &RawHit, lower: &[u8]) -> bool {
    lower
        .get(hit.span.clone())
        .is_some_and(|own| memmem::find(own, b"xid (").is_some())
}

fn bare(signal: u32, span: Range<usize>, weight: f32) -> RawHit {
    RawHit {
        signal,
        span,
        captures: Vec::new(),
        gaps: Vec::new(),
        weight,
        weak: false,
    }
}

fn of_phrase(place: u32, hit: PhraseHit, weights: &[f32]) -> RawHit {
    let mut of_phrase = bare(place, hit.span, weights.get(hit.way).copied().unwrap_or(0.0));
    of_phrase.gaps = hit.gaps;
    of_phrase
}

fn find(
    compiled: &CompiledPattern,
    slot: &Slot,
    text: &[u8],
    within: Range<usize>,
    slots: &mut Vec<Option<NonMaxUsize>>,
    bare: impl Fn(Range<usize>) -> RawHit,
) -> Option<RawHit> {
    let input = Input::new(text).range(within);
    if slot.facts.captures.is_empty() && compiled.gaps.is_empty() {
        return compiled.regex.search(&input).map(|found| bare(found.range()));
    }
    slots.clear();
    slots.resize(compiled.regex.group_info().slot_len(), None);
    compiled.regex.search_slots(&input, slots)?;
    let group = |group: usize| {
        let bound = |at: usize| slots.get(at).copied().flatten().map(NonMaxUsize::get);
        Some(bound(2 * group)?..bound(2 * group + 1)?)
    };
    let mut hit = bare(group(0)?);
    let captures = slot.facts.captures.iter().enumerate();
    hit.captures = captures
        .filter_map(|(at, capture)| Some((at, group(capture.group)?)))
        .collect();
    hit.gaps = compiled.gaps.clone().filter_map(group).collect();
    Some(hit)
}
