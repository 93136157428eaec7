//! What happened to a node, noted when a report or an enrolment tells it.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::ids::{NodeId, ReportId};
use time::OffsetDateTime;

use super::batch;
use super::convert::{id_from, unreadable};
use super::engine::{Cells, Engine, Value, values};
use super::session::Tx;
use crate::store::{Former, Machine, MachineClock, MovedGpu, NewReport, NodeChange, NodeEvent, StoreError};

pub(super) struct Before {
    hostname: Option<String>,
    latest_at: OffsetDateTime,
}

struct Other {
    node: NodeId,
    at: OffsetDateTime,
}

/// What is known of a node; `None` of a new one.
pub(super) async fn before<DB: Engine>(tx: &mut Tx<DB>, node: &NodeId) -> Result<Option<Before>, StoreError> {
    let sql = "SELECT hostname, latest_at FROM node WHERE id = $1";
    let row = tx.first(sql, values![node]).await?;
    row.map(|row| {
        Ok(Before {
            hostname: row.maybe_text(0)?,
            latest_at: row.time(1)?,
        })
    })
    .transpose()
}

/// Notes what a report tells. A late one tells only that its clock may be wrong: the rest has changed since.
pub(super) async fn note<DB: Engine>(
    tx: &mut Tx<DB>,
    before: Option<Before>,
    report: &NewReport,
) -> Result<(), StoreError> {
    let Some(machine) = &report.machine else {
        return Ok(());
    };
    let seen_at = report.ended();
    let is_latest = before.as_ref().is_none_or(|before| seen_at >= before.latest_at);
    note_clock(tx, report, machine.clock, is_latest).await?;
    if !is_latest {
        return Ok(());
    }
    let former = before.as_ref().and_then(|before| before.hostname.as_ref());
    if let (Some(from), Some(to)) = (former, &report.hostname)
        && from != to
    {
        let (from, to) = (from.clone(), to.clone());
        tell(tx, report, &NodeChange::Renamed { from, to }).await?;
    }
    note_gpus(tx, before.is_none(), report, machine).await
}

/// A clock is news when it begins to be wrong and when it is right again; that it is right, only of the latest report.
async fn note_clock<DB: Engine>(
    tx: &mut Tx<DB>,
    report: &NewReport,
    clock: MachineClock,
    is_latest: bool,
) -> Result<(), StoreError> {
    let told = match clock {
        MachineClock::Right if !is_latest => return Ok(()),
        MachineClock::Right => NodeChange::ClockRight,
        MachineClock::Ahead(seconds) => NodeChange::ClockAhead { seconds },
        MachineClock::Behind(seconds) => NodeChange::ClockBehind { seconds },
        MachineClock::Late(seconds) => NodeChange::ClockUnsure { seconds },
    };
    let sql = "SELECT kind FROM node_event WHERE node_id = $1 \
        AND kind IN ('clock_ahead', 'clock_behind', 'clock_unsure', 'clock_right') ORDER BY at DESC LIMIT 1";
    let last = tx.first(sql, values![&report.node]).await?;
    let last = last.map(|row| row.text(0)).transpose()?;
    let before = last.as_deref().unwrap_or("clock_right");
    if before == told.kind() {
        return Ok(());
    }
    tell(tx, report, &told).await
}

async fn note_gpus<DB: Engine>(
    tx: &mut Tx<DB>,
    is_new: bool,
    report: &NewReport,
    machine: &Machine,
) -> Result<(), StoreError> {
    let node = &report.node;
    // A node whose driver is away lists none, which says nothing of what is in it.
    if machine.gpus.is_empty() {
        return Ok(());
    }
    let sql = "SELECT uuid FROM node_gpu WHERE node_id = $1 AND present";
    let rows = tx.all(sql, values![node]).await?;
    let had = rows
        .iter()
        .map(|row| row.text(0))
        .collect::<Result<BTreeSet<_>, _>>()?;
    let has: BTreeSet<String> = machine.gpus.iter().cloned().collect();
    let came: Vec<&str> = has.difference(&had).map(String::as_str).collect();
    let left: Vec<&str> = if machine.shows_all {
        had.difference(&has).map(String::as_str).collect()
    } else {
        Vec::new()
    };
    let changed: Vec<&str> = came.iter().chain(&left).copied().collect();
    let others = elsewhere(tx, node, &changed).await?;
    let moved = |uuids: &[&str]| -> Vec<MovedGpu> {
        let of = |uuid: &&str| MovedGpu {
            uuid: (*uuid).to_owned(),
            node: others.get(*uuid).map(|other| other.node.clone()),
        };
        uuids.iter().map(of).collect()
    };
    let (came_from, left_to) = (moved(&came), moved(&left));
    if is_new {
        if let Some(from) = one_node(&came_from) {
            let by = "gpus".to_owned();
            tell(tx, report, &NodeChange::Reinstalled { from, by }).await?;
        }
    } else if !had.is_empty() && !changed.is_empty() {
        let change = NodeChange::GpusChanged {
            left: left_to,
            came: came_from.clone(),
        };
        tell(tx, report, &change).await?;
    }
    tell_former_nodes(tx, report, &came_from).await?;
    keep_gpus(tx, report, &has, &left).await
}

/// The one other node that all of these were last seen on.
fn one_node(gpus: &[MovedGpu]) -> Option<NodeId> {
    let nodes: BTreeSet<Option<&str>> = gpus
        .iter()
        .map(|gpu| gpu.node.as_ref().map(NodeId::as_str))
        .collect();
    let only = nodes.len() == 1;
    gpus.first().filter(|_| only).and_then(|gpu| gpu.node.clone())
}

async fn elsewhere<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    uuids: &[&str],
) -> Result<BTreeMap<String, Other>, StoreError> {
    let sql = "SELECT uuid, node_id, last_at FROM node_gpu WHERE uuid";
    let mut found: BTreeMap<String, Other> = BTreeMap::new();
    for row in batch::all_for_keys(tx, sql, uuids).await? {
        let (uuid, other, at) = (row.text(0)?, row.text(1)?, row.time(2)?);
        let is_later = found.get(&uuid).is_none_or(|kept| kept.at < at);
        if other != node.as_str() && is_later {
            let node = id_from(other)?;
            found.insert(uuid, Other { node, at });
        }
    }
    Ok(found)
}

/// The nodes that had the GPUs learn where they are.
async fn tell_former_nodes<DB: Engine>(
    tx: &mut Tx<DB>,
    report: &NewReport,
    came: &[MovedGpu],
) -> Result<(), StoreError> {
    let mut by_node: BTreeMap<&str, (NodeId, Vec<String>)> = BTreeMap::new();
    for gpu in came {
        if let Some(node) = &gpu.node {
            let entry = by_node.entry(node.as_str());
            let (_, gpus) = entry.or_insert_with(|| (node.clone(), Vec::new()));
            gpus.push(gpu.uuid.clone());
        }
    }
    for (former, gpus) in by_node.into_values() {
        let node = report.node.clone();
        let change = NodeChange::GpusElsewhere { gpus, node };
        keep(tx, &former, (&source(report), report.received_at), &change).await?;
    }
    Ok(())
}

async fn keep_gpus<DB: Engine>(
    tx: &mut Tx<DB>,
    report: &NewReport,
    has: &BTreeSet<String>,
    left: &[&str],
) -> Result<(), StoreError> {
    let rows: Vec<[Value<'_>; 4]> = has
        .iter()
        .map(|uuid| {
            [
                Value::from(&report.node),
                Value::from(uuid),
                Value::from(true),
                Value::from(report.received_at),
            ]
        })
        .collect();
    let tail =
        "ON CONFLICT (node_id, uuid) DO UPDATE SET present = excluded.present, last_at = excluded.last_at";
    batch::insert(tx, "node_gpu (node_id, uuid, present, last_at)", tail, &rows).await?;
    for uuid in left {
        let sql = "UPDATE node_gpu SET present = $3 WHERE node_id = $1 AND uuid = $2";
        tx.run(sql, values![&report.node, *uuid, false]).await?;
    }
    Ok(())
}

pub(super) async fn note_machine<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    machine_sha256: &str,
    (token, at): (&str, OffsetDateTime),
) -> Result<(), StoreError> {
    let sql = "SELECT node_id FROM token WHERE machine_sha256 = $1 AND node_id <> $2 ORDER BY created_at DESC LIMIT 1";
    let Some(row) = tx.first(sql, values![machine_sha256, node]).await? else {
        return Ok(());
    };
    let change = NodeChange::Reinstalled {
        from: id_from(row.text(0)?)?,
        by: "machine".to_owned(),
    };
    keep(tx, node, (&format!("token {token}"), at), &change).await
}

/// That a node of which reports came before has a credential now, and with which join token it got it.
pub(super) async fn note_enrolment<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    (before, with): (Former, &str),
    (token, at): (&str, OffsetDateTime),
) -> Result<(), StoreError> {
    let change = NodeChange::Enrolled {
        before,
        with: with.to_owned(),
    };
    keep(tx, node, (&format!("token {token}"), at), &change).await
}

async fn tell<DB: Engine>(
    tx: &mut Tx<DB>,
    report: &NewReport,
    change: &NodeChange,
) -> Result<(), StoreError> {
    keep(tx, &report.node, (&source(report), report.received_at), change).await
}

fn source(report: &NewReport) -> String {
    format!("report {} {}", report.node, report.id)
}

async fn keep<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    (source, at): (&str, OffsetDateTime),
    change: &NodeChange,
) -> Result<(), StoreError> {
    let detail = serde_json::to_string(change).map_err(|error| unreadable("event", &error.to_string()))?;
    let sql = "INSERT INTO node_event (node_id, source, kind, at, detail) VALUES ($1, $2, $3, $4, $5) \
        ON CONFLICT (node_id, source, kind) DO NOTHING";
    tx.run(sql, values![node, source, change.kind(), at, &detail])
        .await?;
    Ok(())
}

pub(super) fn event_from(row: &impl Cells, node: &NodeId) -> Result<NodeEvent, StoreError> {
    let source = row.text(1)?;
    let own = source.strip_prefix(&format!("report {node} "));
    let report: Option<ReportId> = own.map(|id| id_from(id.to_owned())).transpose()?;
    let detail = row.text(2)?;
    Ok(NodeEvent {
        at: row.time(0)?,
        report,
        change: serde_json::from_str(&detail).map_err(|_| unreadable("event", &detail))?,
    })
}
