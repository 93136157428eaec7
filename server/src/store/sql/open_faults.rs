//! What is open of a node: the reports whose faults nothing has ended, and the one of them that stands.

use kb_core::ids::{NodeId, ReportId};

use super::convert::{id_from, unreadable};
use super::engine::{Cells, Engine, values};
use super::proofs::{ended, latest_good};
use super::report_rows::{LISTING_WIDTH, listing_columns, listing_from};
use super::session::Tx;
use crate::store::{Causes, OPEN_FAULTS, OpenFault, StoreError, as_open};

// SQLite plans a statement anew each time that a bare parameter of its LIMIT is bound.
macro_rules! open_in_order {
    ($order:expr) => {
        concat!(
            "SELECT ",
            listing_columns!(),
            ", p.open_causes, p.gone_from, p.only_warns FROM report p \
             WHERE p.node_id = $1 AND p.open_causes IS NOT NULL AND p.simulated = $2 ORDER BY ",
            $order,
            " LIMIT CAST($3 AS BIGINT)"
        )
    };
}

/// What is open of a node of one kind, the run that ended first first; at most one more than [`OPEN_FAULTS`].
pub(super) async fn of<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    simulated: bool,
) -> Result<Vec<OpenFault>, StoreError> {
    let sql = open_in_order!(concat!(ended!(), ", p.received_at, p.id"));
    let rows = tx.all(sql, values![node, simulated, OPEN_FAULTS + 1]).await?;
    rows.iter().map(fault_from).collect()
}

/// The same, the run that ended last first; at most [`OPEN_FAULTS`].
pub(super) async fn newest<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    simulated: bool,
) -> Result<Vec<OpenFault>, StoreError> {
    let sql = open_in_order!(concat!(ended!(), " DESC, p.received_at DESC, p.id DESC"));
    let rows = tx.all(sql, values![node, simulated, OPEN_FAULTS]).await?;
    rows.iter().map(fault_from).collect()
}

fn fault_from(row: &impl Cells) -> Result<OpenFault, StoreError> {
    let names = row.text(LISTING_WIDTH)?;
    let only_warns = row.maybe_text(LISTING_WIDTH + 2)?;
    Ok(OpenFault {
        report: as_open(listing_from(row, 0)?, only_warns.as_deref()),
        causes: Causes {
            only_warns,
            names: names_from(&names)?,
            gone_from: row.maybe_text(LISTING_WIDTH + 1)?.map(id_from).transpose()?,
        },
    })
}

/// Names of causes, as they are kept.
pub(super) fn names_from(text: &str) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(text).map_err(|_| unreadable("open_causes", text))
}

/// Notes that a report's fault is open.
pub(super) async fn open<DB: Engine>(
    tx: &mut Tx<DB>,
    (node, report): (&NodeId, &ReportId),
    causes: &Causes,
) -> Result<(), StoreError> {
    let names = serde_json::Value::from(causes.names.as_slice()).to_string();
    let sql =
        "UPDATE report SET open_causes = $3, gone_from = $4, only_warns = $5 WHERE node_id = $1 AND id = $2";
    let gone_from = causes.gone_from.as_ref().map(ReportId::as_str);
    let only_warns = causes.only_warns.as_deref();
    tx.run(sql, values![node, report, &names, gone_from, only_warns])
        .await?;
    Ok(())
}

/// Notes that nothing of a report is open any more.
pub(super) async fn end<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    report: &ReportId,
) -> Result<(), StoreError> {
    let sql = "UPDATE report SET open_causes = NULL, only_warns = NULL WHERE node_id = $1 AND id = $2";
    tx.run(sql, values![node, report]).await?;
    Ok(())
}

/// Notes that the fault of a report is over, and why what it warned of is not.
pub(super) async fn end_fault<DB: Engine>(
    tx: &mut Tx<DB>,
    (node, report): (&NodeId, &ReportId),
    why: &str,
) -> Result<(), StoreError> {
    let sql = "UPDATE report SET only_warns = $3 WHERE node_id = $1 AND id = $2 AND open_causes IS NOT NULL";
    tx.run(sql, values![node, report, why]).await?;
    Ok(())
}

/// Ends what simulated runs told of a node, whatever rules follow.
pub(super) async fn end_simulated<DB: Engine>(tx: &mut Tx<DB>, node: &NodeId) -> Result<(), StoreError> {
    let sql = "UPDATE report SET open_causes = NULL, only_warns = NULL \
        WHERE node_id = $1 AND open_causes IS NOT NULL AND simulated";
    tx.run(sql, values![node]).await?;
    let sql = "UPDATE report SET ruled_out = NULL WHERE node_id = $1 AND ruled_out IS NOT NULL AND simulated";
    tx.run(sql, values![node]).await?;
    Ok(())
}

/// Puts the worst that is open in the node's row; where nothing is, its latest proof of health, if any. Of two that are equally bad
/// a proof tells more, and then the later one. What a proof warned of and is over stands no more.
pub(super) async fn stand<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    simulated: bool,
) -> Result<(), StoreError> {
    let sql = concat!(
        "SELECT ",
        listing_columns!(),
        " FROM report p WHERE p.node_id = $1 AND p.open_causes IS NOT NULL AND p.simulated = $2 \
         ORDER BY CASE WHEN p.only_warns IS NOT NULL THEN 1 WHEN p.verdict = 'broken' THEN 4 \
         WHEN p.verdict = 'refused' THEN 3 WHEN p.verdict = 'unknown' THEN 2 WHEN p.verdict = 'degraded' THEN 1 \
         ELSE 0 END DESC, CASE p.weight WHEN 'proof' THEN 1 ELSE 0 END DESC, ",
        ended!(),
        " DESC, p.received_at DESC, p.id DESC LIMIT 1"
    );
    let worst = tx.first(sql, values![node, simulated]).await?;
    let stands = match worst {
        Some(row) => Some(listing_from(&row, 0)?),
        None => latest_good(tx, node, simulated).await?,
    };
    let (id, at) = stands
        .as_ref()
        .map(|stands| (stands.id.as_str(), stands.ended()))
        .unzip();
    let sql = "UPDATE node SET proof_report = $2, proof_at = $3 WHERE id = $1";
    tx.run(sql, values![node, id, at]).await?;
    Ok(())
}
