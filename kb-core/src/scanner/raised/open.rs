//! A report that is being read: which lines belong to it, and where it ends.

use memchr::memmem;

use super::form::{exception, same_writer, shortened};
use super::thrown::{RaisedLine, Thrown};

const FRAME: &[u8] = b"File \"";
/// Python draws a group of exceptions so.
const DRAWN: &[u8] = b" |+-";
/// Ray's error stands around the traceback of the worker, which follows its name.
const AROUND: &str = "RayTaskError";

#[derive(Debug)]
pub(super) enum Taken {
    /// The line is another's.
    Other,
    Inside,
    Ended(Thrown),
}

#[derive(Debug)]
pub(super) struct Open {
    pub(super) head_line: u64,
    pub(super) last_line: u64,
    /// The number of the chain that it continues.
    pub(super) chained: Option<u64>,
    pub(super) is_caught: bool,
    /// What stands before each of its lines. Until its first frame is read: what stands before the head.
    pub(super) prefix: Vec<u8>,
    is_indented: bool,
    awaits: Awaits,
}

#[derive(Debug)]
enum Awaits {
    FirstFrame,
    Exception,
    /// The message of this error stands on the next line.
    Message(Thrown),
}

impl Open {
    pub(super) fn new(before: &[u8], head_line: u64, chained: Option<u64>, is_caught: bool) -> Self {
        Self {
            head_line,
            last_line: head_line,
            chained,
            is_caught,
            prefix: before.to_vec(),
            is_indented: true,
            awaits: Awaits::FirstFrame,
        }
    }

    pub(super) fn awaiting(self, thrown: Thrown) -> Self {
        Self {
            awaits: Awaits::Message(thrown),
            ..self
        }
    }

    pub(super) fn take(&mut self, text: &[u8], line: &RaisedLine<'_>) -> Taken {
        match &self.awaits {
            Awaits::FirstFrame => self.take_first(text, line.number),
            Awaits::Exception => self.take_next(text, line),
            Awaits::Message(thrown) => match self.behind_prefix(text) {
                Some(message) if !message.is_empty() => Taken::Ended(Thrown {
                    text: shortened(&String::from_utf8_lossy(message)),
                    is_explained: thrown.is_explained || line.is_explained,
                    ..thrown.clone()
                }),
                _ => Taken::Other,
            },
        }
    }

    /// The first frame shows what stands before each line: loggers print the head behind words of their own.
    fn take_first(&mut self, text: &[u8], number: u64) -> Taken {
        let Some(at) = memmem::find(text, FRAME) else {
            return Taken::Other;
        };
        let before = text.get(..at).unwrap_or_default();
        let indented = before.strip_suffix(b"  ");
        let before = indented.unwrap_or(before);
        let is_drawn = before.iter().all(|byte| DRAWN.contains(byte));
        let is_own = is_drawn
            || same_writer(before, &self.prefix)
            || self
                .prefix
                .get(..before.len())
                .is_some_and(|head| same_writer(head, before));
        if !is_own {
            return Taken::Other;
        }
        self.prefix = before.to_vec();
        self.is_indented = indented.is_some();
        self.awaits = Awaits::Exception;
        self.last_line = number;
        Taken::Inside
    }

    fn take_next(&mut self, text: &[u8], line: &RaisedLine<'_>) -> Taken {
        let Some(rest) = self.behind_prefix(text) else {
            return Taken::Other;
        };
        if rest.first().is_none_or(|byte| matches!(byte, b' ' | b'\t')) || rest.starts_with(FRAME) {
            self.last_line = line.number;
            return Taken::Inside;
        }
        match exception(rest, self.is_indented, line) {
            Some(thrown) if thrown.name.ends_with(AROUND) => Taken::Inside,
            Some(thrown) => Taken::Ended(thrown),
            None => Taken::Other,
        }
    }

    /// What stands behind the prefix; `None` on a line of another writer.
    fn behind_prefix<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        match text.split_at_checked(self.prefix.len()) {
            Some((before, rest)) => same_writer(before, &self.prefix).then_some(rest),
            // The blank at the prefix's end is gone where nothing follows it.
            None => (text == self.prefix.trim_ascii_end()).then_some(&[]),
        }
    }
}
