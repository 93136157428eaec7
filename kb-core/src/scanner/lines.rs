//! Bytes to lines. Whole lines are handed on in runs without copying; a line over [`LONG_LINE_BYTES`] is handed on in
//! overlapping pieces, cut at places that depend on the line alone, so the result never depends on the chunks.

use memchr::{memchr, memchr_iter, memrchr};

/// A longer line is read in pieces of this length, in bytes.
pub const LONG_LINE_BYTES: usize = 64 * 1024;
/// How much of a piece the next one repeats, in bytes. In a long line a match longer than this may be missed.
pub const OVERLAP_BYTES: usize = 4 * 1024;

/// Whole lines are handed on at most so many bytes at a time, so that [`super::error_lines`] knows soon which of them a record
/// explains.
pub(super) const RUN_BYTES: usize = 16 * 1024;

pub(super) struct Part<'a> {
    /// The bytes. A run ends each line with `\n`, but for the last line of the text.
    pub(super) bytes: &'a [u8],
    /// Number of the first line.
    pub(super) line: u64,
    /// Where the bytes stand in the body.
    pub(super) offset: u64,
    /// For a piece of a long line: where it stands in its line. A run of whole lines has `None`.
    pub(super) piece: Option<Piece>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) first: bool,
    pub(super) last: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) lines: u64,
    pub(super) bytes: u64,
    pub(super) long_lines: u64,
}

#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The beginning of a line whose end has not come, at most [`LONG_LINE_BYTES`].
    held: Vec<u8>,
    /// Where `held` begins in the body.
    offset: u64,
    ended: u64,
    /// Whether `held` is a later piece of a long line.
    in_long_line: bool,
    long_count: u64,
}

impl Lines {
    pub(super) fn push(&mut self, mut bytes: &[u8], mut read: impl FnMut(Part<'_>)) {
        while !bytes.is_empty() {
            let taken = if self.held.is_empty() && !self.in_long_line {
                self.take_run(bytes, &mut read)
            } else {
                0
            };
            let rest = bytes.get(taken..).unwrap_or_default();
            let held = self.hold(rest, &mut read);
            bytes = rest.get(held..).unwrap_or_default();
        }
    }

    pub(super) fn long_lines(&self) -> u64 {
        self.long_count
    }

    pub(super) fn finish(mut self, mut read: impl FnMut(Part<'_>)) -> End {
        if !self.held.is_empty() || self.in_long_line {
            self.end_line(&mut read);
        }
        End {
            lines: self.ended,
            bytes: self.offset,
            long_lines: self.long_count,
        }
    }

    /// Hands on the whole lines at the beginning of `bytes`, up to the first one that is too long.
    fn take_run(&mut self, bytes: &[u8], read: &mut impl FnMut(Part<'_>)) -> usize {
        let near = bytes.get(..RUN_BYTES).unwrap_or(bytes);
        let mut run = memrchr(b'\n', near).map_or(0, |last| last + 1);
        let mut lines = 0;
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes.get(..run).unwrap_or_default()) {
            if end - start > LONG_LINE_BYTES {
                run = start;
                break;
            }
            lines += 1;
            start = end + 1;
        }
        if run > 0 {
            read(Part {
                bytes: bytes.get(..run).unwrap_or_default(),
                line: self.ended + 1,
                offset: self.offset,
                piece: None,
            });
            self.ended += lines;
            self.offset += size(run);
        }
        run
    }

    /// Adds bytes to the line that is held until it ends or is too long. Returns how many it took.
    fn hold(&mut self, bytes: &[u8], read: &mut impl FnMut(Part<'_>)) -> usize {
        if bytes.is_empty() {
            return 0;
        }
        // One byte more than a piece shows whether the line ends there or goes on.
        let room = LONG_LINE_BYTES + 1 - self.held.len();
        let near = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        if let Some(end) = memchr(b'\n', near) {
            self.held.extend_from_slice(near.get(..end).unwrap_or_default());
            self.end_line(read);
            self.offset += 1;
            return end + 1;
        }
        let kept = near.len().min(LONG_LINE_BYTES - self.held.len());
        self.held.extend_from_slice(near.get(..kept).unwrap_or_default());
        if near.len() > kept {
            self.cut_piece(read);
        }
        kept
    }

    fn cut_piece(&mut self, read: &mut impl FnMut(Part<'_>)) {
        self.long_count += u64::from(!self.in_long_line);
        let piece = Piece {
            first: !self.in_long_line,
            last: false,
        };
        read(Part {
            bytes: &self.held,
            line: self.ended + 1,
            offset: self.offset,
            piece: Some(piece),
        });
        let done = self.held.len().saturating_sub(OVERLAP_BYTES);
        self.held.drain(..done);
        self.offset += size(done);
        self.in_long_line = true;
    }

    fn end_line(&mut self, read: &mut impl FnMut(Part<'_>)) {
        let piece = self.in_long_line.then_some(Piece {
            first: false,
            last: true,
        });
        read(Part {
            bytes: &self.held,
            line: self.ended + 1,
            offset: self.offset,
            piece,
        });
        self.offset += size(self.held.len());
        self.ended += 1;
        self.held.clear();
        self.in_long_line = false;
    }
}

pub(super) fn line_start(bytes: &[u8], at: usize) -> usize {
    memrchr(b'\n', bytes.get(..at).unwrap_or_default()).map_or(0, |end| end + 1)
}

pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr(b'\n', tail(bytes, at)).map_or(bytes.len(), |end| at + end)
}

pub(super) fn newlines(bytes: &[u8]) -> u64 {
    size(memchr_iter(b'\n', bytes).count())
}

pub(super) fn tail(bytes: &[u8], from: usize) -> &[u8] {
    bytes.get(from..).unwrap_or_default()
}

pub(super) fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
