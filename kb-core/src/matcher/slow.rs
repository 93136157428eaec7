//! Patterns without a literal to look for. The door refuses them, imports bring a few: they are asked of every line,
//! all at once by one lazy automaton, and there may be only so many.

use memchr::{memchr, memrchr};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::pool::Pool;
use regex_automata::{Input, MatchKind, PatternID, PatternSet};

use super::Found;
use super::heads::Heads;
use super::keys::TYPICAL;
use crate::signature::{PatternError, PatternSpec, slow_tree};

/// Most patterns of the slow lane; further ones are left out and listed.
pub const SLOW_LANE_PATTERNS: usize = 64;
/// Heads of matches are looked for where fewer than one in this many typical lines has one.
const SELDOM: usize = 4;
/// Largest form of all of them together before it is run, in bytes.
const MAX_BYTES: usize = 4 << 20;

type MakeCache = Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

pub(crate) struct SlowLane {
    automaton: DFA,
    /// How their matches begin, if healthy lines seldom hold that.
    heads: Option<Heads>,
    caches: Pool<Cache, MakeCache>,
    signals: Vec<u32>,
    /// Anchored ones: they may match behind a log prefix, so each line is worth a look.
    always: Vec<u32>,
}

impl std::fmt::Debug for SlowLane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlowLane")
            .field("signals", &self.signals)
            .finish_non_exhaustive()
    }
}

impl SlowLane {
    /// Compiles the patterns of some signals; `anchored` tells those that ask for a line's start or end.
    pub(super) fn build(patterns: &[(u32, PatternSpec, bool)]) -> Result<Option<Self>, String> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let trees: Result<Vec<_>, PatternError> =
            patterns.iter().map(|(_, spec, _)| slow_tree(spec)).collect();
        let trees = trees.map_err(|error| error.to_string())?;
        let config = thompson::Config::new()
            .utf8(false)
            .which_captures(thompson::WhichCaptures::None)
            .nfa_size_limit(Some(MAX_BYTES));
        let nfa = thompson::Compiler::new()
            .configure(config)
            .build_many_from_hir(&trees)
            .map_err(|error| error.to_string())?;
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .unicode_word_boundary(true)
            .skip_cache_capacity_check(true);
        let automaton = DFA::builder()
            .configure(config)
            .build_from_nfa(nfa)
            .map_err(|error| error.to_string())?;
        let make: MakeCache = {
            let automaton = automaton.clone();
            Box::new(move || automaton.create_cache())
        };
        let anchored = patterns.iter().filter(|(_, _, anchored)| *anchored);
        Ok(Some(Self {
            heads: Heads::of(&automaton).filter(are_seldom),
            automaton,
            caches: Pool::new(make),
            signals: patterns.iter().map(|(signal, _, _)| *signal).collect(),
            always: anchored.map(|(signal, _, _)| *signal).collect(),
        }))
    }

    /// The signals worth a look, line by line: `visit` gets each and where its line begins. The lines are of one text.
    pub(crate) fn search(&self, lines: &[u8], mut visit: impl FnMut(Found, usize)) {
        let mut cache = self.caches.get();
        let mut matched = PatternSet::new(self.signals.len());
        let mut start = 0;
        // Where no line needs to be asked for itself, one search runs over all of them to the next that may match: for
        // what matches begin with, or by the automaton.
        let mut one_by_one = !self.always.is_empty();
        while start < lines.len() {
            if !one_by_one && let Some(heads) = &self.heads {
                let Some(at) = heads.find(lines, start) else {
                    return;
                };
                start = line_start(lines, at);
            } else if !one_by_one {
                let rest = Input::new(lines).range(start..).earliest(true);
                match self.automaton.try_search_fwd(&mut cache, &rest) {
                    Ok(Some(end)) => start = line_start(lines, end.offset().saturating_sub(1).max(start)),
                    Ok(None) => return,
                    Err(_) => one_by_one = true,
                }
            }
            let rest = lines.get(start..).unwrap_or_default();
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            let line = rest.get(..end).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            self.ask(line, &mut cache, &mut matched, |signal| {
                visit(Found::Signal(signal), start);
            });
            start += end + 1;
        }
    }

    fn ask(&self, line: &[u8], cache: &mut Cache, matched: &mut PatternSet, visit: impl FnMut(u32)) {
        matched.clear();
        let read = self
            .automaton
            .try_which_overlapping_matches(cache, &Input::new(line), matched);
        // Where it gave up, at a word's edge beside letters of other scripts, the patterns decide one by one.
        let may = |at: usize| read.is_err() || PatternID::new(at).is_ok_and(|id| matched.contains(id));
        let signals = self.signals.iter().enumerate();
        signals
            .filter(|(at, _)| may(*at))
            .map(|(_, signal)| *signal)
            .chain(self.always.iter().copied())
            .for_each(visit);
    }

    pub(super) fn signals(&self) -> &[u32] {
        &self.signals
    }
}

fn are_seldom(heads: &Heads) -> bool {
    let lines = TYPICAL.lines();
    let held = lines
        .clone()
        .filter(|line| heads.find(line.as_bytes(), 0).is_some());
    held.count() * SELDOM < lines.count()
}

fn line_start(lines: &[u8], at: usize) -> usize {
    memrchr(b'\n', lines.get(..at).unwrap_or_default()).map_or(0, |end| end + 1)
}
