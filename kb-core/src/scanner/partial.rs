//! Lines that a container runtime has cut: in the form of the CRI a line with the flag `P` goes on with the next line of
//! the same stream, up to one with `F`. They are put together and read once more; only what stands across a cut counts.

use super::clean::Clean;
use super::cut_lines::Joined;
use super::lines::size;

/// Bytes of lines that are put together at most; of what is longer, only cuts are looked at.
const MOST_BYTES: usize = 32 * 1024;
/// What is kept of a line before such a cut.
const TAIL_BYTES: usize = 4 * 1024;
/// Longest time before a stream's name: RFC 3339 with nanoseconds and an offset.
const LONGEST_TIME: usize = 40;

/// The lines of each stream that have not ended.
#[derive(Debug, Default)]
pub(super) struct Partials {
    stdout: Option<Joined>,
    stderr: Option<Joined>,
}

/// A line of a container.
struct Line<'l> {
    is_stderr: bool,
    is_partial: bool,
    /// Where the program's own text begins.
    text: usize,
    bytes: &'l [u8],
}

/// The next place from `from` on at which a line may be partial.
pub(super) fn find(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut flags = memchr::memmem::find_iter(rest, b" P ");
    flags.find_map(|flag| {
        let before = rest.get(..flag)?;
        (before.ends_with(b" stdout") || before.ends_with(b" stderr")).then_some(from + flag)
    })
}

impl Partials {
    /// Whether no line is to go on.
    pub(super) fn is_idle(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    /// Takes the next line, its number and its place; gives what it completes.
    pub(super) fn take(&mut self, bytes: &[u8], number: u64, offset: u64) -> Option<Joined> {
        let line = Line::read(bytes)?;
        let open = if line.is_stderr {
            &mut self.stderr
        } else {
            &mut self.stdout
        };
        match open {
            Some(joined) => line.add_to(joined, number, offset),
            None if line.is_partial => *open = Some(line.begin(0, number, offset)),
            None => return None,
        }
        if !line.is_partial {
            return open.take();
        }
        if open
            .as_ref()
            .is_some_and(|joined| joined.clean.text.len() > MOST_BYTES)
        {
            let from = line.text.max(line.bytes.len().saturating_sub(TAIL_BYTES));
            return open.replace(line.begin(from, number, offset));
        }
        None
    }
}

impl<'l> Line<'l> {
    fn read(bytes: &'l [u8]) -> Option<Self> {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let head = bytes.get(..bytes.len().min(LONGEST_TIME)).unwrap_or_default();
        let time = memchr::memchr(b' ', head).filter(|_| head.first().is_some_and(u8::is_ascii_digit))?;
        let is_stderr = match bytes.get(time..time + 8)? {
            b" stdout " => false,
            b" stderr " => true,
            _ => return None,
        };
        let is_partial = match bytes.get(time + 8..)? {
            [b'P', b' ', ..] => true,
            [b'F', b' ', ..] | b"F" => false,
            _ => return None,
        };
        let text = bytes.len().min(time + 10);
        Some(Self {
            is_stderr,
            is_partial,
            text,
            bytes,
        })
    }

    fn begin(&self, from: usize, number: u64, offset: u64) -> Joined {
        let text = self.bytes.get(from..).unwrap_or_default();
        Joined::begin(clean(text), number, offset + size(from), text.len())
    }

    fn add_to(&self, joined: &mut Joined, number: u64, offset: u64) {
        let text = self.bytes.get(self.text..).unwrap_or_default();
        joined.add(&clean(text), number, offset + size(self.text), text.len());
    }
}

fn clean(text: &[u8]) -> Clean {
    let mut clean = Clean::default();
    clean.load(text);
    clean
}
