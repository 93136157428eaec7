//! Bytes of a pipe into lines, and both ends of a text that nobody bounds.

use std::collections::VecDeque;

/// Bytes kept of the end of a worker's standard error, and of its beginning: what went wrong first often stands there.
const TAIL_BYTES: usize = 2048;
const HEAD_BYTES: usize = 8192;

#[derive(Default)]
pub(super) struct LineBuffer {
    bytes: VecDeque<u8>,
}

impl LineBuffer {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n')?;
        let mut line: Vec<u8> = self.bytes.drain(..=end).collect();
        line.pop();
        Some(line)
    }
}

#[derive(Default)]
pub(super) struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Bytes in between that were not kept.
    lost: usize,
}

impl Ends {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES.saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend(first);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..surplus);
        self.lost += surplus;
    }

    /// The end as text, what is not UTF-8 replaced.
    pub(super) fn last(&self) -> String {
        let kept: Vec<u8> = self.head.iter().chain(&self.tail).copied().collect();
        let from = if self.lost > 0 {
            self.head.len()
        } else {
            kept.len().saturating_sub(TAIL_BYTES)
        };
        String::from_utf8_lossy(kept.get(from..).unwrap_or_default()).into_owned()
    }

    /// All that was kept; where something was lost, whole lines around a line that says so.
    pub(super) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.lost == 0 {
            let all = [self.head.as_slice(), &tail].concat();
            return String::from_utf8_lossy(&all).into_owned();
        }
        let head = self
            .head
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        let head = self.head.get(..head).unwrap_or_default();
        let tail = tail
            .iter()
            .position(|byte| *byte == b'\n')
            .and_then(|end| tail.get(end + 1..));
        let [head, tail] = [head, tail.unwrap_or_default()].map(String::from_utf8_lossy);
        format!("{head}[about {} bytes left out]\n{tail}", self.lost)
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
        let mut said = Ends::default();
        said.push(b"begin");
        assert_eq!(said.last(), "begin");
        said.push(&vec![b'x'; HEAD_BYTES + TAIL_BYTES]);
        said.push(b"end");
        assert_eq!(said.last().len(), TAIL_BYTES);
        assert!(said.last().ends_with("xend"));
    }

    #[test]
    fn the_first_lines_outlast_a_flood() {
        let mut said = Ends::default();
        said.push(b"first\n");
        let few = said.text();
        assert_eq!(few, "first\n");
        for number in 0..10_000 {
            said.push(format!("line {number}\n").as_bytes());
        }
        let text = said.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[0], *lines.last().unwrap()), ("first", "line 9999"));
        let whole = |line: &&&str| **line == "first" || line.starts_with("line ");
        let others: Vec<_> = lines.iter().filter(|line| !whole(line)).collect();
        assert!(
            others.len() == 1 && others[0].contains("bytes left out"),
            "{others:?}"
        );
        assert!(text.len() < HEAD_BYTES + TAIL_BYTES + 100);
    }
}
