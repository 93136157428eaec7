//! Sixteen bytes of a text compared at once with what a literal has there, apart from ASCII case.

/// Bytes before the key's window and from its beginning on.
const HALF: usize = 8;
const BYTES: usize = 2 * HALF;

/// Sets the bit that tells ASCII letters' cases apart in each of eight bytes; other bytes lose it too.
const FOLD: u64 = 0x2020_2020_2020_2020;

/// The eight folded bytes nearest to a key, and which are the literal's: small, to compare many in few cache lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    bytes: u64,
    own: u64,
}

impl Near {
    #[inline]
    pub(super) fn may_stand(self, around: &Around) -> bool {
        (around.near() | FOLD) & self.own == self.bytes
    }
}

pub(super) struct Around {
    at: usize,
    bytes: u128,
    /// All of them are the text's own.
    inside: bool,
}

impl Around {
    pub(super) fn new(text: &[u8], at: usize) -> Self {
        let start = at.checked_sub(HALF);
        let whole = start.and_then(|start| text.get(start..)?.first_chunk::<BYTES>());
        if let Some(bytes) = whole {
            return Self {
                at,
                bytes: u128::from_le_bytes(*bytes),
                inside: true,
            };
        }
        // At the ends of the text blanks stand for what lacks; there each literal is compared in full.
        let mut bytes = [b' '; BYTES];
        for (offset, byte) in bytes.iter_mut().enumerate() {
            let place = (at + offset).checked_sub(HALF);
            if let Some(own) = place.and_then(|place| text.get(place)) {
                *byte = *own;
            }
        }
        Self {
            at,
            bytes: u128::from_le_bytes(bytes),
            inside: false,
        }
    }

    fn near(&self) -> u64 {
        middle(self.bytes)
    }

    pub(super) fn window(&self) -> u32 {
        u32::try_from((self.bytes >> (8 * HALF)) & u128::from(u32::MAX)).unwrap_or(0)
    }
}

/// A literal (ASCII lower case) with its bytes around its key.
#[derive(Debug)]
pub(super) struct Literal {
    /// What the literal has there, the bits that ASCII case changes, and the bits that are the literal's.
    bytes: u128,
    case: u128,
    own: u128,
    offset: usize,
    /// All of the literal lies there.
    is_short: bool,
    place: u32,
    text: Box<[u8]>,
}

impl Literal {
    /// `place` is the literal's place in the list of all.
    pub(super) fn new(text: &[u8], offset: usize, place: u32) -> Self {
        let (mut bytes, mut case, mut own) = ([0_u8; BYTES], [0_u8; BYTES], [0_u8; BYTES]);
        let places = bytes.iter_mut().zip(&mut case).zip(&mut own);
        for (around, ((byte, case), own)) in places.enumerate() {
            let there = (offset + around).checked_sub(HALF);
            if let Some(literal) = there.and_then(|there| text.get(there)) {
                *byte = *literal;
                *case = if literal.is_ascii_lowercase() { 0x20 } else { 0 };
                *own = u8::MAX;
            }
        }
        Self {
            bytes: u128::from_le_bytes(bytes),
            case: u128::from_le_bytes(case),
            own: u128::from_le_bytes(own),
            offset,
            is_short: offset <= HALF && text.len() - offset <= HALF,
            place,
            text: text.into(),
        }
    }

    pub(super) fn near(&self) -> Near {
        let own = middle(self.own);
        Near {
            bytes: (middle(self.bytes) | FOLD) & own,
            own,
        }
    }

    pub(super) fn place(&self) -> u32 {
        self.place
    }

    pub(super) fn key(&self) -> u32 {
        u32::try_from((self.bytes >> (8 * HALF)) & u128::from(u32::MAX)).unwrap_or(0)
    }

    /// Whether the literal stands in the text with its key where `around` was taken.
    #[inline]
    pub(super) fn stands(&self, around: &Around, text: &[u8]) -> bool {
        if (around.bytes | self.case) & self.own != self.bytes {
            return false;
        }
        if self.is_short && around.inside {
            return true;
        }
        let start = around.at.checked_sub(self.offset);
        let own = start.and_then(|start| text.get(start..start + self.text.len()));
        own.is_some_and(|own| own.eq_ignore_ascii_case(&self.text))
    }
}

fn middle(bytes: u128) -> u64 {
    u64::try_from((bytes >> (4 * HALF)) & u128::from(u64::MAX)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a literal with its key at `offset` stands at `at`.
    fn stands(literal: &str, offset: usize, text: &str, at: usize) -> bool {
        let literal = Literal::new(literal.as_bytes(), offset, 0);
        let around = Around::new(text.as_bytes(), at + offset);
        let stands = literal.stands(&around, text.as_bytes());
        assert!(!stands || literal.near().may_stand(&around));
        stands
    }

    #[test]
    fn literals_are_compared_apart_from_ascii_case_only() {
        let long = "peer access is not supported between these two devices";
        for pad in [0, 1, 7, 8, 9, 30] {
            let text = format!("{}{}{}", "-".repeat(pad), long.to_uppercase(), "-".repeat(pad));
            for offset in 0..long.len() - 4 {
                assert!(stands(long, offset, &text, pad), "{pad} {offset}");
                assert!(!stands(&long.replace("devices", "device5"), offset, &text, pad));
                assert!(!stands(&long.replace("peer", "pear"), offset, &text, pad));
            }
            assert!(stands("peer", 0, &text, pad) && !stands("peel", 0, &text, pad));
        }
        assert!(
            !stands("[a@b", 0, "........{a`b........", 8),
            "marks have no case"
        );
        assert!(stands("[a@b", 0, "........[A@B........", 8));
        assert!(!stands("abc ", 0, "xxxxxxxxxxabc", 10), "no blank behind the end");
    }
}
