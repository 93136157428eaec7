//! The two clocks that a kernel can read.

use rustix::time::{ClockId, clock_gettime};
use std::time::Instant;

pub(super) struct Clock {
    started: Instant,
    khz: u32,
}

impl Clock {
    pub(super) fn start(khz: u32) -> Self {
        Self {
            started: Instant::now(),
            khz,
        }
    }

    /// `%clock64`: ticks at the rate of the GPU. It counts from the launch; a real one from wherever.
    pub(super) fn ticks(&self) -> u64 {
        let ticks = self.started.elapsed().as_nanos() * u128::from(self.khz) / 1_000_000;
        ticks as u64
    }

    /// `%globaltimer`: nanoseconds of the system's clock, one for all GPUs, as on hosts whose driver sets it.
    pub(super) fn nanoseconds() -> u64 {
        let now = clock_gettime(ClockId::Realtime);
        (now.tv_sec as u64)
            .wrapping_mul(1_000_000_000)
            .wrapping_add(now.tv_nsec as u64)
    }
}
