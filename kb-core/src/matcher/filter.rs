//! The first look at every byte: which literals of which signals stand where, apart from ASCII case.
//!
//! Of each literal the four bytes that say the most are its key; one of three bytes is its own. Each window of folded
//! bytes is asked for in two bitmaps that fit the nearest caches, one for each length; where one answers, the sixteen
//! bytes around the window are compared with those of the literals that have the key. The cost of a byte does not depend on the number of literals, and hardly on what
//! they have in common. What a literal wakes may need triples of bytes elsewhere on the line: see [`Needs`].

use std::collections::HashMap;

use super::around::{Around, Literal, Near};
use super::grams::{Grams, Needs};
use super::keys::Rarity;
use super::{index, place};

/// Bits of the bitmap of keys of four bytes: 64 KiB.
const FOUR_BITS: u32 = 19;
/// The same for three bytes: 4 KiB, for there are few.
const THREE_BITS: u32 = 15;
/// Sets the bit that tells ASCII letters' cases apart. Other bytes lose it too: a key only proposes.
const FOLD: u32 = 0x2020_2020;
const FOUR_WORDS: usize = 1 << (FOUR_BITS - 6);
const THREE_WORDS: usize = 1 << (THREE_BITS - 6);
/// Keys are grouped by their hash.
const FOUR_GROUPS: usize = 1 << 13;
const THREE_GROUPS: usize = 1 << 9;
/// Windows that are asked for in the bitmap before those that it knows are compared.
const STRETCH: usize = 4096;

/// A literal was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Found {
    /// A signal is worth a look on this line.
    Signal(u32),
    /// A chain of a pattern is worth a look on this line: the signal and the chain's place.
    Chain(u32, u16),
    /// The word of a number family stands on this line.
    Family(u16),
    /// Words behind which a text says what machine it was written on; their place in the scanner's list.
    Stated(u16),
}

#[derive(Debug)]
pub(crate) struct Filter {
    /// Literals with a key of four bytes, and those of three bytes.
    four: Groups<FOUR_WORDS, FOUR_GROUPS>,
    three: Groups<THREE_WORDS, THREE_GROUPS>,
    /// What the literals wake, one after the other, and where each one's begins; one more at the end.
    wakes: Vec<(Needs, Found)>,
    wake_bounds: Vec<u32>,
    families: Vec<Vec<u8>>,
}

/// Literals by the hash of their key. `WORDS` of 64 bits are the bitmap; the upper bits of the hash are the group.
#[derive(Debug)]
struct Groups<const WORDS: usize, const GROUPS: usize> {
    /// The hashes of all keys.
    known: Box<[u64; WORDS]>,
    /// Where each group begins; one more at the end.
    bounds: Vec<u32>,
    literals: Vec<Literal>,
    /// Of each literal what is compared first.
    near: Vec<Near>,
}

/// Collects literals before the filter is made.
#[derive(Default)]
pub(super) struct Literals {
    places: HashMap<Vec<u8>, u32>,
    four: Vec<Literal>,
    three: Vec<Literal>,
    wakes: Vec<Vec<(Needs, Found)>>,
    families: Vec<Vec<u8>>,
}

impl Literals {
    /// Lets a literal (ASCII lower case, three bytes at least) wake something on lines that may hold what else it
    /// needs. A shorter one wakes nothing.
    pub(super) fn add(&mut self, literal: &[u8], rarity: &Rarity, needs: Needs, wakes: Found) {
        let Some(key) = rarity.key(literal) else {
            return;
        };
        let next = place(self.wakes.len());
        let at = *self.places.entry(literal.to_vec()).or_insert(next);
        if at == next {
            let list = if literal.len() > 3 {
                &mut self.four
            } else {
                &mut self.three
            };
            list.push(Literal::new(literal, key.offset, at));
            self.wakes.push(Vec::new());
        }
        if let Some(known) = self.wakes.get_mut(index(at))
            && known.last() != Some(&(needs, wakes))
        {
            known.push((needs, wakes));
        }
    }

    /// The number of a family word, which wakes it.
    pub(super) fn family(&mut self, word: &[u8], rarity: &Rarity) -> Option<u16> {
        if let Some(known) = self.families.iter().position(|family| family == word) {
            return u16::try_from(known).ok();
        }
        let family = u16::try_from(self.families.len()).ok()?;
        self.families.push(word.to_vec());
        self.add(word, rarity, Needs::default(), Found::Family(family));
        Some(family)
    }

    pub(super) fn build(self) -> Filter {
        let mut wake_bounds = Vec::with_capacity(self.wakes.len() + 1);
        wake_bounds.push(0);
        let mut sum = 0;
        wake_bounds.extend(self.wakes.iter().map(|wakes| {
            sum += place(wakes.len());
            sum
        }));
        Filter {
            four: Groups::of(self.four, four),
            three: Groups::of(self.three, three),
            wakes: self.wakes.into_iter().flatten().collect(),
            wake_bounds,
            families: self.families,
        }
    }
}

impl<const WORDS: usize, const GROUPS: usize> Groups<WORDS, GROUPS> {
    /// `hash` is that of a window.
    fn of(mut literals: Vec<Literal>, hash: fn(u32) -> u32) -> Self {
        let hash = |literal: &Literal| hash(literal.key());
        let group = |literal: &Literal| Self::group(hash(literal));
        literals.sort_by_key(group);
        let mut known = Box::new([0_u64; WORDS]);
        let mut bounds = vec![0_u32; GROUPS + 1];
        for literal in &literals {
            let hash = hash(literal);
            if let Some(word) = known.get_mut(index(hash >> 6) % WORDS) {
                *word |= 1 << (hash & 63);
            }
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
            known,
            bounds,
            near: literals.iter().map(Literal::near).collect(),
            literals,
        }
    }

    /// Whether a literal may have the key with this hash.
    #[inline]
    fn know(&self, hash: u32) -> bool {
        let word = self.known.get(index(hash >> 6) % WORDS).copied();
        (word.unwrap_or_default() >> (hash & 63)) & 1 != 0
    }

    fn group(hash: u32) -> usize {
        index(hash) * GROUPS / (WORDS * 64)
    }

    /// The literals with this hash of their key that may stand there.
    #[inline]
    fn near(&self, hash: u32, around: &Around) -> impl Iterator<Item = &Literal> {
        let group = Self::group(hash);
        let bound = |at: usize| self.bounds.get(at).copied().map_or(0, index);
        let first = bound(group);
        let near = self.near.get(first..bound(group + 1)).unwrap_or_default();
        (first..)
            .zip(near)
            .filter(|(_, near)| near.may_stand(around))
            .filter_map(|(at, _)| self.literals.get(at))
    }
}

/// The hash of four bytes, apart from case.
fn four(window: u32) -> u32 {
    (window | FOLD).wrapping_mul(0x9e37_79b1) >> (32 - FOUR_BITS)
}

/// The hash of the first three bytes of a window, apart from case.
fn three(window: u32) -> u32 {
    ((window | FOLD) << 8).wrapping_mul(0x9e37_79b1) >> (32 - THREE_BITS)
}

impl Filter {
    /// Calls `visit` with each literal in `bytes` and a place within the literal, in the order of the places.
    pub(crate) fn search(&self, bytes: &[u8], mut visit: impl FnMut(u32, usize)) {
        // Both are asked without a branch.
        let is_key = |window: u32| self.four.know(four(window)) | self.three.know(three(window));
        // What the bitmaps know is noted without a branch, for hardly any processor foresees it.
        let mut known = [0_u16; STRETCH];
        let mut from = 0;
        while let Some(stretch) = bytes.get(from..).filter(|rest| rest.len() >= 4) {
            let stretch = stretch.get(..STRETCH + 3).unwrap_or(stretch);
            let mut count = 0_usize;
            for (at, window) in (0_u16..).zip(stretch.windows(4)) {
                let Ok(window) = <[u8; 4]>::try_from(window) else {
                    continue;
                };
                if let Some(place) = known.get_mut(count % STRETCH) {
                    *place = at;
                }
                count += usize::from(is_key(u32::from_le_bytes(window)));
            }
            for at in known.get(..count).unwrap_or_default() {
                self.compare(bytes, from + usize::from(*at), &mut visit);
            }
            from += stretch.len() - 3;
        }
        // Behind the last byte stands a blank, so that three bytes at the end are a window too.
        if let Some(&[a, b, c]) = bytes.last_chunk::<3>()
            && is_key(u32::from_le_bytes([a, b, c, b' ']))
        {
            self.compare(bytes, bytes.len() - 3, &mut visit);
        }
    }

    /// The window at `at` may be a key: compares the literals that have it.
    #[inline]
    fn compare(&self, bytes: &[u8], at: usize, visit: &mut impl FnMut(u32, usize)) {
        let around = Around::new(bytes, at);
        let (four, three) = (four(around.window()), three(around.window()));
        let mut visit_near = |literal: &Literal| {
            if literal.stands(&around, bytes) {
                visit(literal.place(), at);
            }
        };
        if self.four.know(four) {
            self.four.near(four, &around).for_each(&mut visit_near);
        }
        if self.three.know(three) {
            self.three.near(three, &around).for_each(&mut visit_near);
        }
    }

    /// Calls `visit` with what a literal wakes on a line with these triples.
    pub(crate) fn wake(&self, literal: u32, grams: &Grams, mut visit: impl FnMut(Found)) {
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
    use std::collections::BTreeSet;
    use std::sync::LazyLock;

    use proptest::prelude::*;

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

    /// Finds the literals, each by its number; of each the text and where its key stands.
    static FILTER: LazyLock<(Filter, Vec<(String, usize)>)> = LazyLock::new(|| {
        let rarity = Rarity::learn([]);
        let mut collected = Literals::default();
        let mut known: Vec<(String, usize)> = Vec::new();
        for literal in literals() {
            collected.add(literal.as_bytes(), &rarity, Needs::default(), Found::Signal(0));
            if !known.iter().any(|(text, _)| *text == literal) {
                let offset = rarity.key(literal.as_bytes()).unwrap().offset;
                known.push((literal, offset));
            }
        }
        (collected.build(), known)
    });

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
            let mut found = BTreeSet::new();
            filter.search(&text, |literal, at| {
                found.insert((index(literal), at));
            });
            let lower = text.to_ascii_lowercase();
            let mut there = BTreeSet::new();
            for (number, (literal, offset)) in known.iter().enumerate() {
                let windows = lower.windows(literal.len()).enumerate();
                let stands = windows.filter(|(_, window)| *window == literal.as_bytes());
                there.extend(stands.map(|(start, _)| (number, start + offset)));
            }
            prop_assert_eq!(found, there);
        }
    }
}
