//! Where in a text some words may begin, told by a look at three bytes. Nearly all of a text says nothing of what is
//! sought, and cutting all of it into words to see so took a third of a query's time.

use super::tokenizer::is_cjk;

/// Bytes that are looked at.
const BYTES: usize = 3;

/// Words share so many groups; in each, any first byte goes with any second.
const GROUPS: u32 = u8::BITS;

/// The first bytes of some words, in whatever case.
pub(super) struct Openings {
    /// For each place and byte, the groups of words that may have it there.
    groups: [[u8; 256]; BYTES],
    /// Words that were added.
    count: u32,
    /// Whether some word may begin with bytes that are not known, because their number changes with case.
    is_open: bool,
}

impl Openings {
    pub(super) fn new() -> Self {
        Self {
            groups: [[0; 256]; BYTES],
            count: 0,
            is_open: false,
        }
    }

    /// Adds a word that is in lower case.
    pub(super) fn add(&mut self, word: &str) {
        if !word.chars().all(|c| c.is_ascii() || is_cjk(c)) {
            self.is_open = true;
            return;
        }
        let group = 1 << (self.count % GROUPS);
        self.count += 1;
        let bytes = word.bytes().map(Some).chain(std::iter::repeat(None));
        for (groups, byte) in self.groups.iter_mut().zip(bytes) {
            let Some(byte) = byte else {
                // The word ends before: anything may follow.
                groups.iter_mut().for_each(|known| *known |= group);
                continue;
            };
            for case in [byte, byte.to_ascii_uppercase()] {
                if let Some(known) = groups.get_mut(usize::from(case)) {
                    *known |= group;
                }
            }
        }
    }

    /// Whether these words are only said in this text where they are found by their bytes.
    pub(super) fn tell(&self, text: &str) -> bool {
        // Of all characters beyond ASCII, the Kelvin sign alone is ASCII in lower case.
        !self.is_open && (text.is_ascii() || !text.contains('\u{212a}'))
    }

    /// Whether one of the words may begin where these bytes do.
    pub(super) fn begin(&self, text: &[u8]) -> bool {
        // What comes after the end is no byte of any word.
        let byte = |place: usize| text.get(place).copied().unwrap_or_default();
        self.open([byte(0), byte(1), byte(2)])
    }

    /// The first place from `from` on where a word may begin.
    pub(super) fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        let place = rest.array_windows().position(|bytes| self.open(*bytes));
        let place = place.or_else(|| {
            let last = rest.len().saturating_sub(BYTES - 1);
            (last..rest.len()).find(|place| self.begin(rest.get(*place..).unwrap_or_default()))
        });
        place.map(|place| from + place)
    }

    fn open(&self, bytes: [u8; BYTES]) -> bool {
        let groups = self.groups.iter().zip(bytes);
        let known = groups.map(|(groups, byte)| groups.get(usize::from(byte)).copied().unwrap_or_default());
        known.fold(u8::MAX, |all, known| all & known) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Openings {
        let mut openings = Openings::new();
        words.iter().for_each(|word| openings.add(word));
        openings
    }

    #[test]
    fn a_word_may_begin_where_its_first_bytes_are_in_any_case() {
        let openings = of(&["peer", "x", "显存"]);
        let text = "no PEer, 不显存 x";
        let mut places = Vec::new();
        let mut from = 0;
        while let Some(place) = openings.next(text.as_bytes(), from) {
            places.push(place);
            from = place + 1;
        }
        let wanted = ["PEer", "显", "x"].map(|piece| text.find(piece).unwrap());
        assert_eq!(places, wanted);
        assert_eq!(openings.next(b"", 0), None);
        assert_eq!(openings.next(b"pe", 0), None);
        assert_eq!(openings.next(b"aX", 0), Some(1));
    }

    #[test]
    fn letters_that_change_their_length_with_case_are_not_told() {
        assert!(of(&["kelvin"]).tell("kelvin 显存"));
        assert!(!of(&["kelvin"]).tell("\u{212a}elvin"));
        assert!(!of(&["éa"]).tell("a"));
    }

    #[test]
    fn one_character_alone_is_ascii_in_lower_case_only() {
        let ascii = ('\u{80}'..=char::MAX).filter(|c| c.to_lowercase().all(|lower| lower.is_ascii()));
        assert!(ascii.eq(['\u{212a}']));
    }
}
