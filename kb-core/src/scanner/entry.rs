//! A record that stands in a text, while matches are ordered and weighed against each other.

use super::fold::RecordTally;
use super::summary::Applies;
use crate::matcher::Record;

/// Matches looked at for causes and wrappers; the earliest or best ones.
pub(super) const MAX_MATCHES: usize = 200;

pub(super) struct Entry<'a> {
    pub(super) place: u32,
    pub(super) record: &'a Record,
    pub(super) tally: Box<RecordTally>,
    pub(super) applies: Applies,
    /// It is no error: its record says so, and none of its lines says otherwise.
    pub(super) harmless: bool,
    /// Nothing is lost where it stands.
    pub(super) notice: bool,
    /// Its record or one of its lines calls it an error.
    pub(super) is_error: bool,
    /// How far above the hardware its domain is.
    pub(super) layer: u8,
}

impl Entry<'_> {
    pub(super) fn first_line(&self) -> u64 {
        self.tally.first.first().map_or(u64::MAX, |matched| matched.line)
    }
}
