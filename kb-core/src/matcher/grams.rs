//! Which triples of bytes a line holds, as a small set that may say yes too often. One look at it tells that a literal
//! is missing, where comparing text would take many.

/// Bits of the set: lines of a few hundred bytes fill a small part of it.
const BITS: u32 = 12;
const WORDS: usize = 1 << (BITS - 6);
/// Sets the bit that tells ASCII letters' cases apart; other bytes lose it too.
const FOLD: u32 = 0x0020_2020;
/// The bytes of a triple.
const TRIPLE: u32 = 0x00ff_ffff;
/// Triples asked for at most.
const ASKED: usize = 4;

/// The triples of one line, apart from ASCII case.
#[derive(Debug, Clone)]
pub(crate) struct Grams([u64; WORDS]);

impl Default for Grams {
    fn default() -> Self {
        Self([0; WORDS])
    }
}

/// Some triples that a line must hold. Without any, each line does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Needs([u16; ASKED]);

impl Grams {
    /// Forgets the last line and takes the triples of this one.
    pub(crate) fn load(&mut self, line: &[u8]) {
        self.0 = [0; WORDS];
        // The first bit is what no triple needs.
        self.set(0);
        for window in line.windows(4) {
            if let Ok(bytes) = <[u8; 4]>::try_from(window) {
                self.set(bit(u32::from_le_bytes(bytes)));
            }
        }
        if let Some(&[a, b, c]) = line.last_chunk::<3>() {
            self.set(bit(u32::from_le_bytes([a, b, c, 0])));
        }
    }

    /// Whether all the triples may be there.
    pub(crate) fn hold(&self, needs: Needs) -> bool {
        needs.0.iter().all(|bit| {
            let word = self.0.get(usize::from(bit >> 6) % WORDS);
            word.is_some_and(|word| (word >> (bit & 63)) & 1 != 0)
        })
    }

    fn set(&mut self, bit: u16) {
        if let Some(word) = self.0.get_mut(usize::from(bit >> 6) % WORDS) {
            *word |= 1 << (bit & 63);
        }
    }
}

impl Needs {
    /// Triples of these literals (ASCII lower case), of each about as many.
    pub(crate) fn of<'a>(literals: &(impl Iterator<Item = &'a [u8]> + Clone)) -> Self {
        let mut needs = Self::default();
        let mut count = 0;
        for step in [0, ASKED - 1, 1, ASKED - 2] {
            for literal in literals.clone() {
                let last = literal.len().checked_sub(3);
                let triple =
                    last.and_then(|last| literal.get(last * step / (ASKED - 1)..)?.first_chunk::<3>());
                let Some(&[a, b, c]) = triple else {
                    continue;
                };
                let bit = bit(u32::from_le_bytes([a, b, c, 0]));
                if !needs.0.contains(&bit)
                    && let Some(place) = needs.0.get_mut(count)
                {
                    *place = bit;
                    count += 1;
                }
            }
        }
        needs
    }
}

/// The bit of a triple in the three lower bytes.
fn bit(bytes: u32) -> u16 {
    let hash = ((bytes & TRIPLE) | FOLD).wrapping_mul(0x9e37_79b1) >> (32 - BITS);
    u16::try_from(hash).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_holds_is_never_denied() {
        let mut grams = Grams::default();
        grams.load(b"NVRM: Xid (PCI:0000:3b:00): 79, pid=12, GPU has fallen off the bus");
        let needs = |literals: &[&[u8]]| Needs::of(&literals.iter().copied());
        let hold = |literals: &[&[u8]]| grams.hold(needs(literals));
        assert!(hold(&[b"xid", b"fallen off", b"bus"]));
        assert!(hold(&[b"nvr"]) && hold(&[b"bus"]) && hold(&[b"xy"]) && hold(&[]));
        assert!(!hold(&[b"xid", b"fallen off a page"]));
        assert!(!hold(&[b"ecc error"]) && !hold(&[b"fallen", b"page"]));
        grams.load(b"ab");
        assert!(!grams.hold(needs(&[b"nvrm"])), "the last line is forgotten");
    }
}
