//! Files of other kinds that stand behind text, where no byte of their magic is one that texts do not have, and UTF-32.

use memchr::memmem;

use super::form::Form;
use super::utf16::is_text;

/// Bytes that are looked at again with those that follow: one less than the longest thing that is looked for.
const KEPT: usize = 15;
/// UTF-32 at the very beginning is a matter of how much of the text cannot be printed.
const FIRST_UTF32: u64 = 16;

/// The bytes of a bzip2 stream's first block, behind `BZh` and a digit.
const BZIP2_BLOCK: &[u8] = b"1AY&SY";
const ZIP: &[u8] = b"PK\x03\x04";
const LZ4: &[u8] = &[0x04, 0x22, 0x4d, 0x18];
const OTHERS: [(&[u8], Form); 5] = [
    (b"7z\xbc\xaf\x27\x1c", Form::SevenZip),
    (b"LPKSHHRH", Form::Journal),
    (b"SQLite format 3\0", Form::Sqlite),
    (b"\x7fELF", Form::Elf),
    (b"\x89PNG\r\n\x1a\n", Form::Image),
];

#[derive(Debug, Default)]
pub(super) struct Behind {
    last: Vec<u8>,
    /// Bytes before those in `last`.
    place: u64,
    found: Option<(Form, u64)>,
}

impl Behind {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.found.is_some() {
            return;
        }
        let mut near = std::mem::take(&mut self.last);
        let kept = near.len();
        near.extend_from_slice(bytes.get(..KEPT).unwrap_or(bytes));
        let at_seam = first(&near, self.place);
        let begin = self.place + kept as u64;
        self.found = at_seam.or_else(|| first(bytes, begin));
        if bytes.len() >= KEPT {
            let from = bytes.len() - KEPT;
            self.last = bytes.get(from..).unwrap_or_default().to_vec();
            self.place = begin + from as u64;
        } else {
            let from = near.len().saturating_sub(KEPT);
            self.last = near.split_off(from);
            self.place += from as u64;
        }
    }

    /// What was found first, and how many bytes stand before it.
    pub(super) fn found(&self) -> Option<(Form, u64)> {
        self.found
    }
}

/// The first such file in the bytes, of which the first has this place; none at the very beginning.
fn first(bytes: &[u8], place: u64) -> Option<(Form, u64)> {
    let at = |index: usize| place + index as u64;
    let bzip2 = memmem::find_iter(bytes, BZIP2_BLOCK).find_map(|block| {
        let head = bytes.get(block.checked_sub(4)?..block)?;
        let is_head = matches!(*head, [b'B', b'Z', b'h', b'1'..=b'9']);
        is_head.then(|| (Form::Bzip2, at(block - 4)))
    });
    let plain = |magic, form| memmem::find(bytes, magic).map(|index| (form, at(index)));
    let found = [bzip2, plain(ZIP, Form::Zip), plain(LZ4, Form::Lz4)];
    let others = OTHERS.iter().filter_map(|(magic, form)| plain(magic, *form));
    let found = found.into_iter().flatten().chain(others);
    let packed = found.filter(|(_, place)| *place > 0);
    let utf32 = utf32(bytes).map(|index| (Form::Utf32, at(index)));
    let utf32 = utf32.filter(|(_, place)| *place >= FIRST_UTF32);
    packed.chain(utf32).min_by_key(|(_, place)| *place)
}

/// Where three characters of ASCII in UTF-32 stand one behind the other, in either order of bytes.
fn utf32(bytes: &[u8]) -> Option<usize> {
    const ZEROS: &[u8] = &[0, 0, 0];
    let mut zeros = memmem::find_iter(bytes, ZEROS);
    let index = zeros.find(|index| {
        let here = bytes.get(*index..).unwrap_or_default();
        matches!(*here, [0, 0, 0, a, 0, 0, 0, b, 0, 0, 0, c, ..] if [a, b, c].into_iter().all(is_text))
    })?;
    // Little-endian, the zeros are the end of a character; behind the end of a line they are the beginning of one.
    let before = index.checked_sub(1).and_then(|before| bytes.get(before));
    Some(index - usize::from(before.is_some_and(|byte| is_text(*byte) && *byte != b'\n')))
}
