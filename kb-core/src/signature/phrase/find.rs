//! Where a phrase stands in one of its contexts: found as a literal, then judged by what is before and after it. The
//! regexes of both are compiled once for all phrases, when a line first needs them.

use std::ops::Range;
use std::sync::OnceLock;

use memchr::memmem::Finder;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input};

use super::PhraseSpec;
use super::contexts::{CONTEXTS, MOST_AFTER, MOST_BEFORE, NUMBER, Said, Way};
use crate::signature::PatternError;
use crate::signature::check::{CompiledPattern, Texts, compile_often};

/// Largest automaton of one side of a way, in bytes; there are two of each, and a few dozen ways.
const AUTOMATON_BYTES: usize = 256 << 10;

#[derive(Debug)]
pub(crate) struct Phrase {
    /// Place of the set of contexts among all.
    context: usize,
    /// What is printed, and by which of the set's ways.
    said: Vec<(Finder<'static>, Vec<usize>)>,
    /// The words as the record writes them.
    text: Option<String>,
    numbers: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PhraseHit {
    pub(crate) span: Range<usize>,
    /// What wildcards swallowed.
    pub(crate) gaps: Vec<Range<usize>>,
    /// Place of the way among those of the context.
    pub(crate) way: usize,
}

#[derive(Debug)]
struct Sides {
    /// Ends one byte behind the phrase's first, so that edges of words are seen where it begins.
    before: CompiledPattern,
    after: CompiledPattern,
    /// Only the words as the record writes them count.
    by_case: bool,
    /// The group in `before` that must hold one of the phrase's numbers.
    number: Option<usize>,
}

/// By set and texts (ASCII, any): of each way its sides, or why there are none.
type Compiled = [OnceLock<Result<Vec<Sides>, PatternError>>; 2];
static COMPILED: [Compiled; CONTEXTS.len()] = [const { [const { OnceLock::new() }; 2] }; CONTEXTS.len()];

impl Phrase {
    pub(crate) fn new(spec: &PhraseSpec) -> Result<Self, PatternError> {
        let (context, set) = spec.known_context()?;
        let mut said: Vec<(Finder<'static>, Vec<usize>)> = Vec::new();
        for (place, way) in set.ways().enumerate() {
            for text in spec.said(way) {
                match said
                    .iter_mut()
                    .find(|(known, _)| known.needle() == text.as_bytes())
                {
                    Some((_, ways)) => ways.push(place),
                    None => said.push((Finder::new(&text).into_owned(), vec![place])),
                }
            }
        }
        Ok(Self {
            context,
            said,
            text: spec.text.clone(),
            numbers: spec.numbers.clone(),
        })
    }

    /// The first place within these bounds where the phrase stands in a context. `lower` is the text in ASCII lower case.
    /// `texts` says which compiled form does; `slots` is reused from text to text.
    pub(crate) fn find(
        &self,
        text: &[u8],
        lower: &[u8],
        within: Range<usize>,
        texts: Texts,
        slots: &mut Vec<Option<NonMaxUsize>>,
    ) -> Result<Option<PhraseHit>, PatternError> {
        let mut best: Option<PhraseHit> = None;
        for (finder, ways) in &self.said {
            let mut from = within.start;
            while let Some(at) = lower.get(from..within.end).and_then(|rest| finder.find(rest)) {
                let phrase = from + at..from + at + finder.needle().len();
                from = phrase.start + 1;
                let sides = sides(self.context, texts)?;
                let ways = ways.iter().filter_map(|way| Some((*way, sides.get(*way)?)));
                let hits = ways.filter_map(|way| self.judge(way, text, &phrase, &within, slots));
                // Each of the numbers is sought up to its own first hit, whatever hit another has.
                if let Some(first) = hits.min_by_key(|hit| hit.span.start) {
                    best = best.into_iter().chain([first]).min_by_key(|hit| hit.span.start);
                    break;
                }
            }
        }
        Ok(best)
    }

    pub(crate) fn stands_on(&self, line: &str) -> bool {
        let text = line.as_bytes();
        let (lower, texts) = (text.to_ascii_lowercase(), Texts::of(text));
        let found = self.find(text, &lower, 0..text.len(), texts, &mut Vec::new());
        found.is_ok_and(|hit| hit.is_some())
    }

    fn judge(
        &self,
        (way, sides): (usize, &Sides),
        text: &[u8],
        phrase: &Range<usize>,
        within: &Range<usize>,
        slots: &mut Vec<Option<NonMaxUsize>>,
    ) -> Option<PhraseHit> {
        if sides.by_case && self.text.as_deref().map(str::as_bytes) != text.get(phrase.clone()) {
            return None;
        }
        let behind = Input::new(text)
            .range(phrase.end..within.end.min(phrase.end + MOST_AFTER))
            .anchored(Anchored::Yes);
        let end = sides.after.regex.search(&behind)?.end();
        let upto = text.get(..=phrase.start)?;
        let earliest = within.start.max(phrase.start.saturating_sub(MOST_BEFORE));
        slots.clear();
        slots.resize(sides.before.regex.group_info().slot_len(), None);
        let ahead = Input::new(upto).range(earliest..);
        sides.before.regex.search_slots(&ahead, slots)?;
        let group = |group: usize| {
            let bound = |at: usize| slots.get(at).copied().flatten().map(NonMaxUsize::get);
            Some(bound(2 * group)?..bound(2 * group + 1)?)
        };
        if let Some(number) = sides.number {
            let digits = std::str::from_utf8(upto.get(group(number)?)?).ok()?;
            let number: u32 = digits.parse().ok()?;
            if !self.numbers.contains(&number) {
                return None;
            }
        }
        Some(PhraseHit {
            span: group(0)?.start..end,
            gaps: sides.before.gaps.clone().filter_map(group).collect(),
            way,
        })
    }
}

fn sides(context: usize, texts: Texts) -> Result<&'static [Sides], PatternError> {
    let (Some(set), Some([ascii, any])) = (CONTEXTS.get(context), COMPILED.get(context)) else {
        return Ok(&[]);
    };
    let form = match texts {
        Texts::Ascii => ascii,
        Texts::Any => any,
    };
    let compiled = form.get_or_init(|| set.ways().map(|way| Sides::of(way, texts)).collect());
    compiled.as_deref().map_err(Clone::clone)
}

impl Sides {
    fn of(way: &Way, texts: Texts) -> Result<Self, PatternError> {
        let before = format!(r"(?:{})(?s-u:.)\z", way.before.join("|"));
        let before = compile_often(&way.part(before), texts, AUTOMATON_BYTES)?;
        let after = compile_often(&way.part(way.after.to_owned()), texts, AUTOMATON_BYTES)?;
        let number = before
            .regex
            .group_info()
            .to_index(regex_automata::PatternID::ZERO, NUMBER);
        Ok(Self {
            by_case: way.said == Said::Text && way.flags.is_empty(),
            number,
            before,
            after,
        })
    }
}
