//! Which four bytes of a literal say the most: those that text hardly ever has.
//!
//! How common bytes are is learnt from the literals of all patterns, the everyday words of logs and some typical
//! lines: the chance of a window is that of its byte pairs, more where it stands in the typical lines itself.

use rustc_hash::FxHashMap;

use super::rarity::COMMON;

const WINDOW: usize = 4;
/// What a window of three bytes counts more, as a logarithm: it meets many continuations.
const SHORT: f32 = 4.0;
/// Digits and what surrounds them stand everywhere in logs, though in few patterns; so often a pair of them counts.
const DIGIT_PAIRS: f32 = 400.0;
/// What the text of common words counts more than a literal.
const COMMON_COUNTS: f32 = 4.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Key {
    pub(super) offset: usize,
    /// How common its window is, as a logarithm. Ordinal.
    pub(super) common: f32,
}

/// Lines as healthy programs write them.
pub(super) const TYPICAL: &str = include_str!("typical.txt");
/// What the text of typical lines counts more than a literal.
const TYPICAL_COUNTS: f32 = 20.0;
/// What each appearance of a window in the typical lines adds, as a logarithm; so much at most.
const SEEN: f32 = 1.5;
const MOST_SEEN: f32 = 6.0;

/// What a window adds, as a logarithm, that stands in an everyday word or in several literals: people write it often.
const EVERYDAY: f32 = 2.0;

/// How common pairs of bytes are, as logarithms.
#[derive(Debug)]
pub(super) struct Rarity {
    pub(super) literals: usize,
    pairs: Vec<f32>,
    /// Windows of three and of four bytes and how much more common they are than their pairs say: those of typical
    /// lines, of everyday words and of several literals.
    seen: FxHashMap<u32, f32>,
}

impl Rarity {
    pub(super) fn learn<'a>(literals: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut counts = vec![0.2_f32; 1 << 16];
        let mut add = |text: &[u8], weight: f32| {
            for pair in text.windows(2) {
                if let [a, b] = *pair
                    && let Some(count) = counts.get_mut(place(a, b))
                {
                    *count += weight;
                }
            }
        };
        let mut literals_with: FxHashMap<u32, (usize, f32)> = FxHashMap::default();
        let mut learnt_from = 0;
        for (number, literal) in literals.into_iter().enumerate() {
            learnt_from = number + 1;
            add(literal, 1.0);
            for window in literal.windows(WINDOW) {
                // Each literal counts a window once.
                let (last, count) = literals_with.entry(code(window)).or_insert((usize::MAX, 0.0));
                *count += if *last == number { 0.0 } else { 1.0 };
                *last = number;
            }
        }
        for word in COMMON.split_whitespace() {
            add(format!(" {word} ").as_bytes(), COMMON_COUNTS);
        }
        let typical = TYPICAL.to_ascii_lowercase();
        add(typical.as_bytes(), TYPICAL_COUNTS);
        let digits = b"0123456789";
        for a in digits {
            for b in digits {
                add(&[*a, *b], DIGIT_PAIRS);
            }
            for mark in b" .:-/,=[]()" {
                add(&[*a, *mark], DIGIT_PAIRS);
                add(&[*mark, *a], DIGIT_PAIRS);
            }
        }
        for count in &mut counts {
            *count = count.ln();
        }
        let mut seen = FxHashMap::default();
        for (window, (_, count)) in literals_with {
            if count > 1.0 {
                seen.insert(window, EVERYDAY * count.log2() / 2.0);
            }
        }
        for window in COMMON
            .split_whitespace()
            .flat_map(|word| word.as_bytes().windows(WINDOW))
        {
            *seen.entry(code(window)).or_insert(0.0) += EVERYDAY;
        }
        for length in [WINDOW - 1, WINDOW] {
            for window in typical.as_bytes().windows(length) {
                *seen.entry(code(window)).or_insert(0.0) += SEEN;
            }
        }
        Self {
            literals: learnt_from,
            pairs: counts,
            seen,
        }
    }

    /// The rarest window of a literal. `None` if the literal has less than three bytes.
    pub(super) fn key(&self, literal: &[u8]) -> Option<Key> {
        let window = literal.len().min(WINDOW);
        if window < WINDOW - 1 {
            return None;
        }
        let short = if window < WINDOW { SHORT } else { 0.0 };
        let keys = literal.windows(window).enumerate().map(|(offset, window)| Key {
            offset,
            common: self.common(window) + short,
        });
        keys.min_by(|a, b| a.common.total_cmp(&b.common))
    }

    fn common(&self, window: &[u8]) -> f32 {
        let pairs = window.windows(2).filter_map(|pair| match *pair {
            [a, b] => self.pairs.get(place(a, b)).copied(),
            _ => None,
        });
        let seen = self.seen.get(&code(window)).copied().unwrap_or(0.0);
        pairs.sum::<f32>() + seen.min(MOST_SEEN)
    }
}

/// A window of three or four bytes as a number; texts do not hold the zero that a shorter one begins with.
fn code(window: &[u8]) -> u32 {
    window.iter().fold(0, |code, byte| (code << 8) | u32::from(*byte))
}

fn place(a: u8, b: u8) -> usize {
    (usize::from(a) << 8) | usize::from(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_where_a_literal_is_unlike_others() {
        let rarity = Rarity::learn([&b"connection error"[..], b"error in connection", b"qzj error"]);
        let key = rarity.key(b"connection error qzxj connection").unwrap();
        assert!((16..=19).contains(&key.offset), "{key:?}");
        assert_eq!(rarity.key(b"ab"), None);
        assert_eq!(rarity.key(b"xid").unwrap().offset, 0);
    }
}
