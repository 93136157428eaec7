//! The audit by SQL.

use std::fmt::Write as _;

use async_trait::async_trait;

use super::convert::{maybe_revision_from, refuse_nul, unreadable};
use super::engine::{Cells, Engine, Value, values};
use super::session::{SqlStore, Tx};
use crate::store::{ActorKind, AuditEntry, AuditQuery, AuditStore, By, NewAudit, StoreError};

/// Columns of [`entry_from`], in its order.
macro_rules! audit_columns {
    () => {
        "n, at, actor_kind, actor_id, actor_name, address, action, subject, from_revision, to_revision, detail"
    };
}
pub(super) use audit_columns;

#[async_trait]
impl<DB: Engine> AuditStore for SqlStore<DB> {
    async fn note(&self, entry: NewAudit) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        add(&mut tx, &entry).await?;
        tx.commit().await
    }

    async fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError> {
        let mut sql = String::from(concat!("SELECT ", audit_columns!(), " FROM audit WHERE n < $1"));
        // Writing to a String cannot fail, here and below.
        let kind = query.action.as_ref().map(|action| format!("{action}.%"));
        let mut values: Vec<Value<'_>> = vec![Value::from(query.before.unwrap_or(i64::MAX))];
        if let Some(actor) = &query.actor {
            values.push(Value::from(actor));
            let _ = write!(sql, " AND (actor_id = ${0} OR actor_name = ${0})", values.len());
        }
        if let (Some(action), Some(kind)) = (&query.action, &kind) {
            values.push(Value::from(action));
            values.push(Value::from(kind));
            let last = values.len();
            let _ = write!(sql, " AND (action = ${} OR action LIKE ${last})", last - 1);
        }
        if let Some(subject) = &query.subject {
            values.push(Value::from(subject));
            let _ = write!(sql, " AND subject = ${}", values.len());
        }
        if let Some((first, last)) = query.revisions {
            values.push(Value::from(first));
            values.push(Value::from(last));
            let after = values.len();
            let _ = write!(sql, " AND to_revision BETWEEN ${} AND ${after}", after - 1);
        }
        values.push(Value::from(query.limit));
        let _ = write!(sql, " ORDER BY n DESC LIMIT ${}", values.len());
        let rows = self.read_once().await?.all_built(sql, &values).await?;
        rows.iter().map(entry_from).collect()
    }
}

/// Adds a row in the transaction of what it tells of. The last statement before the commit: others wait from here on.
pub(super) async fn add<DB: Engine>(tx: &mut Tx<DB>, entry: &NewAudit) -> Result<(), StoreError> {
    let detail = entry.detail.to_string();
    for text in [&entry.subject, &entry.by.id, &entry.by.name, &detail] {
        refuse_nul("a row of the audit", text)?;
    }
    let next = "UPDATE counter SET value = value + 1 WHERE name = 'audit' RETURNING value";
    let n = tx.one(next, &[]).await?.integer(0)?;
    let sql = "INSERT INTO audit (n, at, actor_kind, actor_id, actor_name, address, action, subject, from_revision, \
        to_revision, detail) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let (from, to) = entry.revisions;
    let row = values![
        n,
        entry.at,
        entry.by.kind.as_str(),
        &entry.by.id,
        &entry.by.name,
        entry.by.address.as_deref(),
        entry.action,
        &entry.subject,
        from.map(|revision| i64::from(revision.0)),
        to.map(|revision| i64::from(revision.0)),
        &detail,
    ];
    tx.run(sql, row).await?;
    Ok(())
}

pub(super) fn entry_from(row: &impl Cells) -> Result<AuditEntry, StoreError> {
    let kind = row.text(2)?;
    let detail = row.text(10)?;
    Ok(AuditEntry {
        n: row.integer(0)?,
        at: row.time(1)?,
        by: By {
            kind: ActorKind::from_word(&kind).ok_or_else(|| unreadable("kind of actor", &kind))?,
            id: row.text(3)?,
            name: row.text(4)?,
            address: row.maybe_text(5)?,
        },
        action: row.text(6)?,
        subject: row.text(7)?,
        from_revision: maybe_revision_from(row, 8)?,
        to_revision: maybe_revision_from(row, 9)?,
        detail: serde_json::from_str(&detail).map_err(|_| unreadable("detail", &detail))?,
    })
}
