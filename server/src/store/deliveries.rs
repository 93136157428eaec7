//! What waits to be told to another program. Rows of the audit become deliveries once, whichever server reads them first.

use std::fmt::Debug;

use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

use super::{AuditEntry, StoreError};

/// Deliveries that wait at most; beyond it the oldest are given up.
pub const MOST_DELIVERIES: u32 = 10_000;
/// Longest time to the next attempt. A delivery that is due later was dated by a clock that ran ahead, and counts as due.
pub const FARTHEST_ATTEMPT: Duration = Duration::hours(2);

#[async_trait]
pub trait DeliveryStore: Send + Sync + Debug {
    /// Has the queue begin with the next row of the audit; nothing where it began before.
    async fn begin_deliveries(&self) -> Result<(), StoreError>;

    async fn delivery_state(&self, now: OffsetDateTime) -> Result<DeliveryState, StoreError>;

    /// Rows of the audit after this one, the oldest first.
    async fn audit_after(&self, n: i64, limit: u32) -> Result<Vec<AuditEntry>, StoreError>;

    /// Queues what rows of the audit tell, those after the first number up to the second. `None` where another server was faster;
    /// else how many older deliveries were given up for lack of room.
    async fn queue_audit(
        &self,
        rows: (i64, i64),
        made: &[NewDelivery],
        at: OffsetDateTime,
    ) -> Result<Option<u64>, StoreError>;

    /// Takes the delivery that has been due longest, and keeps others away from it until a time; `None` where none is due.
    async fn claim_delivery(
        &self,
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<Option<Delivery>, StoreError>;

    /// Keeps what became of a claim; false where it ended before, so that another server may have tried the same.
    async fn settle_delivery(
        &self,
        claim: &Delivery,
        end: &DeliveryEnd,
        at: OffsetDateTime,
    ) -> Result<bool, StoreError>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryState {
    /// Row of the audit up to which all are queued; `None` before the queue began.
    pub queued_to: Option<i64>,
    /// The newest row of the audit.
    pub audit: i64,
    pub waiting: u64,
    pub is_due: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// The same at every attempt, and of no other delivery.
    pub id: String,
    /// What it tells of: `review.asked`.
    pub kind: &'static str,
    pub body: String,
    pub made_at: OffsetDateTime,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub id: String,
    pub kind: String,
    pub body: String,
    pub made_at: OffsetDateTime,
    pub attempts: u32,
    /// When the claim ends.
    pub until: OffsetDateTime,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryEnd {
    Taken,
    /// It is tried again then.
    Failed {
        again_at: OffsetDateTime,
        why: String,
    },
    GivenUp {
        why: String,
    },
}
