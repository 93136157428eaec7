//! Stops clients that hold a connection by sending, or taking, next to nothing.

use std::future::Future;
use std::time::{Duration, Instant};

use actix_web::{HttpRequest, web};

use super::BodyError;
use crate::web::limits;
use crate::web::state::AppState;

/// How slow a client may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Time before the rate is asked, and the longest time to wait for one piece in either direction.
    pub grace: Duration,
    /// Bytes per second that a body must keep up on average after that.
    pub rate: u64,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            grace: limits::BODY_GRACE,
            rate: limits::BODY_RATE,
        }
    }
}

impl Patience {
    /// The server's own.
    pub fn of(request: &HttpRequest) -> Self {
        request
            .app_data::<web::Data<AppState>>()
            .map_or_else(Self::default, |state| state.settings.patience)
    }
}

/// Watches how fast a body comes. Only time spent waiting for the client counts.
#[derive(Debug)]
pub struct Pace {
    patience: Patience,
    waited: Duration,
    bytes: u64,
}

impl Pace {
    /// Starts watching the body of a request.
    pub fn of(request: &HttpRequest) -> Self {
        Self::with(Patience::of(request))
    }

    fn with(patience: Patience) -> Self {
        Self {
            patience,
            waited: Duration::ZERO,
            bytes: 0,
        }
    }

    /// Waits for the next piece, but not for ever.
    pub async fn next<T>(&mut self, piece: impl Future<Output = T>) -> Result<T, BodyError> {
        let began = Instant::now();
        let piece = tokio::time::timeout(self.patience.grace, piece)
            .await
            .map_err(|_| BodyError::Slow);
        self.waited += began.elapsed();
        piece
    }

    /// Notes a piece; refuses a body that is too slow over all.
    pub fn note(&mut self, bytes: usize) -> Result<(), BodyError> {
        self.bytes += bytes as u64;
        let late = self.waited.saturating_sub(self.patience.grace).as_secs();
        if self.bytes < late.saturating_mul(self.patience.rate) {
            return Err(BodyError::Slow);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_asked_after_the_grace() {
        let mut pace = Pace::with(Patience {
            grace: Duration::from_secs(30),
            rate: 1024,
        });
        pace.waited = Duration::from_secs(30);
        assert_eq!(pace.note(1), Ok(()));
        pace.waited = Duration::from_secs(40);
        assert_eq!(pace.note(10 * 1024), Ok(()));
        pace.waited = Duration::from_secs(41);
        assert_eq!(pace.note(0), Err(BodyError::Slow));
    }
}
