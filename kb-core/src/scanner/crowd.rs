//! Lines on which too much stands: as many records are counted there as an answer can hold, and what was left out is told.

use super::lines::size;
use super::score::authority;
use crate::matcher::{Matcher, RawHit};

/// Records that are counted on one line, those that it says most of. Each is scored over all of the line.
pub(super) const MAX_RECORDS_OF_LINE: usize = 100;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Crowded {
    /// Lines, counted once for each reading.
    pub(super) lines: u64,
    /// Tests that were not made, see [`Matcher::thin_out`].
    pub(super) tests: u64,
    pub(super) records: u64,
}

impl Crowded {
    pub(super) fn take(&mut self, tests: u64, records: u64) {
        self.lines += u64::from(tests + records > 0);
        self.tests += tests;
        self.records += records;
    }
}

/// Leaves the hits (in the order of their records) of as many records as are counted on a line. Returns how many it left out.
pub(super) fn keep_most_telling(
    matcher: &Matcher,
    hits: &mut Vec<RawHit>,
    record_of: impl Fn(&RawHit) -> u32,
) -> u64 {
    let groups = hits.chunk_by(|a, b| record_of(a) == record_of(b));
    let mut records: Vec<(u32, f32)> = groups
        .filter_map(|group| {
            let said = |hit: &RawHit| if hit.weak { 0.0 } else { authority(matcher, hit) };
            let most = group.iter().map(said).max_by(f32::total_cmp)?;
            Some((record_of(group.first()?), most))
        })
        .collect();
    if records.len() <= MAX_RECORDS_OF_LINE {
        return 0;
    }
    records.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let dropped = records.split_off(MAX_RECORDS_OF_LINE);
    let mut kept: Vec<u32> = records.into_iter().map(|(record, _)| record).collect();
    kept.sort_unstable();
    hits.retain(|hit| kept.binary_search(&record_of(hit)).is_ok());
    size(dropped.len())
}
