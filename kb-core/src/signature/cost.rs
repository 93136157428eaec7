//! What a pattern costs on a text that is made against it.
//!
//! The engine follows every way in which a match may go on, so that each byte costs as many steps as there are such ways.
//! Their number is counted, and no clock is asked: the same pattern gets the same answer on every machine. The texts are
//! what the pattern begins with, again and again, and never goes on to its end.

use regex_automata::nfa::thompson::{Config, NFA, State, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::Hir;

use super::PatternError;
use super::beginnings::beginnings;

/// Largest compiled form of one pattern, in bytes; the compiler stops there.
pub(super) const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Ways that a byte may keep open, on average over a text. One took 8 ns where it was measured, so that 1 MB of a text at
/// this bound takes some two seconds, and the 64 KiB of the longest line an eighth of one.
const MOST_WAYS: usize = 250;
/// Bytes of each text: more than the longest bounded gaps that patterns use.
const TEXT_BYTES: usize = 2048;
/// Beginnings of a pattern that are tried; what has more is refused, for nobody can say what it costs.
const MOST_TEXTS: usize = 1024;
/// Steps of all texts together: a quarter of a second, where one text at the bound takes 4 ms.
const MOST_STEPS: usize = 64 * TEXT_BYTES * MOST_WAYS;

/// What a pattern costs on the worst text that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Ways to go on that each byte keeps open, on average over the text.
    pub ways: usize,
    /// A pattern with more is refused.
    pub most_ways: usize,
}

/// Counts the ways that a pattern keeps open; one that keeps too many is refused.
pub(super) fn check(hir: &Hir) -> Result<Cost, PatternError> {
    let mut cost = Cost {
        ways: 1,
        most_ways: MOST_WAYS,
    };
    let Some(nfa) = automaton(hir) else {
        // What does not compile is refused as too large.
        return Ok(cost);
    };
    let Some(units) = beginnings(hir, MOST_TEXTS) else {
        return Err(too_many());
    };
    let mut all_steps = 0;
    for unit in units {
        let steps = steps(&nfa, &unit, TEXT_BYTES * MOST_WAYS);
        if steps > TEXT_BYTES * MOST_WAYS {
            return Err(PatternError::new(
                "pattern/too-costly",
                format!(
                    "on the text {:?}, repeated, more than {MOST_WAYS} ways to go on are open at each byte",
                    String::from_utf8_lossy(unit.get(..unit.len().min(60)).unwrap_or_default())
                ),
                "use shorter gaps ({0,80}), fewer of them, or one pattern for each part",
            ));
        }
        cost.ways = cost.ways.max(steps.div_ceil(TEXT_BYTES));
        all_steps += steps;
        if all_steps > MOST_STEPS {
            return Err(too_many());
        }
    }
    Ok(cost)
}

fn too_many() -> PatternError {
    PatternError::new(
        "pattern/too-costly",
        "it may begin in more ways than are tried".to_owned(),
        "use fewer alternatives, or one pattern for each",
    )
}

fn automaton(hir: &Hir) -> Option<NFA> {
    let config = Config::new()
        .utf8(false)
        .nfa_size_limit(Some(MAX_COMPILED_BYTES))
        .which_captures(WhichCaptures::None);
    NFA::compiler().configure(config).build_from_hir(hir).ok()
}

/// States visited while the text is read; the count ends soon after `most`.
fn steps(nfa: &NFA, unit: &[u8], most: usize) -> usize {
    let states = nfa.states().len();
    let mut seen = vec![usize::MAX; states];
    let mut open: Vec<StateID> = Vec::new();
    let mut stack: Vec<StateID> = Vec::new();
    let mut steps = 0;
    let mut next: Vec<StateID> = Vec::new();
    for (at, byte) in unit.iter().cycle().take(TEXT_BYTES).enumerate() {
        stack.push(nfa.start_unanchored());
        stack.append(&mut next);
        open.clear();
        while let Some(id) = stack.pop() {
            if seen.get(id.as_usize()).is_none_or(|seen| *seen == at) {
                continue;
            }
            if let Some(seen) = seen.get_mut(id.as_usize()) {
                *seen = at;
            }
            steps += 1;
            match nfa.state(id) {
                State::Look { next, .. } | State::Capture { next, .. } => stack.push(*next),
                State::Union { alternates } => stack.extend(alternates.iter().copied()),
                State::BinaryUnion { alt1, alt2 } => stack.extend([*alt1, *alt2]),
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => open.push(id),
                State::Fail | State::Match { .. } => {}
            }
        }
        if steps > most {
            break;
        }
        next.extend(open.iter().filter_map(|id| match nfa.state(*id) {
            State::ByteRange { trans } => trans.matches_byte(*byte).then_some(trans.next),
            State::Sparse(sparse) => sparse.matches_byte(*byte),
            State::Dense(dense) => dense.matches_byte(*byte),
            _ => None,
        }));
    }
    steps
}
