//! Sending what is due, and when it is tried again.

use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

use crate::clock::Clock;
use crate::store::{Delivery, DeliveryEnd, DeliveryStore, StoreError};

/// How long a server has for one attempt before another one may try; longer than an attempt may take.
const CLAIM: Duration = Duration::minutes(1);
pub const LONGEST_PAUSE: Duration = Duration::hours(1);
/// An event that nobody took for so long is given up.
pub const OLDEST: Duration = Duration::days(3);

/// Carries events to the program that is told.
#[async_trait]
pub trait Carrier: Send + Sync {
    /// Sends an event once. An error says why it was not taken, in words that hold no secret.
    async fn carry(&self, event: &Delivery, now: OffsetDateTime) -> Result<(), String>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Taken,
    /// It is tried again.
    Failed,
    GivenUp,
    /// The claim ended meanwhile: another server tells what becomes of the event.
    Overtaken,
}

/// Sends the event that has been due longest; `None` where none is due, or another server has it.
pub async fn send_next(
    store: &dyn DeliveryStore,
    carrier: &dyn Carrier,
    clock: &dyn Clock,
) -> Result<Option<Outcome>, StoreError> {
    let now = clock.now();
    let Some(claim) = store.claim_delivery(now, now + CLAIM).await? else {
        return Ok(None);
    };
    let tried = carrier.carry(&claim, now).await;
    let now = clock.now();
    let (end, outcome) = match tried {
        Ok(()) => (DeliveryEnd::Taken, Outcome::Taken),
        Err(why) if now - claim.made_at > OLDEST => (DeliveryEnd::GivenUp { why }, Outcome::GivenUp),
        Err(why) => {
            let again_at = now + pause(claim.attempts.saturating_add(1));
            (DeliveryEnd::Failed { again_at, why }, Outcome::Failed)
        }
    };
    if !store.settle_delivery(&claim, &end, now).await? {
        return Ok(Some(Outcome::Overtaken));
    }
    let (id, event) = (&claim.id, &claim.kind);
    match &end {
        DeliveryEnd::Taken => {}
        DeliveryEnd::Failed { again_at, why } => {
            tracing::warn!(id, event, why, %again_at, "the webhook did not take an event");
        }
        DeliveryEnd::GivenUp { why } => {
            tracing::error!(id, event, why, "an event for the webhook is given up");
        }
    }
    Ok(Some(outcome))
}

/// Two seconds after the first failure, and twice as long after each that follows.
pub fn pause(failures: u32) -> Duration {
    let seconds = 2_i64.checked_pow(failures).unwrap_or(i64::MAX);
    Duration::seconds(seconds).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::FARTHEST_ATTEMPT;

    #[test]
    fn pauses_grow_up_to_an_hour() {
        let pauses: Vec<i64> = (1..=13).map(|n| pause(n).whole_seconds()).collect();
        assert_eq!(
            pauses,
            [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600]
        );
        assert_eq!(pause(u32::MAX), LONGEST_PAUSE);
        assert!(LONGEST_PAUSE + CLAIM < FARTHEST_ATTEMPT);
    }
}
