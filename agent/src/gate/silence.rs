//! How old the last look may be before its daemon counts as silent.

use std::time::Duration;

/// Between two looks of the daemon where it has not written down how long it waits.
pub(crate) const INTERVAL: Duration = Duration::from_mins(15);
/// What a look may take beside its interval.
const BESIDE: Duration = Duration::from_secs(30);
/// A daemon that has missed so many looks is silent.
const MISSED_LOOKS: u32 = 3;

pub(crate) fn oldest_look(interval: Duration) -> Duration {
    // The daemon leaves a tenth of its interval to chance, and a look takes a while itself.
    interval * MISSED_LOOKS + interval * MISSED_LOOKS / 10 + BESIDE
}
