//! What waits to be told to another program, by SQL.

use async_trait::async_trait;
use serde_json::json;
use time::OffsetDateTime;

use super::audit::{self, audit_columns, entry_from};
use super::batch;
use super::convert::count_from;
use super::engine::{Cells, Engine, Value, values};
use super::session::{SqlStore, Tx};
use crate::store::{
    AuditEntry, By, Delivery, DeliveryEnd, DeliveryState, DeliveryStore, FARTHEST_ATTEMPT, MOST_DELIVERIES,
    NewAudit, NewDelivery, StoreError, cut,
};

const FAILURE_CHARACTERS: usize = 500;

#[async_trait]
impl<DB: Engine> DeliveryStore for SqlStore<DB> {
    async fn begin_deliveries(&self) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        let sql = "INSERT INTO counter (name, value) SELECT 'webhook', value FROM counter WHERE name = 'audit' \
            ON CONFLICT (name) DO NOTHING";
        tx.run(sql, &[]).await?;
        tx.commit().await
    }

    async fn delivery_state(&self, now: OffsetDateTime) -> Result<DeliveryState, StoreError> {
        let sql = "SELECT (SELECT value FROM counter WHERE name = 'webhook'), \
            (SELECT value FROM counter WHERE name = 'audit'), (SELECT COUNT(*) FROM delivery), \
            (SELECT COUNT(*) FROM (SELECT 1 FROM delivery WHERE due_at <= $1 OR due_at > $2 LIMIT 1) due)";
        let farthest = now.saturating_add(FARTHEST_ATTEMPT);
        let row = self.read_once().await?.one(sql, values![now, farthest]).await?;
        Ok(DeliveryState {
            queued_to: row.maybe_integer(0)?,
            audit: row.integer(1)?,
            waiting: count_from(row.integer(2)?)?,
            is_due: row.integer(3)? > 0,
        })
    }

    async fn audit_after(&self, n: i64, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let sql = concat!(
            "SELECT ",
            audit_columns!(),
            " FROM audit WHERE n > $1 ORDER BY n LIMIT $2"
        );
        let rows = self.read_once().await?.all(sql, values![n, limit]).await?;
        rows.iter().map(entry_from).collect()
    }

    async fn queue_audit(
        &self,
        (after, to): (i64, i64),
        made: &[NewDelivery],
        at: OffsetDateTime,
    ) -> Result<Option<u64>, StoreError> {
        let mut tx = self.begin_write().await?;
        let sql = "UPDATE counter SET value = $2 WHERE name = 'webhook' AND value = $1";
        if tx.run(sql, values![after, to]).await? == 0 {
            tx.end().await?;
            return Ok(None);
        }
        let dropped = queue(&mut tx, made, at).await?;
        tx.commit().await?;
        Ok(Some(dropped))
    }

    async fn claim_delivery(
        &self,
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<Option<Delivery>, StoreError> {
        let mut tx = self.begin_write().await?;
        // The second condition is tried again after a wait for another server's claim.
        let sql = "UPDATE delivery SET due_at = $2 WHERE (due_at <= $1 OR due_at > $3) AND id = \
            (SELECT id FROM delivery WHERE due_at <= $1 OR due_at > $3 ORDER BY due_at, made_at, id LIMIT 1) \
            RETURNING id, kind, body, made_at, attempts, due_at";
        let Some(row) = tx
            .first(sql, values![now, until, now.saturating_add(FARTHEST_ATTEMPT)])
            .await?
        else {
            tx.end().await?;
            return Ok(None);
        };
        let claim = Delivery {
            id: row.text(0)?,
            kind: row.text(1)?,
            body: row.text(2)?,
            made_at: row.time(3)?,
            attempts: count_from(row.integer(4)?)?,
            until: row.time(5)?,
        };
        tx.commit().await?;
        Ok(Some(claim))
    }

    async fn settle_delivery(
        &self,
        claim: &Delivery,
        end: &DeliveryEnd,
        at: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin_write().await?;
        let touched = match end {
            DeliveryEnd::Taken | DeliveryEnd::GivenUp { .. } => {
                let sql = "DELETE FROM delivery WHERE id = $1 AND due_at = $2";
                tx.run(sql, values![&claim.id, claim.until]).await?
            }
            DeliveryEnd::Failed { again_at, why } => {
                let sql = "UPDATE delivery SET due_at = $3, attempts = attempts + 1, failure = $4 \
                    WHERE id = $1 AND due_at = $2";
                let row = values![&claim.id, claim.until, *again_at, cut(why, FAILURE_CHARACTERS)];
                tx.run(sql, row).await?
            }
        };
        if let DeliveryEnd::GivenUp { why } = end
            && touched > 0
        {
            let detail = json!({
                "event": claim.kind,
                "why": cut(why, FAILURE_CHARACTERS),
                "attempts": claim.attempts.saturating_add(1),
            });
            note_given_up(&mut tx, &claim.id, detail, at).await?;
        }
        tx.commit().await?;
        Ok(touched > 0)
    }
}

/// Adds deliveries, and gives the oldest up beyond what may wait; how many these are.
pub(super) async fn queue<DB: Engine>(
    tx: &mut Tx<DB>,
    made: &[NewDelivery],
    at: OffsetDateTime,
) -> Result<u64, StoreError> {
    if made.is_empty() {
        return Ok(0);
    }
    let rows: Vec<[Value<'_>; 6]> = made
        .iter()
        .map(|one| {
            [
                Value::from(&one.id),
                Value::from(one.kind),
                Value::from(&one.body),
                Value::from(one.made_at),
                Value::from(0_i64),
                Value::from(at),
            ]
        })
        .collect();
    let columns = "delivery (id, kind, body, made_at, attempts, due_at)";
    batch::insert(tx, columns, "ON CONFLICT (id) DO NOTHING", &rows).await?;
    let sql = "DELETE FROM delivery WHERE id IN (SELECT id FROM delivery ORDER BY made_at DESC, id DESC LIMIT $1 OFFSET $2)";
    let dropped = tx.run(sql, values![i64::from(u32::MAX), MOST_DELIVERIES]).await?;
    if dropped > 0 {
        let why = format!("more than {MOST_DELIVERIES} events waited");
        let detail = json!({ "events": dropped, "why": why });
        note_given_up(tx, "the oldest events", detail, at).await?;
    }
    Ok(dropped)
}

async fn note_given_up<DB: Engine>(
    tx: &mut Tx<DB>,
    subject: &str,
    detail: serde_json::Value,
    at: OffsetDateTime,
) -> Result<(), StoreError> {
    let entry = NewAudit::new("webhook.give_up", subject, &By::system("webhook"), at).detail(detail);
    audit::add(tx, &entry).await
}
