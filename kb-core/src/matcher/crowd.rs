//! Lines with so many possible matches that not all are tested. A test reads the whole line, so that the number of tests is
//! bounded by the length of the line.

use super::{Found, Matcher};

/// Bytes that the tests of one line may read together: 256 tests of a longest piece (64 KiB), 4,096 of the usual 4 KiB.
const MOST_BYTES: usize = 16 << 20;

impl Matcher {
    /// Leaves the tests that a line of this length can pay for, those that say most first. Numbers behind a family word are
    /// read all at once and stay. Returns how many were left out.
    pub(crate) fn thin_out(&self, found: &mut Vec<Found>, line_bytes: usize) -> u64 {
        let most = MOST_BYTES / line_bytes.max(1);
        if found.len() <= most {
            return 0;
        }
        let before = found.len();
        let weight = |found: &Found| match *found {
            Found::Signal(place) | Found::Chain(place, _) => {
                self.signal(place).map_or(0.0, |signal| signal.weight)
            }
            Found::Family(_) | Found::Stated(_) | Found::Raised => f32::INFINITY,
        };
        found.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        let kept = found
            .iter()
            .take_while(|found| weight(found).is_infinite())
            .count();
        found.truncate(most.max(kept));
        found.sort_unstable();
        u64::try_from(before - found.len()).unwrap_or(u64::MAX)
    }
}
