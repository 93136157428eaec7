//! Silent nodes, and how many looks in a row saw them so.

use kb_core::ids::NodeId;
use time::OffsetDateTime;

use super::alerts;
use super::convert::id_from;
use super::engine::{Cells, Engine, values};
use super::session::Tx;
use crate::store::{
    Gravity, Labels, NodeAlert, NodeAlerts, SILENT, SILENT_LOOKS, Seen, SilenceLook, StoreError,
};

const TURN: &str = "silence";

/// Counts a look, if one is due.
pub(super) async fn look<DB: Engine>(tx: &mut Tx<DB>, look: SilenceLook) -> Result<bool, StoreError> {
    let SilenceLook {
        now,
        every,
        silent_before,
    } = look;
    let before = tx
        .first("SELECT due_at FROM turn WHERE name = $1", values![TURN])
        .await?;
    let was_due = before.map(|row| row.time(0)).transpose()?;
    if !alerts::take(tx, TURN, now, now.saturating_add(every)).await? {
        return Ok(false);
    }
    if was_due.is_some_and(|due| now - due > every) {
        tx.run("DELETE FROM node_silence WHERE told_at IS NULL", &[])
            .await?;
    }
    // Who was heard meanwhile starts from the first look again.
    let sql = "DELETE FROM node_silence WHERE told_at IS NULL AND NOT EXISTS (SELECT 1 FROM node_summary s \
        WHERE s.node_id = node_silence.node_id AND s.heard_at < $1 AND NOT s.simulated)";
    tx.run(sql, values![silent_before]).await?;
    // A row whose end is still to be told stays, also where the webhook is gone from the settings.
    let sql = "UPDATE node_silence SET looks = 0 WHERE NOT EXISTS (SELECT 1 FROM node_summary s \
        WHERE s.node_id = node_silence.node_id AND s.heard_at < $1 AND NOT s.simulated)";
    tx.run(sql, values![silent_before]).await?;
    let sql = "INSERT INTO node_silence (node_id, looks) SELECT node_id, 1 FROM node_summary \
        WHERE heard_at < $1 AND NOT simulated ON CONFLICT (node_id) DO UPDATE SET looks = node_silence.looks + 1";
    tx.run(sql, values![silent_before]).await?;
    Ok(true)
}

/// Silences that began or ended and were not told.
pub(super) async fn untold<DB: Engine>(
    tx: &mut Tx<DB>,
    seen: Seen,
    limit: u32,
) -> Result<NodeAlerts, StoreError> {
    let sql = "SELECT n.node_id, s.heard_at FROM node_silence n JOIN node_summary s ON s.node_id = n.node_id \
        WHERE n.looks >= $1 AND n.told_at IS NULL AND s.heard_at < $2 ORDER BY s.heard_at, n.node_id LIMIT $3";
    let began = tx
        .all(sql, values![SILENT_LOOKS, seen.silent_before, limit])
        .await?;
    let sql = "SELECT n.node_id, s.heard_at FROM node_silence n JOIN node_summary s ON s.node_id = n.node_id \
        WHERE n.told_at IS NOT NULL AND (s.heard_at >= $1 OR s.simulated) ORDER BY s.heard_at, n.node_id LIMIT $2";
    let ended = tx.all(sql, values![seen.silent_before, limit]).await?;
    let mut list = Vec::new();
    for row in &began {
        list.push(alert(id_from(row.text(0)?)?, row.time(1)?, None));
    }
    for row in &ended {
        list.push(alert(id_from(row.text(0)?)?, row.time(1)?, Some(seen.now)));
    }
    let is_cut = began.len().max(ended.len()) >= limit as usize;
    Ok(NodeAlerts { list, is_cut })
}

/// Nodes that are silent and were seen so often enough.
pub(super) async fn silent<DB: Engine>(
    tx: &mut Tx<DB>,
    seen: Seen,
    limit: u32,
) -> Result<NodeAlerts, StoreError> {
    let sql = "SELECT n.node_id, s.heard_at FROM node_silence n JOIN node_summary s ON s.node_id = n.node_id \
        WHERE n.looks >= $1 AND s.heard_at < $2 AND NOT s.simulated ORDER BY s.heard_at, n.node_id LIMIT $3";
    let rows = tx
        .all(sql, values![SILENT_LOOKS, seen.silent_before, limit])
        .await?;
    let silent = rows
        .iter()
        .map(|row| Ok(alert(id_from(row.text(0)?)?, row.time(1)?, None)));
    Ok(NodeAlerts {
        list: silent.collect::<Result<_, StoreError>>()?,
        is_cut: rows.len() >= limit as usize,
    })
}

fn alert(node: NodeId, heard_at: OffsetDateTime, ended_at: Option<OffsetDateTime>) -> NodeAlert {
    NodeAlert {
        node,
        labels: Labels::new(),
        cause: SILENT.to_owned(),
        record: None,
        title: String::new(),
        gravity: Gravity::default(),
        opened_at: heard_at,
        ended_at,
    }
}
