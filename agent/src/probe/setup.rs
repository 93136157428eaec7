//! What all processes of a run share: the binary, the limits, the size of a check.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::worker::handle::HardwareErrors;

use super::{LoadOptions, Options};

/// What is added to the worker's own limit before the parent gives up on it.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// Initialising the driver and making contexts may take so many times as long as one step of a check.
pub(super) const OPEN_FACTOR: u32 = 3;

pub(super) const SPENT: &str = "the time of the run (--timeout) was spent";

pub(super) struct Setup {
    pub(super) program: PathBuf,
    pub(super) step_limit: Duration,
    pub(super) deadline: Instant,
    pub(super) bytes: u64,
    pub(super) broken: HardwareErrors,
}

impl Setup {
    pub(super) fn of(options: &Options) -> Self {
        let load = options.load.as_ref().map(LoadOptions::allowance);
        Self {
            program: options.program.clone(),
            step_limit: options.step_timeout,
            deadline: Instant::now() + options.timeout + load.unwrap_or_default(),
            bytes: options.bytes,
            broken: HardwareErrors::default(),
        }
    }

    pub(super) fn is_spent(&self) -> bool {
        Instant::now() >= self.deadline
    }

    pub(super) fn limit(&self, factor: u32) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        (self.step_limit * factor).min(left.max(GRACE))
    }

    pub(super) fn limit_ms(&self) -> u64 {
        u64::try_from(self.limit(1).as_millis()).unwrap_or(u64::MAX)
    }
}
