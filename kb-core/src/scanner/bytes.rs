//! A message as an array of its bytes: so `journalctl -o json` writes what is no UTF-8 or holds control characters.

use super::clean::{ESC, sequence_len};

const KEY: &[u8] = b"\"MESSAGE\"";
/// A piece of a long line that begins with so many numbers is the middle of an array.
const MIDDLE: usize = 16;

/// The next place from `from` on at which such an array begins: that of its `[`.
pub(super) fn find(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut keys = memchr::memmem::find_iter(rest, KEY);
    keys.find_map(|key| {
        let behind = from + key + KEY.len();
        let colon = behind + blanks(text, behind);
        let open = colon + 1 + blanks(text, colon + 1);
        (text.get(colon) == Some(&b':') && text.get(open) == Some(&b'[')).then_some(open)
    })
}

pub(super) fn is_message(text: &[u8], open: usize) -> bool {
    let before = text.get(..open).unwrap_or_default().trim_ascii_end();
    let before = before.strip_suffix(b":").unwrap_or_default().trim_ascii_end();
    before.ends_with(KEY)
}

/// The length of an array from its `[` on, and the text that it stands for. One that a piece cuts ends there.
pub(super) fn array(text: &[u8]) -> Option<(usize, Vec<u8>)> {
    let (len, bytes) = numbers(text, 1);
    (!bytes.is_empty()).then(|| (len, shown(&bytes)))
}

/// The same of a piece that begins in the middle of an array; its first number may be cut.
pub(super) fn middle(text: &[u8]) -> Option<(usize, Vec<u8>)> {
    let first = text.iter().take(4).position(|byte| *byte == b',')?;
    let is_cut = text.get(..first)?.iter().all(u8::is_ascii_digit);
    let (len, bytes) = numbers(text, first + 1);
    (is_cut && bytes.len() >= MIDDLE).then(|| (len, shown(&bytes)))
}

fn numbers(text: &[u8], from: usize) -> (usize, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut at = from;
    loop {
        at += blanks(text, at);
        let digits = text.get(at..).unwrap_or_default().iter().take(3);
        let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
        let number = text
            .get(at..at + digits)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let Some(byte) = number.and_then(|number| number.parse().ok()) else {
            break;
        };
        bytes.push(byte);
        at += digits;
        at += blanks(text, at);
        match text.get(at) {
            Some(b',') => at += 1,
            Some(b']') => return (at + 1, bytes),
            _ => break,
        }
    }
    (at, bytes)
}

/// Without control sequences; the ends of lines stand as carriage returns.
fn shown(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len() + 2);
    text.push(b'"');
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match *byte {
            ESC => at += sequence_len(bytes.get(at..).unwrap_or_default()).max(1) - 1,
            b'\n' => text.push(b'\r'),
            byte => text.push(byte),
        }
        at += 1;
    }
    text.push(b'"');
    text
}

fn blanks(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}
