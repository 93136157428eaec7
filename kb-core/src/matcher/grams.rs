//! Which triples of bytes a line holds, as a small set that may say yes too often. One look at it tells that a literal
//! is missing, where comparing text would take many.

/// Bits of a place in the set: lines of a few hundred bytes fill a small part of it.
const BITS: u32 = 12;
const PLACES: usize = 1 << BITS;
/// Sets the bit that tells ASCII letters' cases apart; other bytes lose it too.
const FOLD: u32 = 0x0020_2020;
/// The bytes of a triple.
const TRIPLE: u32 = 0x00ff_ffff;
/// Triples asked for at most.
const ASKED: usize = 4;

/// The triples of one line, apart from ASCII case.
#[derive(Debug)]
pub(crate) struct Grams {
    /// At the place of each triple the number of the last line that holds it: whole bytes, which are only written,
    /// and seldom cleared.
    lines: Box<[u8; PLACES]>,
    line: u8,
}

impl Default for Grams {
    fn default() -> Self {
        Self {
            lines: Box::new([0; PLACES]),
            line: 0,
        }
    }
}

/// Some triples that a line must hold. Without any, each line does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Needs([u16; ASKED]);

impl Grams {
    /// Forgets the last line and takes the triples of this one.
    pub(crate) fn load(&mut self, line: &[u8]) {
        if self.line == u8::MAX {
            self.lines.fill(0);
            self.line = 0;
        }
        self.line += 1;
        // The first place is what no triple needs.
        self.set(0);
        for window in line.windows(4) {
            if let Ok(bytes) = <[u8; 4]>::try_from(window) {
                self.set(place(u32::from_le_bytes(bytes)));
            }
        }
        if let Some(&[a, b, c]) = line.last_chunk::<3>() {
            self.set(place(u32::from_le_bytes([a, b, c, 0])));
        }
    }

    /// Whether all the triples may be there.
    pub(crate) fn hold(&self, needs: Needs) -> bool {
        // All are asked without a branch: which one lacks hardly any processor foresees.
        let holds = |place: &u16| self.lines.get(usize::from(*place) % PLACES) == Some(&self.line);
        needs.0.iter().fold(true, |all, place| all & holds(place))
    }

    fn set(&mut self, place: u16) {
        if let Some(line) = self.lines.get_mut(usize::from(place) % PLACES) {
            *line = self.line;
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
                let triple = place(u32::from_le_bytes([a, b, c, 0]));
                if !needs.0.contains(&triple)
                    && let Some(free) = needs.0.get_mut(count)
                {
                    *free = triple;
                    count += 1;
                }
            }
        }
        needs
    }
}

/// The place of a triple in the three lower bytes.
fn place(bytes: u32) -> u16 {
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
