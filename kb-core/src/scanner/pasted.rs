//! Lines that are read once more: put together where they were cut, and, in a short text, as they were before pages, editors, addresses
//! and mails changed them.

use super::cut_lines::Joined;
use super::engine::Engine;
use super::event::Sink;
use super::origin::Origin;
use super::restore::Signs;

impl Engine {
    pub(super) fn scan_pasted(&mut self, bytes: &[u8], line: u64, offset: u64, events: &mut Sink<'_>) {
        // What reads as Markdown may belong to the message: "`num_heads` must be divisible".
        for signs in [Signs::Typography, Signs::All, Signs::Encoded] {
            self.scan_restored(bytes, &Origin::of(line, offset), signs, events);
        }
    }

    pub(super) fn scan_joined(&mut self, joined: &Joined, events: &mut Sink<'_>) {
        self.wake_single(&joined.clean.text);
        let origin = Origin {
            line: joined.first(),
            offset: joined.offset,
            piece: None,
            cleaned: Some(&joined.clean),
            joined: Some(joined),
            restored: false,
            within: false,
        };
        self.look_at(&joined.clean.text, &origin, events);
    }
}
