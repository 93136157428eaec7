//! How long the processor may work for one request. Not the time on the clock: on a busy server a short text may wait long.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Bytes of text between two looks at the clock.
pub const PIECE: usize = 64 << 10;

/// The processor time that a thread has left for a request. Start it on the thread that does the work.
#[derive(Debug, Clone, Copy)]
pub struct WorkTime {
    began: Duration,
    used: Duration,
    limit: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text takes more than {} s of processor time: send it in parts, or as a stream (text/plain to POST /api/v1/match)", .0.as_secs())]
pub struct OutOfTime(pub Duration);

impl WorkTime {
    pub fn start(limit: Duration) -> Self {
        Self::after(Duration::ZERO, limit)
    }

    pub fn after(used: Duration, limit: Duration) -> Self {
        Self {
            began: spent(),
            used,
            limit,
        }
    }

    pub fn worked(&self) -> Duration {
        spent().saturating_sub(self.began)
    }

    pub fn check(&self) -> Result<(), OutOfTime> {
        if self.worked().saturating_add(self.used) > self.limit {
            return Err(OutOfTime(self.limit));
        }
        Ok(())
    }
}

/// Processor time of work that is done in parts, each on any thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Meter(Duration);

impl Meter {
    pub fn time<T>(&mut self, part: impl FnOnce() -> T) -> T {
        let began = spent();
        let done = part();
        self.0 += spent().saturating_sub(began);
        done
    }

    pub fn spent(&self) -> Duration {
        self.0
    }
}

pub fn spent() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or_default(),
        u32::try_from(now.tv_nsec).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_counts_and_waiting_does_not() {
        let time = WorkTime::start(Duration::from_millis(20));
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(time.check(), Ok(()));
        let mut sum = 0_u64;
        while time.check().is_ok() {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
        assert_eq!(time.check(), Err(OutOfTime(Duration::from_millis(20))));
    }
}
