//! Rows of tables, read after the other lines of their part: what their cells say is looked for in the records, and what looks bad and no
//! record explains is told.

use super::clean::Clean;
use super::dmon::Cell;
use super::engine::Engine;
use super::event::Sink;
use super::lines::{Part, line_end, size};
use super::origin::Origin;

impl Engine {
    /// `head`: where the first head of a table stands in the part, and the number of its line.
    pub(super) fn scan_rows(&mut self, part: &Part<'_>, head: Option<(usize, u64)>, events: &mut Sink<'_>) {
        let begin = if self.tables.is_open() {
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
            for cell in self.tables.take(bytes, line) {
                let is_explained = self.scan_cell(&cell, line, offset, events);
                is_unexplained |= cell.is_bad && !is_explained;
            }
            if is_unexplained {
                self.tally
                    .error_lines
                    .insert(bytes, line, offset + size(bytes.len()));
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
