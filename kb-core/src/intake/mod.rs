//! From the bytes of a file to text that a scanner can read. What is no text is refused with a reason: in bytes that
//! nobody could read, "no known error" would be a lie.
//!
//! ```text
//! form     what the first bytes say: an archive, a compressed file, an image …
//! utf16    UTF-16 to UTF-8, as PowerShell's `>` writes it
//! gauge    how much of the text cannot be printed
//! ```

mod form;
mod gauge;
#[cfg(test)]
mod tests;
mod utf16;

use std::borrow::Cow;

pub use form::Form;
use form::Sniffed;
use gauge::Gauge;
use utf16::{Utf16, Utf16Form};

/// Why bytes are no text that can be looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// The first bytes are those of another kind of file.
    #[error("it is {}, not text: {}", .0.name(), .0.advice())]
    Form(Form),
    /// Bytes that cannot be printed, with hardly a byte that is zero.
    #[error(
        "{percent} % of it is not text: it looks like a binary file, or a text in another encoding than UTF-8; send text, \
         such as `iconv -f ENCODING -t UTF-8 FILE` prints"
    )]
    Unprintable {
        /// Share of bytes that cannot be printed.
        percent: u32,
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
}

/// Makes text of bytes as they come. The same bytes give the same text and the same judgement however they are cut.
#[derive(Debug, Default)]
pub struct Intake {
    state: State,
    gauge: Gauge,
}

#[derive(Debug)]
enum State {
    /// First bytes that may yet become something else than text.
    Head(Vec<u8>),
    Plain,
    Utf16(Utf16),
    Refused(Form),
}

impl Default for State {
    fn default() -> Self {
        Self::Head(Vec::new())
    }
}

impl Intake {
    /// Takes the next bytes; gives the text that they complete, UTF-8 where they are UTF-16 and else as they are. First
    /// bytes that do not yet say what they are come later, at the latest from [`Intake::end`].
    pub fn push<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let text = match &mut self.state {
            State::Head(head) if head.is_empty() => match Begin::of(bytes) {
                Begin::More => {
                    head.extend_from_slice(bytes);
                    Cow::default()
                }
                begin => self.begin(begin, Cow::Borrowed(bytes)),
            },
            State::Head(head) => {
                head.extend_from_slice(bytes);
                let head = std::mem::take(head);
                match Begin::of(&head) {
                    Begin::More => {
                        self.state = State::Head(head);
                        Cow::default()
                    }
                    begin => self.begin(begin, Cow::Owned(head)),
                }
            }
            State::Plain => Cow::Borrowed(bytes),
            State::Utf16(decoder) => Cow::Owned(decoder.push(bytes)),
            State::Refused(_) => Cow::default(),
        };
        self.gauge.push(&text);
        text
    }

    /// Ends the bytes; gives the text that was still held back.
    pub fn end(&mut self) -> Vec<u8> {
        let text = match &mut self.state {
            State::Head(head) => std::mem::take(head),
            State::Utf16(decoder) => decoder.end(),
            State::Plain | State::Refused(_) => Vec::new(),
        };
        self.gauge.push(&text);
        text
    }

    /// Whether the bytes were UTF-16: places in the text are then those of its UTF-8.
    pub fn is_utf16(&self) -> bool {
        matches!(self.state, State::Utf16(_))
    }

    /// What the first bytes are, where they are no text. Nothing more of it is read.
    pub fn refused(&self) -> Option<NotText> {
        match self.state {
            State::Refused(form) => Some(NotText::Form(form)),
            _ => None,
        }
    }

    /// Whether "nothing was found" may be said of it, asked after [`Intake::end`].
    pub fn judge(&self) -> Result<(), NotText> {
        self.refused().or_else(|| self.gauge.judge()).map_or(Ok(()), Err)
    }

    fn begin<'b>(&mut self, begin: Begin, bytes: Cow<'b, [u8]>) -> Cow<'b, [u8]> {
        match begin {
            Begin::More | Begin::Plain => {
                self.state = State::Plain;
                bytes
            }
            Begin::Utf16(form) => {
                let mut decoder = Utf16::new(form);
                let text = decoder.push(&bytes);
                self.state = State::Utf16(decoder);
                Cow::Owned(text)
            }
            Begin::Form(form) => {
                self.state = State::Refused(form);
                Cow::default()
            }
        }
    }
}

/// What the first bytes make of the rest.
#[derive(Clone, Copy)]
enum Begin {
    /// Too few to say.
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
