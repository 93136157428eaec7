//! Which report stands for a node, and which is its latest, as reports come.

use kb_core::ids::NodeId;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::engine::{Engine, values};
use super::proofs::{alarm, latest};
use super::session::Tx;
use crate::store::{NewReport, Origin, ReportListing, StoreError, Weight};

/// Notes a report with its node; whether it says anything of it.
pub(super) async fn upsert_node<DB: Engine>(tx: &mut Tx<DB>, report: &NewReport) -> Result<bool, StoreError> {
    // By the end of the run: a spool that is drained after an outage, or a bundle that somebody uploads weeks later,
    // does not take the place of what was seen since. A clock that runs ahead gains nothing beyond its own arrival.
    let seen_at = report.ended();
    // Makes or locks the node's row: what is asked about its reports from here on is no other upload's to change.
    let sql = "INSERT INTO node (id, hostname, first_seen, reports, latest_report, latest_at) \
        VALUES ($1, $2, $3, 1, $4, $5) ON CONFLICT (id) DO UPDATE SET reports = node.reports + 1";
    let hostname = report.hostname.as_deref();
    let row = values![&report.node, hostname, report.received_at, &report.id, seen_at];
    tx.run(sql, row).await?;
    if report.simulated && has_real(tx, &report.node).await? {
        return Ok(false);
    }
    if !report.simulated {
        drop_simulated(tx, &report.node, seen_at).await?;
    }
    // Another tool's output says nothing of what a look before it told.
    let is_mere_look = report.origin == Origin::Converted && report.weight == Weight::Look;
    let sql = "UPDATE node SET hostname = $2, latest_report = $3, latest_at = $4 WHERE id = $1 AND latest_at <= $4 \
        AND NOT ($5 AND EXISTS \
        (SELECT 1 FROM report p WHERE p.node_id = $1 AND p.id = node.latest_report AND p.id <> $3 AND p.weight = 'alarm'))";
    let row = values![&report.node, hostname, &report.id, seen_at, is_mere_look];
    tx.run(sql, row).await?;
    let judged = report.judged.as_ref();
    if judged.is_some_and(|judged| judged.ends_alarm) {
        end_alarm(tx, report).await?;
    }
    if report.weight == Weight::Alarm && !judged.is_some_and(|judged| judged.is_over) {
        // It stands in the place of the proof. It displaces no proven fault that is as bad, and nothing that is worse.
        let sql = "UPDATE node SET proof_report = $2, proof_at = $3 \
            WHERE id = $1 AND COALESCE(proof_at, $3) <= $3 AND NOT EXISTS \
            (SELECT 1 FROM report p WHERE p.node_id = $1 AND p.id = node.proof_report AND CASE p.verdict \
            WHEN 'broken' THEN 4 WHEN 'refused' THEN 3 WHEN 'unknown' THEN 2 WHEN 'degraded' THEN 1 ELSE 0 END \
            + CASE WHEN p.weight = 'proof' AND p.verdict IN ('broken', 'refused') THEN 1 ELSE 0 END > $4)";
        tx.run(
            sql,
            values![&report.node, &report.id, seen_at, rank(report.verdict)],
        )
        .await?;
    }
    if report.weight == Weight::Proof {
        let sql = "UPDATE node SET proof_report = $2, proof_at = $3 \
            WHERE id = $1 AND COALESCE(proof_at, $3) <= $3";
        tx.run(sql, values![&report.node, &report.id, seen_at]).await?;
    }
    Ok(true)
}

/// How bad it is, as the statement above has it.
fn rank(verdict: Verdict) -> i64 {
    match verdict {
        Verdict::Broken => 4,
        Verdict::Refused => 3,
        Verdict::Unknown => 2,
        Verdict::Degraded => 1,
        Verdict::Healthy | Verdict::NoFaultSeen => 0,
    }
}

/// Whether there are reports in earnest of a node: a simulated run says nothing of it then, whichever came first.
async fn has_real<DB: Engine>(tx: &mut Tx<DB>, node: &NodeId) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM report WHERE node_id = $1 AND NOT simulated LIMIT 1";
    Ok(tx.first(sql, values![node]).await?.is_some())
}

/// Takes from a node what simulated runs said: its latest report, whose place the next real one takes whatever time it tells, and its
/// proof.
async fn drop_simulated<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    seen_at: OffsetDateTime,
) -> Result<(), StoreError> {
    let sql = "UPDATE node SET latest_at = $2 WHERE id = $1 AND EXISTS \
        (SELECT 1 FROM report p WHERE p.node_id = $1 AND p.id = node.latest_report AND p.simulated)";
    tx.run(sql, values![node, seen_at]).await?;
    let sql = "SELECT 1 FROM node JOIN report p ON p.node_id = node.id AND p.id = node.proof_report \
        WHERE node.id = $1 AND p.simulated";
    if tx.first(sql, values![node]).await?.is_some() {
        stand_on_latest(tx, node, false).await?;
    }
    Ok(())
}

/// Ends the alarm that stands against a node, unless its run ended later than this report's.
async fn end_alarm<DB: Engine>(tx: &mut Tx<DB>, report: &NewReport) -> Result<(), StoreError> {
    let sql = "UPDATE node SET proof_report = NULL, proof_at = NULL WHERE id = $1 AND proof_at <= $2 AND EXISTS \
        (SELECT 1 FROM report p WHERE p.node_id = $1 AND p.id = node.proof_report AND p.weight = 'alarm')";
    let ended = tx.run(sql, values![&report.node, report.ended()]).await?;
    if ended > 0 {
        stand_on_latest(tx, &report.node, report.simulated).await?;
    }
    Ok(())
}

/// The latest proof of a kind that is left, if any, is what stands of a node, unless an alarm that lasts stands against it.
pub(super) async fn stand_on_latest<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    simulated: bool,
) -> Result<(), StoreError> {
    let left = latest(tx, node, simulated, 1).await?;
    let proof = left.first();
    if let Some(alarm) = alarm(tx, node, simulated).await? {
        let is_over = |proof: &ReportListing| proof.verdict >= alarm.verdict || proof.ended() > alarm.ended();
        if !proof.is_some_and(is_over) {
            return Ok(());
        }
    }
    let proof = proof.map(|proof| (proof.id.as_str(), proof.ended()));
    let sql = "UPDATE node SET proof_report = $2, proof_at = $3 WHERE id = $1";
    let (id, at) = proof.unzip();
    tx.run(sql, values![node, id, at]).await?;
    Ok(())
}
