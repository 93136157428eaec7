//! What began and ended on nodes, by SQL.

use std::collections::HashMap;
use std::fmt::Write as _;

use async_trait::async_trait;
use kb_core::severity::{Action, Severity};
use time::OffsetDateTime;

use super::convert::id_from;
use super::deliveries::queue;
use super::engine::{Cells, Engine, Value, values};
use super::finding_words::bearing;
use super::fleet_list::vocabulary;
use super::session::{SqlStore, Tx};
use super::{batch, silence};
use crate::store::{
    AlertStore, Gravity, GroupName, Labels, NewDelivery, NodeAlert, NodeAlerts, SILENT, Seen, SilenceLook,
    StoreError, ToldGroup, Turn,
};

/// Nodes in one statement.
const NODES: usize = 500;
/// How long it is kept when a group was told last; longer than any pause between two messages.
const KEPT: time::Duration = time::Duration::days(1);

/// Columns of [`alert_from`], in its order; before them what ended it stands.
macro_rules! alert_columns {
    () => {
        "f.node_id, f.name, f.record_id, f.title, f.severity, f.action, f.bearing, f.opened_at"
    };
}
/// Whether people said that nobody needs to be told of what is open, at `$1`.
macro_rules! is_quiet {
    () => {
        "((f.handling = 'silenced' AND f.silenced_until > $1) OR (f.handling = 'acknowledged' AND f.handled_at >= f.opened_at))"
    };
}
/// What may be told at all.
macro_rules! weighs {
    () => {
        "NOT f.simulated AND f.bearing <> 'event'"
    };
}

#[async_trait]
impl<DB: Engine> AlertStore for SqlStore<DB> {
    async fn take_turn(
        &self,
        name: &'static str,
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin_write().await?;
        let taken = take(&mut tx, name, now, until).await?;
        tx.commit().await?;
        Ok(taken)
    }

    async fn look_for_silence(&self, look: SilenceLook) -> Result<bool, StoreError> {
        let mut tx = self.begin_write().await?;
        let looked = silence::look(&mut tx, look).await?;
        tx.commit().await?;
        Ok(looked)
    }

    async fn untold(&self, seen: Seen, limit: u32) -> Result<NodeAlerts, StoreError> {
        let mut tx = self.begin_read().await?;
        let began = concat!(
            "SELECT NULL, ",
            alert_columns!(),
            " FROM node_finding f WHERE f.is_open AND ",
            weighs!(),
            " AND (f.told_at IS NULL OR f.told_at < f.opened_at) AND NOT ",
            is_quiet!(),
            " ORDER BY f.opened_at, f.node_id LIMIT $2"
        );
        let began = tx.all(began, values![seen.now, limit]).await?;
        // Of what was told and is open without weight, such as a record that is harmless now, nobody knows a better time than this one.
        let ended = concat!(
            "SELECT CASE WHEN f.is_open THEN $1 ELSE COALESCE(f.ended_at, f.last_at) END, ",
            alert_columns!(),
            " FROM node_finding f WHERE f.told_at IS NOT NULL AND NOT (f.is_open AND ",
            weighs!(),
            ") ORDER BY COALESCE(f.ended_at, f.last_at), f.node_id LIMIT $2"
        );
        let ended = tx.all(ended, values![seen.now, limit]).await?;
        let silent = silence::untold(&mut tx, seen, limit).await?;
        let alerts = all(&mut tx, [began, ended], silent, limit).await?;
        tx.end().await?;
        Ok(alerts)
    }

    async fn told_groups(&self, after: OffsetDateTime) -> Result<Vec<GroupName>, StoreError> {
        let sql = "SELECT kind, cause, labels FROM told_group WHERE told_at > $1";
        let rows = self.read_once().await?.all(sql, values![after]).await?;
        rows.iter()
            .map(|row| {
                Ok(GroupName {
                    kind: row.text(0)?,
                    cause: row.text(1)?,
                    labels: row.text(2)?,
                })
            })
            .collect()
    }

    async fn tell(
        &self,
        turn: Turn,
        told: &[ToldGroup],
        made: &[NewDelivery],
    ) -> Result<Option<u64>, StoreError> {
        let mut tx = self.begin_write().await?;
        let sql = "UPDATE turn SET due_at = due_at WHERE name = $1 AND due_at = $2";
        if tx.run(sql, values![turn.name, turn.until]).await? == 0 {
            tx.end().await?;
            return Ok(None);
        }
        for group in told {
            mark(&mut tx, group, turn.now).await?;
        }
        let sql = "DELETE FROM told_group WHERE told_at < $1";
        tx.run(sql, values![turn.now.saturating_sub(KEPT)]).await?;
        let dropped = queue(&mut tx, made, turn.now).await?;
        tx.commit().await?;
        Ok(Some(dropped))
    }

    async fn alerts(
        &self,
        seen: Seen,
        ended_after: OffsetDateTime,
        limit: u32,
    ) -> Result<NodeAlerts, StoreError> {
        let mut tx = self.begin_read().await?;
        let open = concat!(
            "SELECT CASE WHEN ",
            is_quiet!(),
            " THEN f.handled_at END, ",
            alert_columns!(),
            " FROM node_finding f WHERE f.is_open AND ",
            weighs!(),
            " AND (f.handled_at > $2 OR NOT ",
            is_quiet!(),
            ") ORDER BY f.opened_at, f.node_id LIMIT $3"
        );
        let open = tx.all(open, values![seen.now, ended_after, limit]).await?;
        let ended = concat!(
            "SELECT f.ended_at, ",
            alert_columns!(),
            " FROM node_finding f WHERE NOT f.is_open AND ",
            weighs!(),
            " AND f.ended_at > $1 ORDER BY f.ended_at, f.node_id LIMIT $2"
        );
        let ended = tx.all(ended, values![ended_after, limit]).await?;
        let silent = silence::silent(&mut tx, seen, limit).await?;
        let alerts = all(&mut tx, [open, ended], silent, limit).await?;
        tx.end().await?;
        Ok(alerts)
    }
}

/// Takes a turn that is due. One that would be due after two turns is from a clock that was ahead, and is taken, too.
pub(super) async fn take<DB: Engine>(
    tx: &mut Tx<DB>,
    name: &str,
    now: OffsetDateTime,
    until: OffsetDateTime,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO turn (name, due_at) VALUES ($1, $3) ON CONFLICT (name) DO UPDATE SET due_at = excluded.due_at \
        WHERE turn.due_at <= $2 OR turn.due_at > $4";
    let farthest = until.saturating_add(until - now);
    Ok(tx.run(sql, values![name, now, until, farthest]).await? > 0)
}

async fn mark<DB: Engine>(tx: &mut Tx<DB>, group: &ToldGroup, now: OffsetDateTime) -> Result<(), StoreError> {
    let (name, is_silence) = (&group.name, group.name.cause == SILENT);
    for nodes in group.nodes.chunks(NODES) {
        let head = match (is_silence, group.has_ended) {
            (true, false) => "UPDATE node_silence SET told_at = $1 WHERE node_id IN (",
            (true, true) => "DELETE FROM node_silence WHERE told_at <= $1 AND node_id IN (",
            (false, false) => "UPDATE node_finding SET told_at = opened_at WHERE name = $1 AND node_id IN (",
            // A finding that began again since it was read stays told; its new beginning is told next.
            (false, true) => {
                "UPDATE node_finding SET told_at = NULL WHERE name = $1 AND NOT (is_open AND NOT simulated AND bearing <> 'event') \
                    AND node_id IN ("
            }
        };
        let mut sql = head.to_owned();
        let first = if is_silence {
            Value::from(now)
        } else {
            Value::from(&name.cause)
        };
        let mut row = vec![first];
        for node in nodes {
            row.push(Value::from(node));
            let separator = if row.len() == 2 { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(sql, "{separator}${}", row.len());
        }
        sql.push(')');
        tx.run_built(sql, &row).await?;
    }
    let sql = "INSERT INTO told_group (kind, cause, labels, told_at) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (kind, cause, labels) DO UPDATE SET told_at = excluded.told_at";
    tx.run(sql, values![&name.kind, &name.cause, &name.labels, now])
        .await?;
    Ok(())
}

/// Puts together what was read of findings, at most so many rows each, and of silent nodes.
async fn all<DB: Engine>(
    tx: &mut Tx<DB>,
    findings: [Vec<DB::Row>; 2],
    mut silent: NodeAlerts,
    limit: u32,
) -> Result<NodeAlerts, StoreError> {
    let is_cut = silent.is_cut || findings.iter().any(|rows| rows.len() >= limit as usize);
    let rows = findings.iter().flatten().map(alert_from);
    let mut list = rows.collect::<Result<Vec<_>, _>>()?;
    list.append(&mut silent.list);
    label(tx, &mut list).await?;
    Ok(NodeAlerts { list, is_cut })
}

fn alert_from(row: &impl Cells) -> Result<NodeAlert, StoreError> {
    Ok(NodeAlert {
        ended_at: row.maybe_time(0)?,
        node: id_from(row.text(1)?)?,
        labels: Labels::new(),
        cause: row.text(2)?,
        record: row.maybe_text(3)?.map(id_from).transpose()?,
        title: row.text(4)?,
        gravity: Gravity {
            severity: vocabulary::<Severity>("severity", &row.text(5)?)?,
            action: vocabulary::<Action>("action", &row.text(6)?)?,
            bearing: bearing(&row.text(7)?)?,
        },
        opened_at: row.time(8)?,
    })
}

async fn label<DB: Engine>(tx: &mut Tx<DB>, alerts: &mut [NodeAlert]) -> Result<(), StoreError> {
    let mut nodes: Vec<&str> = alerts.iter().map(|alert| alert.node.as_str()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let mut labels: HashMap<String, Labels> = HashMap::new();
    let head = "SELECT node_id, name, value FROM node_label WHERE node_id";
    for row in batch::all_for_keys(tx, head, &nodes).await? {
        let of_node = labels.entry(row.text(0)?).or_default();
        of_node.insert(row.text(1)?, row.text(2)?);
    }
    for alert in alerts {
        if let Some(labels) = labels.get(alert.node.as_str()) {
            alert.labels = labels.clone();
        }
    }
    Ok(())
}
