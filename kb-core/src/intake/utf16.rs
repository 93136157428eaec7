//! UTF-16 to UTF-8, piece by piece.

/// Order of the two bytes of a unit, and whether a mark stands before the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Utf16Form {
    is_little: bool,
    has_mark: bool,
}

/// What first bytes say.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    Form(Utf16Form),
    /// Too few to say.
    More,
    Nothing,
}

impl Utf16Form {
    /// A byte order mark, or two ASCII characters in a row.
    pub(super) fn sniff(head: &[u8]) -> Sniffed {
        let form = |is_little, has_mark| Sniffed::Form(Self { is_little, has_mark });
        let is_text = |byte: u8| matches!(byte, b'\t' | b'\r' | b'\n' | 0x20..=0x7e);
        match *head {
            // With two zeros behind it, the mark is that of UTF-32.
            [0xff, 0xfe, 0, 0, ..] => Sniffed::Nothing,
            [0xff, 0xfe, _, _, ..] => form(true, true),
            [0xfe, 0xff, _, _, ..] => form(false, true),
            [a, 0, b, 0, ..] if is_text(a) && is_text(b) => form(true, false),
            [0, a, 0, b, ..] if is_text(a) && is_text(b) => form(false, false),
            [] | [0xff | 0xfe] | [0xff, 0xfe, ..] | [0xfe, 0xff, ..] if head.len() < 4 => Sniffed::More,
            [a] if is_text(a) || a == 0 => Sniffed::More,
            [a, 0] | [a, 0, _] if is_text(a) => Sniffed::More,
            [0, a] | [0, a, 0] if is_text(a) => Sniffed::More,
            _ => Sniffed::Nothing,
        }
    }
}

/// A decoder. What is no character becomes U+FFFD.
#[derive(Debug)]
pub(super) struct Utf16 {
    is_little: bool,
    /// Bytes of the mark that are still to come.
    skip: usize,
    /// The first byte of a unit.
    half: Option<u8>,
    /// The first unit of a pair.
    high: Option<u16>,
}

impl Utf16 {
    pub(super) fn new(form: Utf16Form) -> Self {
        Self {
            is_little: form.is_little,
            skip: if form.has_mark { 2 } else { 0 },
            half: None,
            high: None,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        let mut text = String::with_capacity(bytes.len() / 2);
        for byte in bytes.iter().skip(skipped) {
            match self.half.take() {
                None => self.half = Some(*byte),
                Some(first) if self.is_little => self.unit(u16::from_le_bytes([first, *byte]), &mut text),
                Some(first) => self.unit(u16::from_be_bytes([first, *byte]), &mut text),
            }
        }
        text.into_bytes()
    }

    pub(super) fn end(&mut self) -> Vec<u8> {
        let is_cut = self.half.take().is_some() | self.high.take().is_some();
        let text = if is_cut { "\u{fffd}" } else { "" };
        text.as_bytes().to_vec()
    }

    fn unit(&mut self, unit: u16, text: &mut String) {
        let units = self.high.take().into_iter().chain([unit]);
        for read in char::decode_utf16(units) {
            match read {
                Ok(character) => text.push(character),
                // The first of a pair waits for the second.
                Err(alone) if alone.unpaired_surrogate() == unit && unit < 0xdc00 => self.high = Some(unit),
                Err(_) => text.push(char::REPLACEMENT_CHARACTER),
            }
        }
    }
}
