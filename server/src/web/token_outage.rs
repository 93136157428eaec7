//! Whether the store lately failed to say whose a token is.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long calls for everybody are answered without asking after the store did not answer.
const OUTAGE: Duration = Duration::from_secs(5);

/// Remembers that the store could not say whose a token is, so that calls for everybody do not wait for it one by one.
#[derive(Debug, Default)]
pub struct TokenOutage(Mutex<Option<Instant>>);

impl TokenOutage {
    pub(super) fn is_recent(&self) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|at| at.elapsed() < OUTAGE)
    }

    pub(super) fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}
