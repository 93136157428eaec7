//! Which report stands for a node, and which is its latest, as reports come.

use kb_core::ids::NodeId;
use time::OffsetDateTime;

use super::engine::{Engine, values};
use super::open_faults;
use super::session::Tx;
use crate::store::{NewReport, Origin, StoreError, Weight};

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
    Ok(true)
}

/// Notes what a report that was kept opens and ends, and what stands of the node then.
pub(super) async fn follow<DB: Engine>(tx: &mut Tx<DB>, report: &NewReport) -> Result<(), StoreError> {
    let judged = report.judged.as_ref();
    let mut is_news =
        report.weight == Weight::Proof || judged.is_some_and(|judged| !judged.refuted.is_empty());
    for (named, causes) in judged.iter().flat_map(|judged| &judged.named) {
        open_faults::open(tx, (&report.node, named), causes).await?;
    }
    for ended in judged.iter().flat_map(|judged| &judged.ends) {
        is_news = true;
        open_faults::end(tx, &report.node, ended).await?;
    }
    for (warns, why) in judged.iter().flat_map(|judged| &judged.warns) {
        is_news = true;
        open_faults::end_fault(tx, (&report.node, warns), why).await?;
    }
    if report.tells_of_fault() && !judged.is_some_and(|judged| judged.is_over) {
        is_news = true;
        open_faults::open(tx, (&report.node, &report.id), &report.causes).await?;
    }
    // A look that tells nothing new changes nothing, and looks are most of what comes.
    if is_news {
        open_faults::stand(tx, &report.node, report.simulated).await?;
    }
    Ok(())
}

/// Whether there are reports in earnest of a node: a simulated run says nothing of it then, whichever came first.
pub(super) async fn has_real<DB: Engine>(tx: &mut Tx<DB>, node: &NodeId) -> Result<bool, StoreError> {
    has_any(tx, node, false).await
}

async fn has_any<DB: Engine>(tx: &mut Tx<DB>, node: &NodeId, simulated: bool) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM report WHERE node_id = $1 AND simulated = $2 LIMIT 1";
    Ok(tx.first(sql, values![node, simulated]).await?.is_some())
}

/// Takes from a node what simulated runs said: its latest report, whose place the next real one takes whatever time it tells, its
/// proof, and what they left open.
async fn drop_simulated<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    seen_at: OffsetDateTime,
) -> Result<(), StoreError> {
    if !has_any(tx, node, true).await? {
        return Ok(());
    }
    let sql = "UPDATE node SET latest_at = $2 WHERE id = $1 AND EXISTS \
        (SELECT 1 FROM report p WHERE p.node_id = $1 AND p.id = node.latest_report AND p.simulated)";
    tx.run(sql, values![node, seen_at]).await?;
    open_faults::end_simulated(tx, node).await?;
    let sql = "SELECT 1 FROM node JOIN report p ON p.node_id = node.id AND p.id = node.proof_report \
        WHERE node.id = $1 AND p.simulated";
    if tx.first(sql, values![node]).await?.is_some() {
        open_faults::stand(tx, node, false).await?;
    }
    Ok(())
}
