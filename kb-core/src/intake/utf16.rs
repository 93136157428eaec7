//! UTF-16 to UTF-8, piece by piece.

/// Order of the two bytes of a unit, and whether a mark stands before the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Utf16Form {
    is_little: bool,
    has_mark: bool,
}

pub(super) fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\r' | b'\n' | 0x20..=0x7e)
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    Form(Utf16Form),
    More,
    Nothing,
}

impl Utf16Form {
    /// A byte order mark, or two ASCII characters in a row.
    pub(super) fn sniff(head: &[u8]) -> Sniffed {
        let form = |is_little, has_mark| Sniffed::Form(Self { is_little, has_mark });
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
    /// It begins in the middle of a plain text, and may end where it began by mistake.
    is_appended: bool,
    skip: usize,
    high: Option<u16>,
}

pub(super) enum Decoded {
    /// Up to this place; what stands behind it is to come again with more bytes.
    More(usize),
    /// Up to this place, from which on the text is no UTF-16.
    Plain(usize),
}

/// Units in a row of two ASCII characters each that are ASCII text and no UTF-16: with a blank or the end of a line among
/// them, and without. Of Chinese, one unit in five is such.
const ASCII_UNITS: usize = 8;
const ASCII_UNITS_WITHOUT_BLANK: usize = 32;
/// The same at the end of the text.
const LAST_ASCII_UNITS: usize = 4;

impl Utf16 {
    pub(super) fn new(form: Utf16Form) -> Self {
        Self {
            is_little: form.is_little,
            is_appended: false,
            skip: if form.has_mark { 2 } else { 0 },
            high: None,
        }
    }

    pub(super) fn appended(is_little: bool) -> Self {
        Self {
            is_little,
            is_appended: true,
            skip: 0,
            high: None,
        }
    }

    pub(super) fn is_little(&self) -> bool {
        self.is_little
    }

    /// Decodes whole units, until ASCII text follows that somebody appended.
    pub(super) fn read(&mut self, bytes: &[u8], is_end: bool, out: &mut Vec<u8>) -> Decoded {
        let mut at = self.skip.min(bytes.len());
        self.skip -= at;
        let mut ascii_until = at;
        loop {
            let [first, second, ..] = *bytes.get(at..).unwrap_or_default() else {
                return Decoded::More(at);
            };
            if at >= ascii_until && is_text(first) && is_text(second) {
                match ascii(bytes.get(at..).unwrap_or_default(), is_end) {
                    Ascii::Text => return Decoded::Plain(at),
                    Ascii::More => return Decoded::More(at),
                    Ascii::Units(count) => ascii_until = at + 2 * count,
                }
            }
            let unit = if self.is_little {
                u16::from_le_bytes([first, second])
            } else {
                u16::from_be_bytes([first, second])
            };
            if self.is_appended && is_odd(unit) {
                return Decoded::Plain(at);
            }
            self.unit(unit, out);
            at += 2;
        }
    }

    pub(super) fn end(&mut self, left: &[u8]) -> &'static str {
        let is_cut = !left.is_empty() | self.high.take().is_some();
        if is_cut { "\u{fffd}" } else { "" }
    }

    fn unit(&mut self, unit: u16, text: &mut Vec<u8>) {
        let mut put = |character: char| text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        let units = self.high.take().into_iter().chain([unit]);
        for read in char::decode_utf16(units) {
            match read {
                Ok(character) => put(character),
                // The first of a pair waits for the second.
                Err(alone) if alone.unpaired_surrogate() == unit && unit < 0xdc00 => self.high = Some(unit),
                Err(_) => put(char::REPLACEMENT_CHARACTER),
            }
        }
    }
}

enum Ascii {
    Text,
    More,
    /// So many units that only look like it.
    Units(usize),
}

fn ascii(bytes: &[u8], is_end: bool) -> Ascii {
    let is_unit = |unit: &&[u8]| matches!(**unit, [a, b] if is_text(a) && is_text(b));
    let units = bytes.chunks_exact(2).take(ASCII_UNITS_WITHOUT_BLANK);
    let count = units.take_while(is_unit).count();
    let run = bytes.get(..2 * count).unwrap_or_default();
    let has_blank = run.iter().any(u8::is_ascii_whitespace);
    if count == ASCII_UNITS_WITHOUT_BLANK || (count >= ASCII_UNITS && has_blank) {
        return Ascii::Text;
    }
    if bytes.len() - run.len() >= 2 {
        return Ascii::Units(count);
    }
    let ends_line = bytes.last() == Some(&b'\n');
    match is_end {
        false => Ascii::More,
        true if ends_line || count >= LAST_ASCII_UNITS => Ascii::Text,
        true => Ascii::Units(count),
    }
}

/// What no text has: control characters, private ones. With half a pair among random bytes, one unit in eight.
fn is_odd(unit: u16) -> bool {
    matches!(unit, 0..=8 | 0x0b | 0x0c | 0x0e..=0x1a | 0x1c..=0x1f | 0xe000..=0xf8ff | 0xfffe | 0xffff)
}
