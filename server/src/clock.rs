//! Time and randomness, passed in everywhere so that tests can fix them; the system's own are named nowhere else.

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use time::OffsetDateTime;

pub trait Clock: Send + Sync + Debug {
    fn now(&self) -> OffsetDateTime;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that may ask the machine")]
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc()
    }
}

#[derive(Debug)]
pub struct FixedClock(Mutex<OffsetDateTime>);

impl FixedClock {
    pub fn at(time: OffsetDateTime) -> Self {
        Self(Mutex::new(time))
    }

    pub fn set(&self, time: OffsetDateTime) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }
}

impl Clock for FixedClock {
    fn now(&self) -> OffsetDateTime {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub trait Random: Send + Sync + Debug {
    /// Fills `bytes`; fails when the machine has no randomness to give.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError>;
}

#[derive(Debug, thiserror::Error)]
#[error("the operating system gives no random bytes: {0}")]
pub struct RandomError(#[from] getrandom::Error);

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        Ok(getrandom::fill(bytes)?)
    }
}
