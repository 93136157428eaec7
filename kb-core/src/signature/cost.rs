//! What a pattern costs on a text that is made against it.
//!
//! The engine follows every way in which a match may go on, so that each byte costs as many steps as there are such ways.
//! Their number is counted, and no clock is asked: the same pattern gets the same answer on every machine. The texts are
//! what the pattern begins with, again and again, and never goes on to its end.

use regex_automata::nfa::thompson::{Config, NFA, State, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::{Class, ClassBytesRange, ClassUnicodeRange, Hir, HirKind};

use super::PatternError;

/// Ways that a byte may keep open, on average over a text. One took 8 ns where it was measured, so that 1 MB of a text at
/// this bound takes some two seconds, and the 64 KiB of the longest line an eighth of one.
const MOST_WAYS: usize = 250;
/// Bytes of each text: more than the longest bounded gaps that patterns use.
const TEXT_BYTES: usize = 2048;
/// Beginnings of a pattern that are tried.
const MOST_TEXTS: usize = 16;
/// Longest beginning, in bytes.
const MOST_UNIT: usize = 512;

/// Refuses a pattern that keeps too many ways open.
pub(super) fn check(hir: &Hir) -> Result<(), PatternError> {
    let Some(nfa) = automaton(hir) else {
        // What does not compile is refused as too large.
        return Ok(());
    };
    for unit in beginnings(hir) {
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
    }
    Ok(())
}

fn automaton(hir: &Hir) -> Option<NFA> {
    let config = Config::new()
        .utf8(false)
        .nfa_size_limit(Some(super::check::MAX_COMPILED_BYTES))
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

/// Texts that the pattern may begin with, never the whole of it.
fn beginnings(hir: &Hir) -> Vec<Vec<u8>> {
    let mut units = Vec::new();
    for alternative in alternatives(hir) {
        let parts = parts(alternative);
        let mut unit = Vec::new();
        for part in parts.iter().take(parts.len().saturating_sub(1)) {
            sample(part, &mut unit);
            unit.truncate(MOST_UNIT);
            if !unit.is_empty() && units.last() != Some(&unit) {
                units.push(unit.clone());
            }
        }
    }
    // Of many the longest: they keep most ways open.
    let skipped = units.len().saturating_sub(MOST_TEXTS);
    units.split_off(skipped)
}

fn alternatives(hir: &Hir) -> Vec<&Hir> {
    match hir.kind() {
        HirKind::Alternation(children) => children.iter().collect(),
        HirKind::Capture(group) => alternatives(&group.sub),
        _ => vec![hir],
    }
}

fn parts(hir: &Hir) -> Vec<&Hir> {
    match hir.kind() {
        HirKind::Concat(children) => children.iter().flat_map(parts).collect(),
        HirKind::Capture(group) => parts(&group.sub),
        _ => vec![hir],
    }
}

/// The shortest text of a part, as far as it is easily told.
fn sample(hir: &Hir, into: &mut Vec<u8>) {
    if into.len() > MOST_UNIT {
        return;
    }
    match hir.kind() {
        HirKind::Literal(literal) => into.extend_from_slice(&literal.0),
        HirKind::Class(class) => {
            let mut buffer = [0; 4];
            match class {
                Class::Unicode(class) => {
                    let letter = class.ranges().first().map(ClassUnicodeRange::start);
                    let text = letter.map(|letter| letter.encode_utf8(&mut buffer).as_bytes().to_vec());
                    into.extend(text.unwrap_or_default());
                }
                Class::Bytes(class) => into.extend(class.ranges().first().map(ClassBytesRange::start)),
            }
        }
        HirKind::Repetition(repetition) => {
            for _ in 0..repetition.min.min(64) {
                sample(&repetition.sub, into);
            }
        }
        HirKind::Capture(group) => sample(&group.sub, into),
        HirKind::Concat(children) => children.iter().for_each(|child| sample(child, into)),
        HirKind::Alternation(children) => {
            if let Some(first) = children.first() {
                sample(first, into);
            }
        }
        HirKind::Empty | HirKind::Look(_) => {}
    }
}
