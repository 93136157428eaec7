//! The first look at every byte: which literals of which signals stand where, apart from ASCII case.
//!
//! Of each literal the four bytes that say the most are its key; one of three bytes is its own. One look into a table
//! asks each window of four bytes: the hash of its first three names the place, the last five bits of the fourth the bit
//! there. Where the bit is set, the sixteen bytes around the window are compared with those of the literals that have the
//! key. The same hash tells which triples of bytes a line holds, for what a literal wakes may need others elsewhere on
//! the line: see [`Needs`]. The cost of a byte does not depend on the number of literals, and hardly on what they have in
//! common.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::around::{Around, Literal, Near};
use super::entries::Entry;
use super::grams::{Grams, Needs, triple_hash};
use super::key_offsets::Keys;
use super::{index, place};

/// Bits of a place in the table of windows: 128 KiB.
const WINDOW_BITS: u32 = 15;
const WINDOWS: usize = 1 << WINDOW_BITS;
/// What stands in the table for a literal of three bytes: any byte may follow.
const ANY_FOURTH: u32 = u32::MAX;
/// Sets the bit that tells ASCII letters' cases apart. Other bytes lose it too: a key only proposes.
const FOLD: u32 = 0x2020_2020;
/// Keys of four bytes are grouped by their hash, and those of three.
const FOUR_GROUP_BITS: u32 = 13;
const THREE_GROUP_BITS: u32 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Found {
    Signal(u32),
    /// A chain of a pattern is worth a look on this line: the signal and the chain's place.
    Chain(u32, u16),
    Family(u16),
    /// Words behind which a text says what machine it was written on; their place in the scanner's list.
    Stated(u16),
    /// Words with which a program's own report of an error begins.
    Raised,
}

#[derive(Debug)]
pub(crate) struct Filter {
    /// For the hash of three bytes the fourth bytes, by their last five bits, that a key has behind them. ASCII letters
    /// differ from their other case in none of these bits.
    windows: Box<[u32; WINDOWS]>,
    /// Literals with a key of four bytes, and those of three bytes.
    four: Groups,
    three: Groups,
    /// What the literals wake, one after the other, and where each one's begins; one more at the end.
    wakes: Vec<(Needs, Found)>,
    wake_bounds: Vec<u32>,
    families: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Groups {
    /// Where each group begins; one more at the end.
    bounds: Vec<u32>,
    literals: Vec<Literal>,
    near: Vec<Near>,
}

#[derive(Debug, Default)]
pub(crate) struct Glance {
    pub(crate) grams: Grams,
    /// Windows that the table knows. Longer than any line so far: written without a branch, which processors
    /// would often predict wrongly.
    known: Vec<u32>,
}

impl Glance {
    pub(crate) fn give_back(&mut self) {
        self.known = Vec::new();
    }
}

#[derive(Default)]
pub(super) struct Literals {
    places: FxHashMap<Vec<u8>, u32>,
    four: Vec<Literal>,
    three: Vec<Literal>,
    wakes: Vec<Vec<(Needs, Found)>>,
    families: Vec<Vec<u8>>,
}

impl Literals {
    /// Lets a literal (ASCII lower case; one below three bytes wakes nothing) wake something on lines that may hold what else it needs.
    pub(super) fn add(&mut self, literal: &[u8], keys: &mut Keys<'_>, needs: Needs, wakes: Found) {
        if let Some(offset) = keys.offset(literal) {
            self.add_at(literal, offset, needs, wakes);
        }
    }

    pub(super) fn add_entry(&mut self, entry: &Entry, wakes: Found) {
        self.add_at(&entry.literal, entry.offset, entry.needs, wakes);
    }

    fn add_at(&mut self, literal: &[u8], key: usize, needs: Needs, wakes: Found) {
        let next = place(self.wakes.len());
        let at = self.places.get(literal).copied().unwrap_or(next);
        if at == next {
            self.places.insert(literal.to_vec(), next);
            let list = if literal.len() > 3 {
                &mut self.four
            } else {
                &mut self.three
            };
            list.push(Literal::new(literal, key, at));
            self.wakes.push(Vec::new());
        }
        if let Some(known) = self.wakes.get_mut(index(at))
            && known.last() != Some(&(needs, wakes))
        {
            known.push((needs, wakes));
        }
    }

    pub(super) fn family(&mut self, word: &[u8], keys: &mut Keys<'_>) -> Option<u16> {
        if let Some(known) = self.families.iter().position(|family| family == word) {
            return u16::try_from(known).ok();
        }
        let family = u16::try_from(self.families.len()).ok()?;
        self.families.push(word.to_vec());
        self.add(word, keys, Needs::default(), Found::Family(family));
        Some(family)
    }

    pub(super) fn known_family(&self, word: &[u8]) -> Option<u16> {
        let place = self.families.iter().position(|family| family == word)?;
        u16::try_from(place).ok()
    }

    pub(super) fn build(self) -> Filter {
        let mut wake_bounds = Vec::with_capacity(self.wakes.len() + 1);
        wake_bounds.push(0);
        let mut sum = 0;
        wake_bounds.extend(self.wakes.iter().map(|wakes| {
            sum += place(wakes.len());
            sum
        }));
        let mut windows = Box::new(empty::<WINDOWS>());
        let mut add = |key: u32, fourths: u32| {
            if let Some(known) = windows.get_mut(window_place(triple_hash(key))) {
                *known |= fourths;
            }
        };
        for literal in &self.four {
            add(literal.key(), 1 << (literal.key() >> 24 & 31));
        }
        for literal in &self.three {
            add(literal.key(), ANY_FOURTH);
        }
        Filter {
            windows,
            four: Groups::of(self.four, FOUR_GROUP_BITS, four_group),
            three: Groups::of(self.three, THREE_GROUP_BITS, three_group),
            wakes: self.wakes.into_iter().flatten().collect(),
            wake_bounds,
            families: self.families,
        }
    }
}

impl Groups {
    fn of(mut literals: Vec<Literal>, bits: u32, group: fn(u32) -> usize) -> Self {
        let group = |literal: &Literal| group(literal.key());
        literals.sort_by_key(group);
        let mut bounds = vec![0_u32; (1 << bits) + 1];
        for literal in &literals {
            if let Some(count) = bounds.get_mut(group(literal) + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for count in &mut bounds {
            sum += *count;
            *count = sum;
        }
        Self {
            bounds,
            near: literals.iter().map(Literal::near).collect(),
            literals,
        }
    }

    #[inline]
    fn near(&self, group: usize, around: &Around) -> impl Iterator<Item = &Literal> {
        let bounds = self.bounds.get(group..group + 2).unwrap_or_default();
        let (first, end) = match *bounds {
            [first, end] => (index(first), index(end)),
            _ => (0, 0),
        };
        let near = self.near.get(first..end).unwrap_or_default();
        (first..)
            .zip(near)
            .filter(|(_, near)| near.may_stand(around))
            .filter_map(|(at, _)| self.literals.get(at))
    }
}

fn empty<const PLACES: usize>() -> [u32; PLACES] {
    [0; PLACES]
}

fn four_group(window: u32) -> usize {
    index((window | FOLD).wrapping_mul(0x9e37_79b1) >> (32 - FOUR_GROUP_BITS))
}

fn three_group(window: u32) -> usize {
    index(triple_hash(window) >> (32 - THREE_GROUP_BITS))
}

fn window_place(hash: u32) -> usize {
    index(hash >> (32 - WINDOW_BITS))
}

impl Filter {
    /// Visits what a line's literals wake, once for each place of one of them. The line's triples are in `glance` behind it.
    pub(crate) fn search(
        &self,
        text: &[u8],
        line: Range<usize>,
        glance: &mut Glance,
        mut visit: impl FnMut(Found),
    ) {
        let Glance { grams, known } = glance;
        // Behind the line stands its end, so that its last three bytes are a window too; else a blank does.
        let bytes = text
            .get(line.start..text.len().min(line.end + 1))
            .unwrap_or_default();
        if known.len() < bytes.len() + 1 {
            known.resize(bytes.len() + 1, 0);
        }
        let (windows, known) = (&*self.windows, known.as_mut_slice());
        let mut count = 0;
        let mut seen = grams.begin();
        let mut look = |at: u32, window: u32| {
            let hash = triple_hash(window);
            seen.add(hash);
            let fourths = windows.get(window_place(hash)).copied().unwrap_or_default();
            if let Some(place) = known.get_mut(count) {
                *place = at;
            }
            count += index(fourths >> (window >> 24 & 31) & 1);
        };
        for (at, window) in (0..).zip(bytes.windows(4)) {
            if let Ok(window) = <[u8; 4]>::try_from(window) {
                look(at, u32::from_le_bytes(window));
            }
        }
        if line.end >= text.len()
            && let Some(&[a, b, c]) = bytes.last_chunk::<3>()
        {
            look(place(bytes.len() - 3), u32::from_le_bytes([a, b, c, b' ']));
        }
        for at in known.get(..count).unwrap_or_default() {
            self.compare(text, line.start + index(*at), |literal| {
                self.wake(literal, grams, &mut visit);
            });
        }
    }

    /// The window at `at` may be a key: calls `visit` with the literals that have it and stand there.
    #[inline]
    fn compare(&self, text: &[u8], at: usize, mut visit: impl FnMut(u32)) {
        let around = Around::new(text, at);
        let window = around.window();
        let mut visit = |literal: &Literal| {
            if literal.stands(&around, text) {
                visit(literal.place());
            }
        };
        if self.windows.get(window_place(triple_hash(window))) == Some(&ANY_FOURTH) {
            self.three.near(three_group(window), &around).for_each(&mut visit);
        }
        self.four.near(four_group(window), &around).for_each(&mut visit);
    }

    fn wake(&self, literal: u32, grams: &Grams, mut visit: impl FnMut(Found)) {
        let bound = |at: usize| self.wake_bounds.get(at).copied().map_or(0, index);
        let woken = self.wakes.get(bound(index(literal))..bound(index(literal) + 1));
        for (needs, found) in woken.into_iter().flatten() {
            if grams.hold(*needs) {
                visit(*found);
            }
        }
    }

    pub(super) fn family(&self, number: u16) -> Option<&[u8]> {
        self.families.get(usize::from(number)).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, LazyLock};

    use proptest::prelude::*;

    use super::super::key_offsets::KeyOffsets;
    use super::super::keys::Rarity;
    use super::*;

    /// Literals of all lengths from three bytes on, many of them parts of each other.
    fn literals() -> Vec<String> {
        let long = "cannot open [peer@access] path_9 to device 显存";
        let ends = long.char_indices().map(|(end, _)| end).filter(|end| *end > 0);
        let parts = ends.flat_map(|end| {
            let starts = [0, end.saturating_sub(3), end.saturating_sub(8), end / 2];
            starts.map(|start| long.get(start..end).unwrap_or_default().to_owned())
        });
        parts.filter(|part| part.len() > 2).collect()
    }

    /// Finds the literals, each by its number; of each the text.
    static FILTER: LazyLock<(Filter, Vec<String>)> = LazyLock::new(|| {
        let known = KeyOffsets::default();
        let mut keys = known.of(Arc::new(Rarity::learn([])), 0);
        let mut collected = Literals::default();
        let mut known: Vec<String> = Vec::new();
        for literal in literals() {
            if !known.contains(&literal) {
                let number = Found::Signal(place(known.len()));
                collected.add(literal.as_bytes(), &mut keys, Needs::default(), number);
                known.push(literal);
            }
        }
        (collected.build(), known)
    });

    /// The lines of a text, without their ends.
    fn lines(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
        let mut start = 0;
        text.split(|byte| *byte == b'\n').map(move |line| {
            let range = start..start + line.len();
            start = range.end + 1;
            range
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn a_literal_is_found_wherever_it_stands(
            pieces in prop::collection::vec(
                prop_oneof![3 => prop::sample::select(literals()), 1 => "[ -~]{0,9}", 1 => Just("@`{[\n".to_owned())],
                0..12,
            ),
            capitals in any::<u64>(),
        ) {
            let (filter, known) = &*FILTER;
            let capital = |at: usize| (capitals >> (at % 64)) & 1 == 1;
            let text: Vec<u8> = pieces
                .concat()
                .bytes()
                .enumerate()
                .map(|(at, byte)| if capital(at) { byte.to_ascii_uppercase() } else { byte })
                .collect();
            let mut glance = Glance::default();
            let lower = text.to_ascii_lowercase();
            for line in lines(&text) {
                let mut found = Vec::new();
                filter.search(&text, line.clone(), &mut glance, |woken| found.push(woken));
                found.sort_unstable();
                let stands = |literal: &String| {
                    let windows = lower[line.clone()].windows(literal.len());
                    windows.filter(|window| *window == literal.as_bytes()).count()
                };
                let there = (0..).zip(known);
                let there = there.flat_map(|(number, literal)| vec![Found::Signal(number); stands(literal)]);
                prop_assert_eq!(found, there.collect::<Vec<_>>());
            }
        }
    }
}
