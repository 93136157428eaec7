//! A node's proofs beside each other: which there are, and which turn out to be none.

use kb_core::ids::NodeId;
use time::OffsetDateTime;

use super::convert::count_from;
use super::engine::{Cells, Engine, values};
use super::open_faults;
use super::report_rows::{LISTING_WIDTH, listing_columns, listing_from};
use super::session::Tx;
use crate::store::{Judged, NewReport, OPEN_FAULTS, Proofs, ReportListing, StoreError, Weight};

/// Proofs of a node, the run that ended last first, with what is open of it, and how many reports it has.
pub(super) async fn of<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    simulated: bool,
    limit: u32,
) -> Result<Proofs, StoreError> {
    let proofs = latest(tx, node, simulated, limit).await?;
    let mut open = open_faults::of(tx, node, simulated).await?;
    let most = usize::try_from(OPEN_FAULTS).unwrap_or(usize::MAX);
    let has_more_open = open.len() > most;
    open.truncate(most);
    let mut newest_open = Vec::new();
    if has_more_open {
        newest_open = open_faults::newest(tx, node, simulated).await?;
        newest_open.retain(|fault| open.iter().all(|other| other.report.id != fault.report.id));
    }
    let (latest, (reports, judged_anew)) = last_seen(tx, node).await?;
    Ok(Proofs {
        reports,
        judged_anew,
        latest,
        open,
        has_more_open,
        newest_open,
        proofs,
    })
}

/// Whether no report came and none was judged anew since this one was judged. `itself`: how many of the reports that the node's row counts
/// are this one.
pub(super) async fn is_up_to_date<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    (judged, itself): (&Judged, u32),
) -> Result<bool, StoreError> {
    let then = (judged.reports.saturating_add(itself), judged.judged_anew);
    Ok(counts_of(tx, node).await? == then)
}

/// Takes the weight of what a report refutes. What is an alarm then is open, unless the report tells nothing of the node.
pub(super) async fn refute<DB: Engine>(
    tx: &mut Tx<DB>,
    report: &NewReport,
    counts: bool,
) -> Result<(), StoreError> {
    for refuted in report.judged.iter().flat_map(|judged| &judged.refuted) {
        // What an open report warned of stays a warning where only its health is refuted.
        let sql = if refuted.weight == Weight::Look {
            "UPDATE report SET reason = $3, \
                weight = CASE WHEN verdict = 'degraded' AND open_causes IS NOT NULL THEN 'alarm' ELSE $4 END, \
                verdict = CASE WHEN verdict = 'degraded' AND open_causes IS NOT NULL THEN 'degraded' ELSE 'unknown' END \
                WHERE node_id = $1 AND id = $2"
        } else {
            "UPDATE report SET weight = $4, verdict = 'unknown', reason = $3 WHERE node_id = $1 AND id = $2"
        };
        let (weight, reason) = (refuted.weight.word(), &refuted.reason);
        tx.run(sql, values![&report.node, &refuted.id, reason, weight])
            .await?;
        if counts && refuted.weight == Weight::Alarm && !refuted.is_over {
            open_faults::open(tx, (&report.node, &refuted.id), &refuted.causes).await?;
        }
    }
    Ok(())
}

/// Adds to what was found about refuted reports what their verdict is now.
pub(super) async fn note_refuted<DB: Engine>(tx: &mut Tx<DB>, report: &NewReport) -> Result<(), StoreError> {
    for refuted in report.judged.iter().flat_map(|judged| &judged.refuted) {
        let Some(finding) = &refuted.finding else {
            continue;
        };
        let sql = "INSERT INTO finding (node_id, report_id, ordinal, rule, subject, title, evidence, seq, severity, action, bearing) \
            SELECT p.node_id, p.id, p.findings, $3, $4, $5, $6, COALESCE(p.correlated_seq, 0), '', '', $7 \
            FROM report p WHERE p.node_id = $1 AND p.id = $2";
        let row = values![
            &report.node,
            &refuted.id,
            &finding.rule,
            &finding.subject,
            &finding.title,
            &finding.evidence,
            finding.gravity.bearing.word()
        ];
        tx.run(sql, row).await?;
        let sql = "UPDATE report SET findings = findings + 1 WHERE node_id = $1 AND id = $2";
        tx.run(sql, values![&report.node, &refuted.id]).await?;
    }
    Ok(())
}

/// How many reports a node has, and how often reports of it were judged anew.
async fn counts_of<DB: Engine>(tx: &mut Tx<DB>, node: &NodeId) -> Result<(u32, u32), StoreError> {
    let sql = "SELECT reports, judged_anew FROM node WHERE id = $1";
    let Some(row) = tx.first(sql, values![node]).await? else {
        return Ok((0, 0));
    };
    Ok((count_from(row.integer(0)?)?, count_from(row.integer(1)?)?))
}

/// The latest report of a node, with its counts as [`counts_of`] tells them.
async fn last_seen<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
) -> Result<(Option<ReportListing>, (u32, u32)), StoreError> {
    let sql = concat!(
        "SELECT ",
        listing_columns!(),
        ", n.reports, n.judged_anew FROM node n JOIN report p ON p.node_id = n.id AND p.id = n.latest_report WHERE n.id = $1"
    );
    let Some(row) = tx.first(sql, values![node]).await? else {
        return Ok((None, counts_of(tx, node).await?));
    };
    let reports = count_from(row.integer(LISTING_WIDTH)?)?;
    let judged_anew = count_from(row.integer(LISTING_WIDTH + 1)?)?;
    Ok((Some(listing_from(&row, 0)?), (reports, judged_anew)))
}

/// When the run of a report ended, as [`ReportListing::ended`] says.
macro_rules! ended {
    () => {
        "COALESCE(p.ended_at, CASE WHEN p.finished_at < p.received_at THEN p.finished_at ELSE p.received_at END)"
    };
}
pub(super) use ended;

/// Proofs of health of a node, the run that ended last first.
pub const PROOFS: &str = concat!(
    "SELECT ",
    listing_columns!(),
    " FROM report p WHERE p.node_id = $1 AND p.weight = 'proof' AND p.simulated = $2 \
     AND p.verdict IN ('healthy', 'no_fault_seen', 'degraded') ORDER BY ",
    ended!(),
    " DESC, p.received_at DESC, p.id DESC LIMIT CAST($3 AS BIGINT)"
);

/// The proof of a node that warns of nothing and ended last.
pub const LATEST_GOOD: &str = concat!(
    "SELECT ",
    listing_columns!(),
    " FROM report p WHERE p.node_id = $1 AND p.weight = 'proof' AND p.simulated = $2 \
     AND p.verdict IN ('healthy', 'no_fault_seen') ORDER BY ",
    ended!(),
    " DESC, p.received_at DESC, p.id DESC LIMIT 1"
);

/// Reports of a node whose runs ended after a time, the run that ended first first.
pub const AFTER: &str = concat!(
    "SELECT ",
    listing_columns!(),
    " FROM report p WHERE p.node_id = $1 AND p.simulated = $2 AND ",
    ended!(),
    " > $3 ORDER BY ",
    ended!(),
    ", p.received_at, p.id LIMIT CAST($4 AS BIGINT)"
);

/// The report of a node whose run ended last before a time, or then.
pub const BEFORE: &str = concat!(
    "SELECT ",
    listing_columns!(),
    " FROM report p WHERE p.node_id = $1 AND p.simulated = $2 AND ",
    ended!(),
    " <= $3 ORDER BY ",
    ended!(),
    " DESC, p.received_at DESC, p.id DESC LIMIT 1"
);

pub(super) async fn latest<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    simulated: bool,
    limit: u32,
) -> Result<Vec<ReportListing>, StoreError> {
    let rows = tx.all(PROOFS, values![node, simulated, limit]).await?;
    rows.iter().map(|row| listing_from(row, 0)).collect()
}

/// The latest proof that warns of nothing.
pub(super) async fn latest_good<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    simulated: bool,
) -> Result<Option<ReportListing>, StoreError> {
    let row = tx.first(LATEST_GOOD, values![node, simulated]).await?;
    row.map(|row| listing_from(&row, 0)).transpose()
}

pub(super) async fn after<DB: Engine>(
    tx: &mut Tx<DB>,
    (node, simulated): (&NodeId, bool),
    at: OffsetDateTime,
    limit: u32,
) -> Result<Vec<ReportListing>, StoreError> {
    let rows = tx.all(AFTER, values![node, simulated, at, limit]).await?;
    rows.iter().map(|row| listing_from(row, 0)).collect()
}

pub(super) async fn before<DB: Engine>(
    tx: &mut Tx<DB>,
    (node, simulated): (&NodeId, bool),
    at: OffsetDateTime,
) -> Result<Option<ReportListing>, StoreError> {
    let row = tx.first(BEFORE, values![node, simulated, at]).await?;
    row.map(|row| listing_from(&row, 0)).transpose()
}
