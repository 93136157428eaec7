//! Which triples of bytes a line holds, as a small set that may say yes too often. One look at it tells that a literal
//! is missing, where comparing text would take many.

/// Bits of a place in the set: lines of a few hundred bytes fill a small part of it.
const BITS: u32 = 12;
const PLACES: usize = 1 << BITS;
/// Sets the bit that tells ASCII letters' cases apart; other bytes lose it too.
const FOLD: u32 = 0x0020_2020;
/// Triples asked for at most.
const ASKED: usize = 4;

#[derive(Debug)]
pub(crate) struct Grams {
    /// At each triple's place the number of the last line that holds it: whole bytes, only written, seldom cleared.
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
    pub(super) fn begin(&mut self) -> Line<'_> {
        if self.line == u8::MAX {
            self.lines.fill(0);
            self.line = 0;
        }
        self.line += 1;
        let mut line = Line {
            lines: &mut self.lines,
            line: self.line,
        };
        // The first place is what no triple needs.
        line.add(0);
        line
    }

    pub(crate) fn hold(&self, needs: Needs) -> bool {
        // All are asked without a branch: which one lacks hardly any processor foresees.
        let holds = |place: &u16| self.lines.get(usize::from(*place) % PLACES) == Some(&self.line);
        needs.0.iter().fold(true, |all, place| all & holds(place))
    }
}

pub(super) struct Line<'a> {
    lines: &'a mut [u8; PLACES],
    line: u8,
}

impl Line<'_> {
    #[inline]
    pub(super) fn add(&mut self, hash: u32) {
        if let Some(line) = self.lines.get_mut(usize::from(place(hash)) % PLACES) {
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
                let triple = place(triple_hash(u32::from_le_bytes([a, b, c, 0])));
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

/// The hash of a triple in the three lower bytes; its upper bits are the better ones. The fourth byte is shifted out.
#[inline]
pub(super) fn triple_hash(bytes: u32) -> u32 {
    (bytes | FOLD).wrapping_mul(0x9e37_79b1 << 8)
}

#[inline]
fn place(hash: u32) -> u16 {
    u16::try_from(hash >> (32 - BITS)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes the triples of a line.
    fn load(grams: &mut Grams, line: &[u8]) {
        let mut taken = grams.begin();
        for triple in line.array_windows::<3>() {
            let [a, b, c] = *triple;
            taken.add(triple_hash(u32::from_le_bytes([a, b, c, b'x'])));
        }
    }

    #[test]
    fn what_a_line_holds_is_never_denied() {
        let mut grams = Grams::default();
        load(
            &mut grams,
            b"NVRM: Xid (PCI:0000:3b:00): 79, pid=12, GPU has fallen off the bus",
        );
        let needs = |literals: &[&[u8]]| Needs::of(&literals.iter().copied());
        let hold = |literals: &[&[u8]]| grams.hold(needs(literals));
        assert!(hold(&[b"xid", b"fallen off", b"bus"]));
        assert!(hold(&[b"nvr"]) && hold(&[b"bus"]) && hold(&[b"xy"]) && hold(&[]));
        assert!(!hold(&[b"xid", b"fallen off a page"]));
        assert!(!hold(&[b"ecc error"]) && !hold(&[b"fallen", b"page"]));
        load(&mut grams, b"ab");
        assert!(!grams.hold(needs(&[b"nvrm"])), "the last line is forgotten");
    }
}
