//! Stops clients that hold a connection by sending, or taking, next to nothing.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use actix_web::{HttpRequest, web};

use super::{BodyError, Budget};
use crate::web::crowd::Crowd;
use crate::web::limits;
use crate::web::state::AppState;

/// How often it is looked whether a crowd has come.
const STEP: Duration = Duration::from_secs(1);

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
    crowd: Option<Crowd>,
    bodies: Option<Budget>,
    waited: Duration,
    bytes: u64,
}

impl Pace {
    /// Starts watching the body of a request.
    pub fn of(request: &HttpRequest) -> Self {
        let state = request.app_data::<web::Data<AppState>>();
        Self::with(Patience::of(request), state.map(|state| state.crowd.clone()))
    }

    /// The same for a body that is held until it is whole: the fuller the memory for such, the shorter it is waited for.
    pub fn of_held(request: &HttpRequest) -> Self {
        let state = request.app_data::<web::Data<AppState>>();
        Self {
            bodies: state.map(|state| state.bodies.clone()),
            ..Self::of(request)
        }
    }

    fn with(patience: Patience, crowd: Option<Crowd>) -> Self {
        Self {
            patience,
            crowd,
            bodies: None,
            waited: Duration::ZERO,
            bytes: 0,
        }
    }

    /// Waits for the next piece, but not for ever.
    pub async fn next<T>(&mut self, piece: impl Future<Output = T>) -> Result<T, BodyError> {
        let mut piece = pin!(piece);
        // What has come with the head of the request is not waited for.
        if let Poll::Ready(piece) = futures_util::poll!(piece.as_mut()) {
            return Ok(piece);
        }
        let _place = self.crowd.as_ref().map(Crowd::wait);
        let began = Instant::now();
        let piece = loop {
            let left = self.grace().saturating_sub(began.elapsed());
            if left.is_zero() {
                let has_time = began.elapsed() < self.patience.grace;
                break Err(if has_time {
                    BodyError::Crowded
                } else {
                    BodyError::Slow
                });
            }
            // In steps: a crowd may have come meanwhile.
            if let Ok(piece) = tokio::time::timeout(left.min(STEP), piece.as_mut()).await {
                break Ok(piece);
            }
        };
        self.waited += began.elapsed();
        piece
    }

    fn grace(&self) -> Duration {
        let most = self.crowd.as_ref().map_or(Duration::MAX, Crowd::patience);
        let of_held = self.bodies.as_ref().map_or(Duration::MAX, Budget::patience);
        self.patience.grace.min(most).min(of_held)
    }

    /// Notes a piece; refuses a body that is too slow over all.
    pub fn note(&mut self, bytes: usize) -> Result<(), BodyError> {
        self.bytes += bytes as u64;
        let late = self.waited.saturating_sub(self.grace()).as_secs();
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
        let patience = Patience {
            grace: Duration::from_secs(30),
            rate: 1024,
        };
        let mut pace = Pace::with(patience, None);
        pace.waited = Duration::from_secs(30);
        assert_eq!(pace.note(1), Ok(()));
        pace.waited = Duration::from_secs(40);
        assert_eq!(pace.note(10 * 1024), Ok(()));
        pace.waited = Duration::from_secs(41);
        assert_eq!(pace.note(0), Err(BodyError::Slow));
    }
}
