//! Lines that a container runtime has cut: in the form of the CRI a line with the flag `P` goes on with the next line of
//! the same stream, up to one with `F`; in Docker's json-file one goes on until a text ends with `\n`. They are put together and read once more; only what stands across a cut counts.

use std::ops::Range;

use memchr::memmem;

use super::clean::Clean;
use super::cut_lines::Joined;
use super::lines::size;
use super::restore::{Signs, restore};

/// Bytes of lines that are put together at most; of what is longer, only cuts are looked at.
const MOST_BYTES: usize = 32 * 1024;
/// What is kept of a line before such a cut.
const TAIL_BYTES: usize = 4 * 1024;
/// Longest time before a stream's name: RFC 3339 with nanoseconds and an offset.
const LONGEST_TIME: usize = 40;

#[derive(Debug, Default)]
pub(super) struct Partials {
    stdout: Option<Joined>,
    stderr: Option<Joined>,
}

struct Line<'l> {
    is_stderr: bool,
    is_partial: bool,
    text: Range<usize>,
    bytes: &'l [u8],
}

/// What stands behind a text that Docker cuts at 16 KiB, whose end of line it writes as `\n`.
const DOCKER_STREAM: &[u8] = b"\",\"stream\":\"std";
const DOCKER_LOG: &[u8] = b"{\"log\":\"";

/// Places at which a line may be partial, one behind the other.
#[derive(Debug)]
pub(super) struct Cuts {
    cri: Option<usize>,
    docker: Option<usize>,
}

impl Cuts {
    pub(super) fn of(text: &[u8]) -> Self {
        Self {
            cri: cri(text, 0),
            docker: docker(text, 0),
        }
    }

    /// The next place from `from` on, which only ever rises.
    pub(super) fn next(&mut self, text: &[u8], from: usize) -> Option<usize> {
        if self.cri.is_some_and(|at| at < from) {
            self.cri = cri(text, from);
        }
        if self.docker.is_some_and(|at| at < from) {
            self.docker = docker(text, from);
        }
        self.cri.into_iter().chain(self.docker).min()
    }
}

fn cri(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut flags = memmem::find_iter(rest, b" P ");
    flags.find_map(|flag| {
        let before = rest.get(..flag)?;
        (before.ends_with(b" stdout") || before.ends_with(b" stderr")).then_some(from + flag)
    })
}

fn docker(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut ends = memmem::find_iter(rest, DOCKER_STREAM);
    ends.find_map(|end| {
        let is_whole = ends_line(rest.get(..end)?);
        (!is_whole).then_some(from + end)
    })
}

/// Whether a string of JSON ends with the end of a line, and not with a backslash and a letter.
fn ends_line(text: &[u8]) -> bool {
    let before = text.strip_suffix(b"n").unwrap_or_default();
    let slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
    slashes % 2 == 1
}

impl Partials {
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
            let from = line.text.start.max(line.text.end.saturating_sub(TAIL_BYTES));
            return open.replace(line.begin(from, number, offset));
        }
        None
    }
}

impl<'l> Line<'l> {
    fn read(bytes: &'l [u8]) -> Option<Self> {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if bytes.starts_with(DOCKER_LOG) {
            return Self::of_docker(bytes);
        }
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
        Some(Self {
            is_stderr,
            is_partial,
            text: bytes.len().min(time + 10)..bytes.len(),
            bytes,
        })
    }

    /// `{"log":"…","stream":"stderr","time":"…"}` of Docker's json-file driver.
    fn of_docker(bytes: &'l [u8]) -> Option<Self> {
        let end = memmem::rfind(bytes, DOCKER_STREAM)?;
        let text = DOCKER_LOG.len().min(end)..end;
        let is_stderr = bytes.get(end + DOCKER_STREAM.len()..)?.starts_with(b"err");
        Some(Self {
            is_stderr,
            is_partial: !ends_line(bytes.get(text.clone())?),
            text,
            bytes,
        })
    }

    fn begin(&self, from: usize, number: u64, offset: u64) -> Joined {
        let text = self.bytes.get(from..self.text.end).unwrap_or_default();
        Joined::begin(self.clean(text), number, offset + size(from), text.len())
    }

    fn add_to(&self, joined: &mut Joined, number: u64, offset: u64) {
        let text = self.bytes.get(self.text.clone()).unwrap_or_default();
        let begin = size(self.text.start);
        joined.add(&self.clean(text), number, offset + begin, text.len());
    }

    fn clean(&self, text: &[u8]) -> Clean {
        let mut clean = Clean::default();
        if self.bytes.starts_with(DOCKER_LOG) {
            restore(text, Signs::Escapes, false, &mut clean);
        } else {
            clean.load(text);
        }
        clean
    }
}
