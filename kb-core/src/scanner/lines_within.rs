//! The lines of a text that a program wrote into one of its own, as a string of JSON: restoring it leaves a carriage return for
//! each line break. Patterns of whole lines and rows of tables ask for them.

use std::ops::Range;

use memchr::memchr_iter;

use super::clean::Clean;
use super::engine::Engine;
use super::event::Sink;
use super::lines::Piece;
use super::origin::Origin;

/// Lines that are read of one.
const MOST: usize = 2_000;

impl Engine {
    pub(super) fn scan_within(&mut self, clean: &Clean, origin: &Origin<'_>, events: &mut Sink<'_>) {
        let mut part = Clean::default();
        for line in lines_within(&clean.text) {
            // The first and the last line of a piece may be cut.
            let is_cut =
                |piece: Piece| !piece.first && line.start == 0 || !piece.last && line.end == clean.text.len();
            if origin.piece.is_some_and(is_cut) {
                continue;
            }
            part.load_part(clean, line);
            self.wake_single(&part.text);
            let origin = Origin {
                piece: None,
                cleaned: Some(&part),
                within: true,
                ..*origin
            };
            self.look_at(&part.text, &origin, events);
        }
    }
}

/// The lines of a restored text; none where only its end is a line break, as in container logs.
fn lines_within(text: &[u8]) -> Vec<Range<usize>> {
    let goes_on = |at: usize| {
        let next = text.get(at + 1);
        next.is_some_and(|next| !matches!(next, b'\r' | b'"' | b'\''))
    };
    if memchr_iter(b'\r', text).filter(|at| goes_on(*at)).take(2).count() < 2 {
        return Vec::new();
    }
    let mut start = 0;
    let ends = memchr_iter(b'\r', text).chain(std::iter::once(text.len()));
    let lines = ends.map(|end| std::mem::replace(&mut start, end + 1)..end);
    lines.filter(|line| !line.is_empty()).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_of_several_lines_has_lines_within() {
        for (text, lines) in [
            ("{\"log\":\"a\r\",\"stream\":\"b\"}", 0),
            ("a\rb", 0),
            ("\"a\rb\r\rc\r\"", 4),
        ] {
            assert_eq!(lines_within(text.as_bytes()).len(), lines, "{text:?}");
        }
        assert_eq!(lines_within("a\r".repeat(5_000).as_bytes()).len(), MOST);
    }
}
