//! How much load is asked for.

use std::time::Duration;

use kb_core::health::LogPlace;
use kb_core::report::{Fact, Report};

/// What a run takes beside its load: calibration, and the counters before and after.
const MARGIN: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub(crate) struct LoadOptions {
    pub(crate) seconds: Duration,
    /// So many short steps in place of the time: for tests.
    pub(crate) steps: Option<u64>,
    /// The report of the last good run with load, or why there is none.
    pub(crate) earlier: Fact<Box<Report>>,
    /// How far the ledger has read the kernel log.
    pub(crate) log: Option<LogPlace>,
}

impl LoadOptions {
    /// What the run's time is longer by.
    pub(crate) fn allowance(&self) -> Duration {
        self.seconds + MARGIN
    }
}
