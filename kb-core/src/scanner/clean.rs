//! Takes terminal control sequences off a line and keeps the way back to the bytes as sent. [`super::restore`] puts back more.

use std::ops::Range;

pub(super) const ESC: u8 = 0x1b;
/// Longest operating system command (window titles, links) that is taken off, in bytes.
const MAX_STRING: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Clean {
    pub(super) text: Vec<u8>,
    /// Where runs of kept bytes begin: (place in `text`, place in the line as sent).
    runs: Vec<(usize, usize)>,
}

impl Clean {
    pub(super) fn load(&mut self, line: &[u8]) {
        self.clear();
        let mut at = 0;
        while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
            let kept = memchr::memchr(ESC, rest).unwrap_or(rest.len());
            self.keep(line, at..at + kept);
            at += kept;
            at += line.get(at..).map_or(0, sequence_len);
        }
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.runs.clear();
    }

    pub(super) fn keep(&mut self, line: &[u8], range: Range<usize>) {
        if !range.is_empty() {
            self.runs.push((self.text.len(), range.start));
            self.text.extend_from_slice(line.get(range).unwrap_or_default());
        }
    }

    /// Adds what other bytes stood for that end at a place of the line. The last byte leads back to their last.
    pub(super) fn put(&mut self, text: &[u8], end: usize) {
        if !text.is_empty() {
            self.runs.push((self.text.len(), end.saturating_sub(text.len())));
            self.text.extend_from_slice(text);
        }
    }

    /// Adds what other bytes stood for, however long it is. Each byte leads back into their place.
    pub(super) fn put_for(&mut self, text: &[u8], place: &Range<usize>) {
        let last = place.end.saturating_sub(1);
        let sent = (place.start..).map(|at| at.min(last));
        let kept = self.text.len();
        self.runs.extend((kept..).zip(sent).take(text.len()));
        self.text.extend_from_slice(text);
    }

    /// Adds a cleaned line from a place on, which was sent `behind` bytes after the first.
    pub(super) fn append(&mut self, line: &Self, from: usize, behind: usize) {
        let Some(added) = line.text.get(from..).filter(|added| !added.is_empty()) else {
            return;
        };
        let kept = self.text.len();
        let first = (kept, behind + line.place(from));
        let further = line.runs.iter().filter(|(place, _)| *place > from);
        let further = further.map(|(place, sent)| (kept + place - from, behind + sent));
        self.runs.extend(std::iter::once(first).chain(further));
        self.text.extend_from_slice(added);
    }

    /// Becomes a part of another. Costs no more than the part, so that reading all parts costs no more than the whole.
    pub(super) fn load_part(&mut self, whole: &Self, part: Range<usize>) {
        self.clear();
        self.text
            .extend_from_slice(whole.text.get(part.clone()).unwrap_or_default());
        self.runs.push((0, whole.place(part.start)));
        let behind = whole.runs.partition_point(|(place, _)| *place <= part.start);
        let further = whole.runs.get(behind..).unwrap_or_default().iter();
        let further = further.take_while(|(place, _)| *place < part.end);
        self.runs
            .extend(further.map(|(place, sent)| (place - part.start, *sent)));
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.text.truncate(len);
        self.runs.retain(|(place, _)| *place < len);
    }

    /// The span in the line as sent: from its first byte to behind its last.
    pub(super) fn original(&self, span: &Range<usize>) -> Range<usize> {
        if span.is_empty() {
            let at = self.place(span.start);
            return at..at;
        }
        self.place(span.start)..self.place(span.end - 1) + 1
    }

    fn place(&self, at: usize) -> usize {
        let run = self.runs.partition_point(|(kept, _)| *kept <= at);
        let (kept, sent) = run
            .checked_sub(1)
            .and_then(|run| self.runs.get(run))
            .copied()
            .unwrap_or_default();
        sent + (at - kept)
    }
}

/// Length of the control sequence at the beginning of `bytes`, which is `ESC`; 0 at the end of the line.
pub(super) fn sequence_len(bytes: &[u8]) -> usize {
    match bytes.get(1) {
        None => bytes.len(),
        // CSI: parameters and intermediates, then one final byte.
        Some(b'[') => {
            let body = bytes.get(2..).unwrap_or_default();
            let parameters = body.iter().take_while(|b| (0x20..=0x3f).contains(*b)).count();
            let has_final = body.get(parameters).is_some_and(|b| (0x40..=0x7e).contains(b));
            2 + parameters + usize::from(has_final)
        }
        // OSC: up to BEL or ESC backslash.
        Some(b']') => {
            let body = bytes.get(2..bytes.len().min(2 + MAX_STRING)).unwrap_or_default();
            match body.iter().position(|b| matches!(*b, 0x07 | ESC)) {
                Some(end) if body.get(end) == Some(&0x07) => 2 + end + 1,
                Some(end) if bytes.get(2 + end + 1) == Some(&b'\\') => 2 + end + 2,
                _ => 2,
            }
        }
        // Intermediates, then one final byte: `ESC ( B`, which `tput sgr0` prints.
        Some(0x20..=0x2f) => {
            let body = bytes.get(1..).unwrap_or_default();
            let intermediates = body.iter().take_while(|b| (0x20..=0x2f).contains(*b)).count();
            let has_final = body.get(intermediates).is_some_and(|b| (0x30..=0x7e).contains(b));
            1 + intermediates + usize::from(has_final)
        }
        // A two-byte sequence.
        Some(0x30..=0x7e) => 2,
        Some(_) => 1,
    }
}
