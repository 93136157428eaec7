//! How a match of some patterns may begin: its first three bytes, asked of every place of a text by three looks into a
//! table. Where no place answers, the automaton of the patterns needs not run.

use regex_automata::Anchored;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::start;

const LENGTH: usize = 3;
/// Kinds of head that the table tells apart, one bit each.
const KINDS: usize = 32;
/// Most ways to begin that are walked; with more the patterns begin with anything.
const MAX_WAYS: usize = 2048;
/// What may stand before a match as far as the automaton cares: nothing, a line's end, part of a word, other text.
const BEFORE: [Option<u8>; 5] = [None, Some(b'\n'), Some(b'\r'), Some(b'a'), Some(b' ')];

type Bytes = [bool; 256];
const ANY: Bytes = [true; 256];
const NONE: Bytes = [false; 256];

/// One way to begin: what each of the first bytes may be.
type Way = [Bytes; LENGTH];

/// The table: for each byte the kinds of head that may have it first, second and third.
pub(super) struct Heads(Box<[[u32; LENGTH]; 256]>);

impl Heads {
    /// Reads an automaton's ways to begin. `None` if they are too many.
    pub(super) fn of(automaton: &DFA) -> Option<Self> {
        let mut cache = automaton.create_cache();
        let mut ways = Vec::new();
        for before in BEFORE {
            let config = start::Config::new().anchored(Anchored::Yes).look_behind(before);
            let start = automaton.start_state(&mut cache, &config).ok()?;
            walk(automaton, &mut cache, start, &mut vec![], &mut ways)?;
        }
        // States are numbered anew when the cache runs over.
        if cache.clear_count() > 0 {
            return None;
        }
        for free in (0..LENGTH).rev() {
            merge(&mut ways, free);
        }
        let mut table = Box::new([[0; LENGTH]; 256]);
        for (number, way) in ways.iter().enumerate() {
            for (byte, kinds) in table.iter_mut().enumerate() {
                for (kinds, bytes) in kinds.iter_mut().zip(way) {
                    let holds = bytes.get(byte).copied().unwrap_or_default();
                    *kinds |= u32::from(holds) << (number % KINDS);
                }
            }
        }
        Some(Self(table))
    }

    /// The first place from `from` on where a match may begin. Behind the text a line's end is taken to stand.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        let (mut one, mut two) = (0, 0);
        let rest = text.get(from..)?;
        let end = [b'\n'; LENGTH - 1];
        let mut look = |byte: u8| {
            let [first, second, third] = self.0.get(usize::from(byte)).copied().unwrap_or_default();
            let found = two & third != 0;
            (one, two) = (first, one & second);
            found
        };
        let behind = match rest.iter().position(|byte| look(*byte)) {
            Some(behind) => behind,
            None => rest.len() + end.iter().position(|byte| look(*byte))?,
        };
        Some(from + behind + 1 - LENGTH)
    }
}

fn walk(
    automaton: &DFA,
    cache: &mut Cache,
    state: LazyStateID,
    taken: &mut Vec<Bytes>,
    ways: &mut Vec<Way>,
) -> Option<()> {
    if state.is_dead() {
        return Some(());
    }
    if taken.len() == LENGTH || state.is_match() || state.is_quit() {
        let at = |place: usize| taken.get(place).copied().unwrap_or(ANY);
        ways.push(std::array::from_fn(at));
        return (ways.len() <= MAX_WAYS).then_some(());
    }
    let mut next: Vec<(LazyStateID, Bytes)> = Vec::new();
    for byte in 0..=u8::MAX {
        let target = automaton.next_state(cache, state, byte).ok()?;
        if next.iter().all(|(known, _)| *known != target) {
            next.push((target, NONE));
        }
        if let Some((_, bytes)) = next.iter_mut().find(|(known, _)| *known == target)
            && let Some(holds) = bytes.get_mut(usize::from(byte))
        {
            *holds = true;
        }
    }
    for (target, bytes) in next {
        taken.push(bytes);
        walk(automaton, cache, target, taken, ways)?;
        taken.pop();
    }
    Some(())
}

/// Makes one of the ways that differ in one byte only.
fn merge(ways: &mut Vec<Way>, free: usize) {
    let mut merged: Vec<Way> = Vec::new();
    for way in ways.drain(..) {
        let same = |known: &&mut Way| (0..LENGTH).all(|at| at == free || known.get(at) == way.get(at));
        let Some(known) = merged.iter_mut().find(same) else {
            merged.push(way);
            continue;
        };
        if let (Some(known), Some(more)) = (known.get_mut(free), way.get(free)) {
            known
                .iter_mut()
                .zip(more)
                .for_each(|(known, more)| *known |= more);
        }
    }
    *ways = merged;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_automata::meta::Regex;

    use super::*;

    const PATTERN: &str = r"(?i)W/|\\[0-9]{3}|6.4|(?-u:\b)ab(?-u:\b)|(?m:^)x[12]|显存";

    fn places(heads: &Heads, text: &str) -> Vec<usize> {
        let mut from = 0;
        let next = || {
            let at = heads.find(text.as_bytes(), from)?;
            from = at + 1;
            Some(at)
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn a_head_is_where_a_match_may_begin() {
        let heads = Heads::of(&DFA::new(PATTERN).unwrap()).unwrap();
        for (text, expected) in [
            ("a W/ b w/", vec![2, 7]),
            (r"a\1 \123", vec![4]),
            ("64 6x4 6é4", vec![3, 7]),
            ("abc ab", vec![4]),
            ("x1 x3", vec![0]),
            ("存 显", vec![4]),
            ("6", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(places(&heads, text), expected, "in {text:?}");
        }
    }

    #[test]
    fn patterns_that_begin_with_anything_have_heads_everywhere() {
        let heads = Heads::of(&DFA::new("a*").unwrap()).unwrap();
        assert_eq!(places(&heads, "xyz"), [0, 1, 2]);
    }

    proptest! {
        #[test]
        fn no_match_is_missed(text in r"[64xX \\12W/wabé显存\n]{0,24}") {
            let heads = Heads::of(&DFA::new(PATTERN).unwrap()).unwrap();
            let places = places(&heads, &text);
            let regex = Regex::new(PATTERN).unwrap();
            for start in text.char_indices().map(|(at, _)| at) {
                let found = regex.find(regex_automata::Input::new(&text).range(start..));
                prop_assert!(found.is_none_or(|found| places.contains(&found.start())), "{text:?}");
            }
        }
    }
}
