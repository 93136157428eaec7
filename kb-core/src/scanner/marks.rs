//! Places of a text that does not stand as it was printed: colours, escapes, messages as arrays of bytes.

use memchr::memchr3;

use super::bytes;
use super::clean::ESC;
use super::dmon_lines::begins_head;
use super::restore::control_number;
use crate::matcher::Found;

/// Places of a run whose lines are read one by one: colours, escapes, messages as arrays of bytes. Each is looked for once.
pub(super) struct Marks<'b> {
    bytes: &'b [u8],
    sign: Option<usize>,
    array: Option<usize>,
}

impl<'b> Marks<'b> {
    pub(super) fn of(bytes: &'b [u8]) -> Self {
        Self {
            bytes,
            sign: sign(bytes, 0),
            array: bytes::find(bytes, 0),
        }
    }

    pub(super) fn next(&mut self, from: usize) -> Option<usize> {
        if self.sign.is_some_and(|at| at < from) {
            self.sign = sign(self.bytes, from);
        }
        if self.array.is_some_and(|at| at < from) {
            self.array = bytes::find(self.bytes, from);
        }
        self.sign.into_iter().chain(self.array).min()
    }
}

/// The next colour, backslash, `#033` of rsyslog or head of a table.
fn sign(bytes: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let at = from + memchr3(ESC, b'\\', b'#', bytes.get(from..)?)?;
        let rest = bytes.get(at..)?;
        if rest.first() != Some(&b'#') || control_number(rest).is_some() || begins_head(rest) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Takes those of a sorted list that stand up to an end.
pub(super) fn upto<'m>(marks: &mut &'m [(usize, Found)], end: usize) -> &'m [(usize, Found)] {
    let here = marks.iter().take_while(|(at, _)| *at <= end).count();
    let (taken, behind) = marks.split_at(here);
    *marks = behind;
    taken
}
