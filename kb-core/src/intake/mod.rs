//! From the bytes of a file to text that a scanner can read. What is no text is refused with a reason: in bytes that
//! nobody could read, "no known error" would be a lie.
//!
//! ```text
//! form     what the first bytes say: an archive, a compressed file, an image …
//! utf16    UTF-16 to UTF-8, as PowerShell's `>` writes it
//! plain    where UTF-16 (`>>`) or a compressed file begins in the middle of a text
//! behind   where a file begins whose magic is text itself, and UTF-32
//! gauge    how much of the text cannot be printed
//! coded    text that was encoded as a whole: base64, escapes
//! ```

mod behind;
mod coded;
mod form;
mod gauge;
mod plain;
#[cfg(test)]
mod tests;
mod utf16;

use std::borrow::Cow;

use behind::Behind;
pub use coded::Coding;
pub use form::Form;
use form::Sniffed;
use gauge::Gauge;
use plain::{Before, Plain};
use utf16::{Decoded, Utf16, Utf16Form};

/// Why bytes are no text that can be looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// The first bytes are those of another kind of file.
    #[error("it is {}, not text: {}", .0.name(), .0.advice())]
    Form(Form),
    /// Bytes of another kind of file stand behind text.
    #[error(
        "behind the first {place} bytes stands {}, which was not read: cut it out with `tail -c +{} FILE`, and {} of that", .form.name(),
        .place + 1, .form.advice()
    )]
    Behind {
        /// The kind of file.
        form: Form,
        /// Bytes before it.
        place: u64,
    },
    /// Bytes that cannot be printed, with hardly a byte that is zero.
    #[error(
        "{percent} % of it is not text: it looks like a binary file, or a text in another encoding than UTF-8; send text, \
         such as `iconv -f ENCODING -t UTF-8 FILE` prints"
    )]
    Unprintable {
        /// Share of bytes that cannot be printed.
        percent: u32,
    },
    /// A part of a text is none.
    #[error(
        "about {place} bytes from its beginning it is no text: it looks like a part of a binary file, or in another encoding \
         than UTF-8; send the text without that part"
    )]
    Part {
        /// Bytes before the place where it was seen.
        place: u64,
    },
    /// Many bytes are zero.
    #[error(
        "{percent} % of it is not text, most of that zero bytes: it looks like UTF-16 or UTF-32 without a mark at its \
         beginning, or a binary file; send text, such as `iconv -f UTF-16LE -t UTF-8 FILE` prints"
    )]
    Zeros {
        /// Share of bytes that cannot be printed.
        percent: u32,
    },
    /// Nearly all of it was encoded as text.
    #[error("hardly a word of it can be read: it is nearly all {}", .0.advice())]
    Coded(Coding),
}

/// Makes text of bytes as they come. The same bytes give the same text and the same judgement however they are cut.
#[derive(Debug, Default)]
pub struct Intake {
    state: State,
    /// Bytes that may yet become something else than what they seem to be.
    held: Vec<u8>,
    before: Before,
    /// Bytes before those that are held.
    place: u64,
    is_utf16: bool,
    packed: Option<(Form, u64)>,
    behind: Behind,
    gauge: Gauge,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Head,
    Plain,
    Utf16(Utf16),
    Refused(Form),
}

impl Intake {
    /// Takes the next bytes; gives the text that they complete, UTF-8 where they are UTF-16 and else as they are. Bytes
    /// that do not yet say what they are come later, at the latest from [`Intake::end`].
    pub fn push<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        self.behind.push(bytes);
        let is_plain =
            matches!(self.state, State::Plain) && self.held.is_empty() && plain::is_all_plain(bytes);
        let text = if is_plain {
            self.place += bytes.len() as u64;
            self.before = self.before.and(bytes);
            Cow::Borrowed(bytes)
        } else {
            self.read(bytes, false)
        };
        self.gauge.push(&text);
        text
    }

    /// Ends the bytes; gives the text that was still held back.
    pub fn end(&mut self) -> Vec<u8> {
        let mut text = self.read(&[], true).into_owned();
        let left = std::mem::take(&mut self.held);
        match &mut self.state {
            State::Utf16(decoder) => text.extend_from_slice(decoder.end(&left).as_bytes()),
            State::Head | State::Plain => text.extend_from_slice(&left),
            State::Refused(_) => {}
        }
        self.gauge.push(&text);
        text
    }

    /// Whether some of the bytes were UTF-16: places in the text are then those of its UTF-8.
    pub fn is_utf16(&self) -> bool {
        self.is_utf16
    }

    /// What the first bytes are, where they are no text. Nothing more of it is read.
    pub fn refused(&self) -> Option<NotText> {
        match self.state {
            State::Refused(form) => Some(NotText::Form(form)),
            _ => None,
        }
    }

    /// What stands behind text and was not read.
    pub fn unread(&self) -> Option<NotText> {
        let found = self.packed.into_iter().chain(self.behind.found());
        let first = found.min_by_key(|(_, place)| *place);
        first.map(|(form, place)| NotText::Behind { form, place })
    }

    /// What a reader of the answer must know of how the bytes were read, in sentences; asked after [`Intake::end`].
    pub fn notes(&self) -> Vec<String> {
        let utf16 = "the text was UTF-16, all or a part of it: places in it count the bytes of its UTF-8";
        let utf16 = self.is_utf16.then(|| utf16.to_owned());
        let unread = self.unread().map(|why| why.to_string());
        utf16.into_iter().chain(unread).collect()
    }

    /// Whether "nothing was found" may be said of it, asked after [`Intake::end`].
    pub fn judge(&self) -> Result<(), NotText> {
        let wrong = self.refused().or_else(|| self.unread());
        wrong.or_else(|| self.gauge.judge()).map_or(Ok(()), Err)
    }

    fn read<'b>(&mut self, bytes: &'b [u8], is_end: bool) -> Cow<'b, [u8]> {
        if matches!(self.state, State::Refused(_)) {
            return Cow::default();
        }
        let mut held = std::mem::take(&mut self.held);
        let bytes = if held.is_empty() {
            Cow::Borrowed(bytes)
        } else {
            held.extend_from_slice(bytes);
            Cow::Owned(held)
        };
        if matches!(self.state, State::Head) {
            match Begin::of(&bytes) {
                Begin::More if is_end => self.state = State::Plain,
                Begin::More => {
                    self.held = bytes.into_owned();
                    return Cow::default();
                }
                Begin::Plain => self.state = State::Plain,
                Begin::Utf16(form) => self.state = State::Utf16(Utf16::new(form)),
                Begin::Form(form) => {
                    self.state = State::Refused(form);
                    return Cow::default();
                }
            }
        }
        let is_plain = matches!(self.state, State::Plain) && (is_end || plain::is_all_plain(&bytes));
        if is_plain && memchr::memchr3(0, 0x1f, 0xfd, &bytes).is_none() {
            self.place += bytes.len() as u64;
            self.before = self.before.and(&bytes);
            return bytes;
        }
        let mut text = Vec::with_capacity(bytes.len());
        let read = self.read_pieces(&bytes, is_end, &mut text);
        self.place += read as u64;
        self.held = bytes.get(read..).unwrap_or_default().to_vec();
        Cow::Owned(text)
    }

    /// Reads what is plain and what is UTF-16, one after the other; the place up to which it has read.
    fn read_pieces(&mut self, bytes: &[u8], is_end: bool, text: &mut Vec<u8>) -> usize {
        let mut at = 0;
        let mut seen = 0;
        loop {
            let part = |from: usize, to: usize| bytes.get(from..to).unwrap_or_default();
            match &mut self.state {
                State::Utf16(decoder) => {
                    self.is_utf16 = true;
                    match decoder.read(part(at, bytes.len()), is_end, text) {
                        Decoded::More(read) => return at + read,
                        Decoded::Plain(read) => {
                            at += read;
                            seen = at;
                            self.before = Before::default();
                            self.state = State::Plain;
                        }
                    }
                }
                _ => match plain::read(bytes, at, seen, self.before, is_end) {
                    Plain::More(end) => {
                        text.extend_from_slice(part(at, end));
                        self.before = self.before.and(part(at, end));
                        return end;
                    }
                    Plain::Form(end, form, begun) => {
                        let place = (self.place + end as u64).saturating_sub(begun as u64);
                        self.packed.get_or_insert((form, place));
                        self.before = self.before.and(part(at, end));
                        text.extend_from_slice(part(at, end));
                        at = end;
                        seen = end + 1;
                    }
                    Plain::Utf16 {
                        end,
                        kept,
                        from,
                        decoder,
                    } => {
                        self.before = Before::default();
                        text.extend_from_slice(part(at, end));
                        let last = if decoder.is_little() { from - 1 } else { from };
                        text.extend_from_slice(part(last - kept, last));
                        at = from;
                        self.state = State::Utf16(decoder);
                    }
                },
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Begin {
    More,
    Plain,
    Utf16(Utf16Form),
    Form(Form),
}

impl Begin {
    fn of(head: &[u8]) -> Self {
        match Form::sniff(head) {
            Sniffed::Form(form) => return Self::Form(form),
            Sniffed::More => return Self::More,
            Sniffed::Nothing => {}
        }
        match Utf16Form::sniff(head) {
            utf16::Sniffed::Form(form) => Self::Utf16(form),
            utf16::Sniffed::More => Self::More,
            utf16::Sniffed::Nothing => Self::Plain,
        }
    }
}
