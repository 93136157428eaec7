//! A node's proofs beside each other: which there are, and which turn out to be none.

use kb_core::ids::NodeId;

use super::convert::count_from;
use super::engine::{Cells, Engine, values};
use super::report_rows::{listing_columns, listing_from};
use super::session::Tx;
use super::standing::stand_on_latest;
use crate::store::{Judged, NewReport, Proofs, ReportListing, StoreError};

/// Proofs of a node, the run that ended last first, and how many reports it has.
pub(super) async fn of<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    simulated: bool,
    limit: u32,
) -> Result<Proofs, StoreError> {
    let proofs = latest(tx, node, simulated, limit).await?;
    Ok(Proofs {
        reports: reports_of(tx, node).await?,
        latest: last_seen(tx, node).await?,
        alarm: alarm(tx, node, simulated).await?,
        proofs,
    })
}

/// Whether no report came since this one was judged. Asked when the node's row counts it already.
pub(super) async fn is_up_to_date<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    judged: &Judged,
) -> Result<bool, StoreError> {
    Ok(reports_of(tx, node).await? == judged.reports.saturating_add(1))
}

/// Takes the weight of what a report refutes. The latest proof left then stands, unless the report tells nothing of the node.
pub(super) async fn refute<DB: Engine>(
    tx: &mut Tx<DB>,
    report: &NewReport,
    counts: bool,
) -> Result<(), StoreError> {
    let refuted = report.judged.iter().flat_map(|judged| &judged.refuted);
    let mut is_any = false;
    for refuted in refuted {
        is_any = true;
        let sql =
            "UPDATE report SET weight = $4, verdict = 'unknown', reason = $3 WHERE node_id = $1 AND id = $2";
        let (weight, reason) = (refuted.weight.word(), &refuted.reason);
        tx.run(sql, values![&report.node, &refuted.id, reason, weight])
            .await?;
    }
    if !is_any || !counts {
        return Ok(());
    }
    stand_on_latest(tx, &report.node, report.simulated).await
}

async fn reports_of<DB: Engine>(tx: &mut Tx<DB>, node: &NodeId) -> Result<u32, StoreError> {
    let row = tx
        .first("SELECT reports FROM node WHERE id = $1", values![node])
        .await?;
    row.map_or(Ok(0), |row| count_from(row.integer(0)?))
}

async fn last_seen<DB: Engine>(tx: &mut Tx<DB>, node: &NodeId) -> Result<Option<ReportListing>, StoreError> {
    let sql = concat!(
        "SELECT ",
        listing_columns!(),
        " FROM node n JOIN report p ON p.node_id = n.id AND p.id = n.latest_report WHERE n.id = $1"
    );
    let row = tx.first(sql, values![node]).await?;
    row.map(|row| listing_from(&row, 0)).transpose()
}

/// The alarm of a kind that stands against a node.
pub(super) async fn alarm<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    simulated: bool,
) -> Result<Option<ReportListing>, StoreError> {
    let sql = concat!(
        "SELECT ",
        listing_columns!(),
        " FROM node n JOIN report p ON p.node_id = n.id AND p.id = n.proof_report \
         WHERE n.id = $1 AND p.weight = 'alarm' AND p.simulated = $2"
    );
    let row = tx.first(sql, values![node, simulated]).await?;
    row.map(|row| listing_from(&row, 0)).transpose()
}

/// When the run of a report ended, as [`ReportListing::ended`] says.
macro_rules! ended {
    () => {
        "COALESCE(p.ended_at, CASE WHEN p.finished_at < p.received_at THEN p.finished_at ELSE p.received_at END)"
    };
}

/// Of the alarms (node, kind, time) whose runs ended later, the one that shows most GPUs. No run ends after its report came: by their
/// arrival the index finds the few that count.
pub(super) const ALARM_SINCE: &str = concat!(
    "SELECT ",
    listing_columns!(),
    " FROM report p WHERE p.node_id = $1 AND p.weight = 'alarm' AND p.simulated = $2 AND p.received_at > $3 AND ",
    ended!(),
    " > $3 ORDER BY p.gpus DESC, p.received_at DESC LIMIT 1"
);

/// The alarms (node, kind, time, limit) whose runs ended later, the run that ended last first.
pub(super) const ALARMS: &str = concat!(
    "SELECT ",
    listing_columns!(),
    " FROM report p WHERE p.node_id = $1 AND p.weight = 'alarm' AND p.simulated = $2 AND p.received_at > $3 AND ",
    ended!(),
    " > $3 ORDER BY ",
    ended!(),
    " DESC, p.received_at DESC LIMIT $4"
);

pub(super) async fn latest<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    simulated: bool,
    limit: u32,
) -> Result<Vec<ReportListing>, StoreError> {
    let sql = concat!(
        "SELECT ",
        listing_columns!(),
        " FROM report p WHERE p.node_id = $1 AND p.weight = 'proof' AND p.simulated = $2 ORDER BY ",
        ended!(),
        " DESC, p.received_at DESC, p.id DESC LIMIT $3"
    );
    let rows = tx.all(sql, values![node, simulated, limit]).await?;
    rows.iter().map(|row| listing_from(row, 0)).collect()
}
