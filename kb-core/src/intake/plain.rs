//! What is no plain text in the middle of one: UTF-16 that was appended, and files of other kinds.

use super::form::Form;
use super::utf16::{Utf16, is_text};

/// Bytes that begin or end what is looked for; none of them stands in a usual text.
const ZERO: u8 = 0;
const GZIP: u8 = 0x1f;
const XZ_OR_ZSTD: u8 = 0xfd;

const LITTLE_MARK: [u8; 2] = [0xff, 0xfe];
const BIG_MARK: [u8; 2] = [0xfe, 0xff];

pub(super) enum Plain {
    /// Up to this place; what stands behind it may yet begin something else.
    More(usize),
    /// Up to `end`, but for a mark before its last `kept` bytes; UTF-16 from `from` on.
    Utf16 {
        end: usize,
        kept: usize,
        from: usize,
        decoder: Utf16,
    },
    /// Up to this place, where a file of this kind stands whose magic began so many bytes before.
    Form(usize, Form, usize),
}

/// The last bytes of plain text that were given, the newest last; zero where there were none.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Before([u8; 3]);

impl Before {
    pub(super) fn and(self, bytes: &[u8]) -> Self {
        let mut last = self.0;
        let new = bytes
            .get(bytes.len().saturating_sub(last.len())..)
            .unwrap_or_default();
        last.rotate_left(new.len());
        for (slot, byte) in last.iter_mut().rev().zip(new.iter().rev()) {
            *slot = *byte;
        }
        Self(last)
    }
}

pub(super) fn is_all_plain(bytes: &[u8]) -> bool {
    memchr::memchr3(ZERO, GZIP, XZ_OR_ZSTD, bytes).is_none() && mark_at_end(bytes) == 0
}

/// Reads from `from` to the first thing that is no plain text; up to `seen` it was read. `before` precedes the first byte.
pub(super) fn read(bytes: &[u8], from: usize, seen: usize, before: Before, is_end: bool) -> Plain {
    let mut at = seen.max(from);
    while let Some(place) = memchr::memchr3(ZERO, GZIP, XZ_OR_ZSTD, tail(bytes, at)).map(|step| at + step) {
        at = place + 1;
        let here = tail(bytes, place);
        if here.first() == Some(&ZERO) {
            match units(here, is_end) {
                Units::Utf16 => return utf16(bytes, from, place, before),
                Units::More => {
                    let mark = mark_at_end(bytes.get(from..place).unwrap_or_default());
                    return Plain::More(place - mark);
                }
                Units::Nothing => {}
            }
        } else if let Some((form, begun)) =
            packed(here, before.and(bytes.get(from..place).unwrap_or_default()))
        {
            return Plain::Form(place, form, begun);
        } else if !is_end && here.len() < LONGEST_MAGIC {
            return Plain::More(place);
        }
    }
    let held = if is_end { 0 } else { mark_at_end(tail(bytes, from)) };
    Plain::More(bytes.len() - held)
}

/// Length of the longest magic that begins with one of the bytes.
const LONGEST_MAGIC: usize = 6;

/// The kind of file whose magic goes on with these bytes, and how many of it stand before them.
fn packed(bytes: &[u8], before: Before) -> Option<(Form, usize)> {
    if bytes.starts_with(&[0x1f, 0x8b, 8]) {
        Some((Form::Gzip, 0))
    } else if bytes.starts_with(b"\xfd7zXZ\0") {
        Some((Form::Xz, 0))
    } else {
        let is_zstd = before.0 == [0x28, 0xb5, 0x2f] && bytes.first() == Some(&XZ_OR_ZSTD);
        is_zstd.then_some((Form::Zstd, 3))
    }
}

enum Units {
    Utf16,
    More,
    Nothing,
}

/// Whether bytes that begin with zero go on as ASCII in UTF-16 does: every other one is zero.
fn units(bytes: &[u8], is_end: bool) -> Units {
    const ENOUGH: usize = 7;
    let near = bytes.get(..ENOUGH).unwrap_or(bytes);
    let fits = near.iter().enumerate().all(|(place, byte)| {
        if place % 2 == 0 {
            *byte == 0
        } else {
            is_text(*byte)
        }
    });
    match (fits, near.len()) {
        (true, ENOUGH) => Units::Utf16,
        (true, 3..) if is_end => Units::Utf16,
        (true, _) if !is_end => Units::More,
        _ => Units::Nothing,
    }
}

/// UTF-16 with its first zero at `place`: after a letter its second byte; after a line end or mark a letter's first byte.
fn utf16(bytes: &[u8], from: usize, place: usize, before: Before) -> Plain {
    let plain = bytes.get(from..place).unwrap_or_default();
    let Before([.., last]) = before.and(plain);
    let is_big = plain.ends_with(&BIG_MARK) || last == b'\n' || !is_text(last);
    let mark = mark_at_end(plain);
    let (kept, from) = if is_big { (0, place) } else { (1, place + 1) };
    Plain::Utf16 {
        end: if mark > 0 { place - mark } else { place },
        kept: if mark > 0 { kept } else { 0 },
        from,
        decoder: Utf16::appended(!is_big),
    }
}

/// Length of a mark at the end of the bytes, with the letter behind that of little-endian UTF-16, or of a part of one.
fn mark_at_end(bytes: &[u8]) -> usize {
    match *bytes {
        [.., 0xff, 0xfe, last] if is_text(last) => 3,
        [.., a, b] if [a, b] == LITTLE_MARK || [a, b] == BIG_MARK => 2,
        [.., 0xff | 0xfe] => 1,
        _ => 0,
    }
}

fn tail(bytes: &[u8], from: usize) -> &[u8] {
    bytes.get(from..).unwrap_or_default()
}
