//! Bytes of a pipe into lines, and the end of a text that nobody bounds.

use std::collections::VecDeque;

/// Bytes that are kept of a worker's standard error.
const TAIL_BYTES: usize = 2048;

/// Collects bytes and gives complete lines.
#[derive(Default)]
pub(super) struct LineBuffer {
    bytes: VecDeque<u8>,
}

impl LineBuffer {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// The next complete line without its end.
    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n')?;
        let mut line: Vec<u8> = self.bytes.drain(..=end).collect();
        line.pop();
        Some(line)
    }
}

/// The last bytes of a text.
#[derive(Default)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
}

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let surplus = self.bytes.len().saturating_sub(TAIL_BYTES);
        self.bytes.drain(..surplus);
    }

    /// As text, what is not UTF-8 replaced.
    pub(super) fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_they_arrive() {
        let mut lines = LineBuffer::default();
        lines.push(b"one\ntw");
        assert_eq!(lines.next_line().as_deref(), Some(b"one".as_slice()));
        assert_eq!(lines.next_line(), None);
        lines.push(b"o\n\n");
        assert_eq!(lines.next_line().as_deref(), Some(b"two".as_slice()));
        assert_eq!(lines.next_line().as_deref(), Some(b"".as_slice()));
        assert_eq!(lines.next_line(), None);
    }

    #[test]
    fn only_the_end_of_last_words_is_kept() {
        let mut tail = Tail::default();
        tail.push(&vec![b'x'; TAIL_BYTES]);
        tail.push(b"end");
        assert_eq!(tail.text().len(), TAIL_BYTES);
        assert!(tail.text().ends_with("xend"));
    }
}
