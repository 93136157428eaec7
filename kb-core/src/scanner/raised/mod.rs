//! Errors that a program raised, by the form in which its language reports them: Python's tracebacks, and the reports of C++, Rust
//! and Go. No record is needed for that. Lines are looked at from the head of a report to its end, and nowhere else.

mod form;
mod kept;
mod open;
mod thrown;

use memchr::memmem;

use self::form::{find_any, prefix, same_writer};
pub(super) use self::kept::Chain;
use self::kept::Kept;
use self::open::{Open, Taken};
use self::thrown::RaisedLine;
pub use self::thrown::{Language, Writer};
use super::caught;
use super::origin::Origin;

const HEAD: &[u8] = b"Traceback (most recent call last)";
/// Python says so between two exceptions of which one came from the other.
const CHAINED: [&[u8]; 2] = [
    b"The above exception was the direct cause of the following exception",
    b"During handling of the above exception, another exception occurred",
];
/// What Python says before the traceback of an exception after which it goes on.
const IGNORED: [&[u8]; 4] = [
    b"--- Logging error ---",
    b"Exception ignored in",
    b"Task exception was never retrieved",
    b"Future exception was never retrieved",
];
/// The traceback follows such a line within this many lines.
const IGNORED_LINES: u64 = 4;
/// Reports that are followed at the same time; the oldest gives way.
const MAX_OPEN: usize = 64;
/// Lines of other writers within a report, at most.
const MAX_LINES_APART: u64 = 128;
/// Bytes of a line that are read.
const MAX_BYTES: usize = 4 << 10;

#[derive(Debug, Default)]
pub(super) struct Raised {
    open: Vec<Open>,
    kept: Kept,
    /// Where Python said that it goes on after the next exception: the line, and what stands before the words.
    ignored: Option<(u64, Vec<u8>)>,
}

impl Raised {
    /// Whether no report is being followed, so that only lines with a head need to be read.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn chains(&self) -> &[Chain] {
        self.kept.chains()
    }

    /// Takes a line that was looked at. Of a very long one the first piece is enough; one that was escaped may hold a whole report.
    pub(super) fn follow(&mut self, text: &[u8], origin: &Origin<'_>, has_head: bool, is_explained: bool) {
        let line = RaisedLine {
            text,
            number: origin.line,
            has_head,
            is_explained,
        };
        if origin.restored {
            self.read_escaped(&line);
        } else if (has_head || !self.is_idle()) && origin.piece.is_none_or(|piece| piece.first) {
            self.read(&line);
        }
    }

    /// Escaped line breaks were restored as carriage returns.
    fn read_escaped(&mut self, line: &RaisedLine<'_>) {
        if !line.has_head || memchr::memchr(b'\r', line.text).is_none() {
            return;
        }
        let others = std::mem::take(&mut self.open);
        for text in line.text.split(|byte| *byte == b'\r') {
            self.read(&RaisedLine { text, ..*line });
        }
        self.open = others;
    }

    fn read(&mut self, line: &RaisedLine<'_>) {
        let text = line.text.get(..MAX_BYTES).unwrap_or(line.text).trim_ascii_end();
        if line.has_head && self.read_head(text, line) {
            return;
        }
        self.open
            .retain(|open| line.number.saturating_sub(open.last_line) <= MAX_LINES_APART);
        for at in (0..self.open.len()).rev() {
            let taken = self.open.get_mut(at).map(|open| open.take(text, line));
            match taken {
                None | Some(Taken::Other) => {}
                Some(Taken::Inside) => return,
                Some(Taken::Ended(thrown)) => {
                    let open = self.open.swap_remove(at);
                    self.kept.add(open, thrown);
                    return;
                }
            }
        }
    }

    /// Whether the line is a head or says something of one, so that it belongs to no report that is open.
    fn read_head(&mut self, text: &[u8], line: &RaisedLine<'_>) -> bool {
        if let Some(at) = memmem::find(text, HEAD) {
            self.open_traceback(prefix(text, at), line.number);
            return true;
        }
        if let Some(at) = find_any(text, &CHAINED) {
            self.kept.await_next(prefix(text, at));
            return true;
        }
        if let Some(at) = find_any(text, &IGNORED) {
            self.ignored = Some((line.number, prefix(text, at).to_vec()));
            return true;
        }
        let Some((before, thrown)) = form::one_line(text, line) else {
            return false;
        };
        let open = Open::new(before, line.number, None, false);
        if thrown.text.is_empty() {
            self.push(open.awaiting(thrown));
        } else {
            self.kept.add(open, thrown);
        }
        true
    }

    fn open_traceback(&mut self, before: &[u8], number: u64) {
        let said = self.ignored.take_if(|(_, at)| same_writer(at, before));
        let is_ignored = said.is_some_and(|(line, _)| number.saturating_sub(line) <= IGNORED_LINES);
        let chained = self.kept.take_awaited(before);
        let is_caught = is_ignored || caught::is_mild(before);
        self.push(Open::new(before, number, chained, is_caught));
    }

    fn push(&mut self, open: Open) {
        if self.open.len() == MAX_OPEN {
            self.open.remove(0);
        }
        self.open.push(open);
    }
}
