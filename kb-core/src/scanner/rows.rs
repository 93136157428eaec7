//! Rows of tables, read after the other lines of their part: what their cells say is looked for in the records, and what looks bad and no
//! record explains is told.

use memchr::{memchr, memmem};

use super::clean::{Clean, ESC};
use super::dmon::Cell;
use super::dmon_lines::head;
use super::engine::Engine;
use super::event::Sink;
use super::lines::{Part, line_end, size};
use super::origin::Origin;

impl Engine {
    /// `head`: where the first head of a table stands in the part, and the number of its line.
    pub(super) fn scan_rows(&mut self, part: &Part<'_>, head: Option<(usize, u64)>, events: &mut Sink<'_>) {
        let begin = if self.tables.is_watching(part.line) {
            Some((0, part.line))
        } else {
            head
        };
        let Some((mut from, mut line)) = begin else {
            return;
        };
        while from < part.bytes.len() {
            let end = line_end(part.bytes, from);
            let bytes = part.bytes.get(from..end).unwrap_or_default();
            let offset = part.offset + size(from);
            let mut is_unexplained = false;
            let shown = without_colours(bytes);
            let text = shown.as_ref().map_or(bytes, |clean| clean.text.as_slice());
            for mut cell in self.tables.take(text, line) {
                if let Some(clean) = &shown {
                    cell.place = clean.original(&cell.place);
                }
                let is_explained = self.scan_cell(&cell, line, offset, events);
                is_unexplained |= cell.is_bad && !is_explained;
            }
            if is_unexplained {
                self.tally
                    .error_lines
                    .insert(text, line, offset + size(bytes.len()));
            }
            line += 1;
            from = end + 1;
        }
    }

    /// Whether a record explains it.
    fn scan_cell(&mut self, cell: &Cell, line: u64, offset: u64, events: &mut Sink<'_>) -> bool {
        let mut clean = Clean::default();
        clean.put_for(cell.text.as_bytes(), &cell.place);
        self.wake_single(&clean.text);
        let origin = Origin {
            cleaned: Some(&clean),
            restored: true,
            ..Origin::of(line, offset)
        };
        self.look_at(&clean.text, &origin, events)
    }
}

/// Whether a table begins with a line.
pub(super) fn has_head(line: &[u8]) -> bool {
    // Asked of each line with an escape or a colour.
    memmem::find(line, b"Entity").is_some()
        && without_colours(line)
            .map_or_else(|| head(line), |clean| head(&clean.text))
            .is_some()
}

/// `None`: it has none.
fn without_colours(line: &[u8]) -> Option<Clean> {
    memchr(ESC, line)?;
    let mut clean = Clean::default();
    clean.load(line);
    Some(clean)
}
