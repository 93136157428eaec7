//! The first look at every byte: which literals of which signals stand where, apart from ASCII case.
//!
//! Of each literal the four bytes that say the most are its key. A rolling window of four folded bytes is asked for in
//! a bitmap that fits the nearest caches; only where it answers, the keys and then the literals themselves are compared.
//! The cost of a byte does not depend on the number of literals, and hardly on what they have in common.

use std::collections::HashMap;

use super::keys::Rarity;
use super::{index, place};

/// Bits of the bitmap: 64 KiB.
const HASH_BITS: u32 = 19;
/// Keys are grouped by this many bits of their hash.
const GROUP_BITS: u32 = 13;
/// Sets the bit that tells ASCII letters' cases apart. Other bytes lose it too: a key only proposes.
const FOLD: u32 = 0x2020_2020;

/// A literal was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Found {
    /// A signal is worth a look on this line.
    Signal(u32),
    /// A chain of a pattern is worth a look on this line: the signal and the chain's place.
    Chain(u32, u16),
    /// The word of a number family stands on this line.
    Family(u16),
}

#[derive(Debug)]
pub(crate) struct Filter {
    bitmap: Vec<u64>,
    /// Where each group of `keys` begins; one more at the end.
    groups: Vec<u32>,
    keys: Vec<Entry>,
    literals: Vec<Literal>,
    families: Vec<Vec<u8>>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u32,
    literal: u32,
}

#[derive(Debug)]
struct Literal {
    text: Box<[u8]>,
    /// Where the key stands in it.
    offset: usize,
    wakes: Vec<Found>,
}

/// Collects literals before the filter is made.
#[derive(Default)]
pub(super) struct Literals {
    places: HashMap<Vec<u8>, u32>,
    list: Vec<Literal>,
    families: Vec<Vec<u8>>,
}

impl Literals {
    /// Lets a literal (ASCII lower case, three bytes at least) wake something. A shorter one wakes nothing.
    pub(super) fn add(&mut self, literal: &[u8], rarity: &Rarity, wakes: Found) {
        let Some(key) = rarity.key(literal) else {
            return;
        };
        let next = place(self.list.len());
        let at = *self.places.entry(literal.to_vec()).or_insert(next);
        if at == next {
            self.list.push(Literal {
                text: literal.into(),
                offset: key.offset,
                wakes: Vec::new(),
            });
        }
        if let Some(known) = self.list.get_mut(index(at))
            && known.wakes.last() != Some(&wakes)
        {
            known.wakes.push(wakes);
        }
    }

    /// The number of a family word, which wakes it.
    pub(super) fn family(&mut self, word: &[u8], rarity: &Rarity) -> Option<u16> {
        if let Some(known) = self.families.iter().position(|family| family == word) {
            return u16::try_from(known).ok();
        }
        let family = u16::try_from(self.families.len()).ok()?;
        self.families.push(word.to_vec());
        self.add(word, rarity, Found::Family(family));
        Some(family)
    }

    pub(super) fn build(self) -> Filter {
        let mut keys = Vec::new();
        for (at, literal) in self.list.iter().enumerate() {
            let at = place(at);
            for key in folded_keys(literal) {
                keys.push(Entry { key, literal: at });
            }
        }
        keys.sort_by_key(|entry| hash(entry.key));
        let mut bitmap = vec![0_u64; 1 << (HASH_BITS - 6)];
        let mut groups = vec![0_u32; (1 << GROUP_BITS) + 1];
        for entry in &keys {
            let hash = hash(entry.key);
            if let Some(word) = bitmap.get_mut(index(hash >> 6)) {
                *word |= 1 << (hash & 63);
            }
            if let Some(count) = groups.get_mut(index(group(hash)) + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for count in &mut groups {
            sum += *count;
            *count = sum;
        }
        Filter {
            bitmap,
            groups,
            keys,
            literals: self.list,
            families: self.families,
        }
    }
}

/// The folded windows under which a literal is found: one, or for a literal of three bytes one for each byte that may
/// follow, which is a blank behind the end of the text.
fn folded_keys(literal: &Literal) -> Vec<u32> {
    let window = literal.text.get(literal.offset..).unwrap_or_default();
    match *window {
        [a, b, c] => (0x20..=0xff_u8)
            .filter(|next| next & 0x20 != 0)
            .map(|next| u32::from_le_bytes([a, b, c, next]) | FOLD)
            .collect(),
        [a, b, c, d, ..] => vec![u32::from_le_bytes([a, b, c, d]) | FOLD],
        _ => Vec::new(),
    }
}

fn hash(folded: u32) -> u32 {
    folded.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)
}

fn group(hash: u32) -> u32 {
    hash >> (HASH_BITS - GROUP_BITS)
}

impl Filter {
    /// Calls `visit` with what each literal in `bytes` wakes and a place within the literal, in the order of the places.
    pub(crate) fn search(&self, bytes: &[u8], mut visit: impl FnMut(Found, usize)) {
        if self.literals.is_empty() {
            return;
        }
        let Ok(bitmap) = <&[u64; 1 << (HASH_BITS - 6)]>::try_from(self.bitmap.as_slice()) else {
            return;
        };
        let Some((head, rest)) = bytes.split_at_checked(3) else {
            return;
        };
        let mut window = head
            .iter()
            .fold(0_u32, |window, byte| (window >> 8) | (u32::from(*byte) << 24));
        // Behind the last byte stands a blank, so that three bytes at the end are a window too.
        for (at, byte) in rest.iter().chain(b" ").enumerate() {
            window = (window >> 8) | (u32::from(*byte) << 24);
            let folded = window | FOLD;
            let hash = hash(folded);
            let word = bitmap.get(index(hash >> 6)).copied().unwrap_or_default();
            if (word >> (hash & 63)) & 1 != 0 {
                self.compare(folded, hash, at, bytes, &mut visit);
            }
        }
    }

    /// The window at `at` may be a key: compares the literals that have it.
    #[cold]
    #[inline(never)]
    fn compare(&self, folded: u32, hash: u32, at: usize, bytes: &[u8], visit: &mut impl FnMut(Found, usize)) {
        let group = index(group(hash));
        let bound = |at: usize| self.groups.get(at).copied().map_or(0, index);
        let keys = self.keys.get(bound(group)..bound(group + 1)).unwrap_or_default();
        for entry in keys.iter().filter(|entry| entry.key == folded) {
            let Some(literal) = self.literals.get(index(entry.literal)) else {
                continue;
            };
            let stands = at.checked_sub(literal.offset).is_some_and(|start| {
                let text = bytes.get(start..start + literal.text.len());
                text.is_some_and(|text| text.eq_ignore_ascii_case(&literal.text))
            });
            if stands {
                for found in &literal.wakes {
                    visit(*found, at);
                }
            }
        }
    }

    pub(super) fn family(&self, number: u16) -> Option<&[u8]> {
        self.families.get(usize::from(number)).map(Vec::as_slice)
    }
}
