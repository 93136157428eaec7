//! Stops clients that hold a connection by sending next to nothing.

use std::future::Future;
use std::time::Instant;

use super::BodyError;
use crate::web::limits;

/// Watches how fast a body comes.
#[derive(Debug)]
pub struct Pace {
    began: Instant,
    bytes: u64,
}

impl Pace {
    /// Starts watching.
    pub fn start() -> Self {
        Self {
            began: Instant::now(),
            bytes: 0,
        }
    }

    /// Waits for the next piece, but not for ever.
    pub async fn next<T>(&self, piece: impl Future<Output = T>) -> Result<T, BodyError> {
        tokio::time::timeout(limits::BODY_GRACE, piece)
            .await
            .map_err(|_| BodyError::Slow)
    }

    /// Notes a piece; refuses a body that is too slow over all.
    pub fn note(&mut self, bytes: usize) -> Result<(), BodyError> {
        self.bytes += bytes as u64;
        let elapsed = self.began.elapsed();
        let late = elapsed.saturating_sub(limits::BODY_GRACE).as_secs();
        if self.bytes < late.saturating_mul(limits::BODY_RATE) {
            return Err(BodyError::Slow);
        }
        Ok(())
    }
}
