//! The beginning and the end of a stream: enough to suggest records for a text of any length in bounded memory.

use std::collections::VecDeque;
use std::fmt;

const END_BYTES: usize = 16 * 1024;

#[derive(Default)]
pub(super) struct Excerpt {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    is_cut: bool,
}

impl Excerpt {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let to_head = bytes.len().min(END_BYTES.saturating_sub(self.head.len()));
        let (head, rest) = bytes.split_at(to_head);
        self.head.extend_from_slice(head);
        let kept = rest.len().min(END_BYTES);
        let (skipped, rest) = rest.split_at(rest.len() - kept);
        let overflow = (self.tail.len() + rest.len())
            .saturating_sub(END_BYTES)
            .min(self.tail.len());
        self.is_cut |= overflow > 0 || !skipped.is_empty();
        self.tail.drain(..overflow);
        self.tail.extend(rest);
    }

    /// What is kept, as text; a line break stands where something was left out.
    pub(super) fn text(&self) -> String {
        let mut bytes = self.head.clone();
        if self.is_cut {
            bytes.push(b'\n');
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Lengths only: what was pasted must not reach a log by way of a debug print.
impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (head, tail) = (self.head.len(), self.tail.len());
        f.debug_struct("Excerpt")
            .field("head_bytes", &head)
            .field("tail_bytes", &tail)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(text: &[u8], piece: usize) -> String {
        let mut excerpt = Excerpt::default();
        for bytes in text.chunks(piece) {
            excerpt.push(bytes);
        }
        excerpt.text()
    }

    #[test]
    fn a_debug_print_shows_no_text() {
        let mut excerpt = Excerpt::default();
        excerpt.push(b"secret");
        assert_eq!(
            format!("{excerpt:?}"),
            "Excerpt { head_bytes: 6, tail_bytes: 0, .. }"
        );
    }

    #[test]
    fn a_short_text_is_kept_whole_and_of_a_long_one_both_ends() {
        let short = "a line\n".repeat(4_000);
        assert!(short.len() > END_BYTES && short.len() < 2 * END_BYTES);
        let long = format!("first\n{}last", "filler\n".repeat(100_000));
        for piece in [1, 7, 4_096, END_BYTES, 3 * END_BYTES, 1_000_000] {
            assert_eq!(pushed(short.as_bytes(), piece), short);
            let ends = pushed(long.as_bytes(), piece);
            assert!(ends.starts_with("first\n") && ends.ends_with("\nlast"));
            assert_eq!(ends.len(), 2 * END_BYTES + 1);
        }
    }
}
