//! A first look at many short texts: where no literal of the matcher stands, a scan finds nothing, and is left out.

use super::clean::Clean;
use super::lines::LONG_LINE_BYTES;
use super::restore::{Signs, restore};
use crate::matcher::{Found, Glance, Matcher};

/// Reused from text to text.
#[derive(Debug)]
pub struct Sieve<'m> {
    matcher: &'m Matcher,
    glance: Glance,
    clean: Clean,
}

impl<'m> Sieve<'m> {
    /// For what a matcher may find.
    pub fn of(matcher: &'m Matcher) -> Self {
        Self {
            matcher,
            glance: Glance::default(),
            clean: Clean::default(),
        }
    }

    /// False only where [`super::scan`] finds nothing in the text.
    pub fn lets_through(&mut self, text: &[u8]) -> bool {
        let line = text.strip_suffix(b"\n").unwrap_or(text);
        // What stands on several lines may be cut, and is put together by the scan; a very long line is read in pieces.
        let is_line = memchr::memchr2(b'\n', b'\r', line).is_none() && line.len() < LONG_LINE_BYTES;
        if self.matcher.slow().is_some() || !is_line {
            return true;
        }
        let mut clean = std::mem::take(&mut self.clean);
        clean.load(line);
        let mut holds = self.holds_literal(line) || self.holds_literal(&clean.text);
        for signs in [Signs::Escapes, Signs::All] {
            holds = holds || (restore(line, signs, false, &mut clean) && self.holds_literal(&clean.text));
        }
        self.clean = clean;
        holds
    }

    fn holds_literal(&mut self, line: &[u8]) -> bool {
        let mut holds = false;
        let filter = self.matcher.filter();
        filter.search(line, 0..line.len(), &mut self.glance, |found| {
            holds |= !matches!(found, Found::Stated(_) | Found::Raised);
        });
        holds
    }
}
