//! All nodes counted: by verdict, by what they suffer from, by when their latest runs ended.

use super::convert::{id_from, verdict_from};
use super::dialect::Dialect;
use super::engine::{Cells, Engine, values};
use super::session::Tx;
use crate::store::{Fleet, FleetFault, FleetQuery, HeardNode, StoreError, VerdictCount};

/// Each node's standing report, by the rule of [`crate::store::standing`]. A report's weight is asked for only where it
/// decides, for it lies behind the body.
macro_rules! standing {
    () => {
        "SELECT n.id AS node_id, n.latest_report, CASE \
            WHEN n.proof_report IS NULL THEN n.latest_report \
            WHEN n.proof_report = n.latest_report OR p.verdict <> 'healthy' THEN n.proof_report \
            WHEN l.weight = 'alarm' THEN n.latest_report \
            ELSE n.proof_report END AS report_id \
         FROM node n JOIN report l ON l.node_id = n.id AND l.id = n.latest_report \
         LEFT JOIN report p ON p.node_id = n.id AND p.id = n.proof_report"
    };
}

const VERDICTS: &str = concat!(
    "SELECT r.verdict, COUNT(*), CAST(SUM(CASE WHEN r.simulated THEN 0 ELSE r.gpus END) AS BIGINT), \
     SUM(CASE WHEN r.simulated THEN 1 ELSE 0 END) FROM (",
    standing!(),
    ") s JOIN report r ON r.node_id = s.node_id AND r.id = s.report_id GROUP BY r.verdict"
);

/// What reports show, by the ids that records have now; what a stand-in showed is no fault of a node.
fn faults<DB: Engine>() -> String {
    format!(
        "SELECT COALESCE(m.record_id, f.record_id), MIN(f.rule{by_bytes}) AS first_rule, MIN(f.title{by_bytes}), \
         COUNT(DISTINCT f.node_id) AS nodes FROM ({standing}) s \
         JOIN finding f ON f.node_id = s.node_id AND f.report_id IN (s.report_id, s.latest_report) \
         JOIN report r ON r.node_id = f.node_id AND r.id = f.report_id AND NOT r.simulated \
         LEFT JOIN moved m ON m.former = f.record_id \
         GROUP BY COALESCE(m.record_id, f.record_id), CASE WHEN f.record_id IS NULL THEN f.rule END \
         ORDER BY nodes DESC, COALESCE(m.record_id, f.record_id) IS NULL, COALESCE(m.record_id, f.record_id), \
         first_rule LIMIT $1",
        by_bytes = <DB as Dialect>::BY_BYTES,
        standing = standing!(),
    )
}

pub(super) async fn count<DB: Engine>(tx: &mut Tx<DB>, query: FleetQuery) -> Result<Fleet, StoreError> {
    let verdicts = tx.all(VERDICTS, &[]).await?;
    let faults = tx.all_built(faults::<DB>(), values![query.faults]).await?;
    let silent = tx
        .one(
            "SELECT COUNT(*) FROM node WHERE latest_at < $1",
            values![query.silent_before],
        )
        .await?;
    let oldest = tx
        .all(
            "SELECT id, hostname, latest_at FROM node ORDER BY latest_at, id LIMIT $1",
            values![query.oldest],
        )
        .await?;
    Ok(Fleet {
        verdicts: verdicts.iter().map(verdict).collect::<Result<_, _>>()?,
        faults: faults.iter().map(fault).collect::<Result<_, _>>()?,
        silent: number(&silent, 0)?,
        oldest: oldest.iter().map(heard).collect::<Result<_, _>>()?,
    })
}

fn number(row: &impl Cells, column: usize) -> Result<u64, StoreError> {
    // A count or a sum of counts.
    Ok(u64::try_from(row.integer(column)?).unwrap_or_default())
}

fn verdict(row: &impl Cells) -> Result<VerdictCount, StoreError> {
    Ok(VerdictCount {
        verdict: verdict_from(&row.text(0)?)?,
        nodes: number(row, 1)?,
        gpus: number(row, 2)?,
        simulated: number(row, 3)?,
    })
}

fn fault(row: &impl Cells) -> Result<FleetFault, StoreError> {
    Ok(FleetFault {
        record: row.maybe_text(0)?.map(id_from).transpose()?,
        rule: row.text(1)?,
        title: row.text(2)?,
        nodes: number(row, 3)?,
    })
}

fn heard(row: &impl Cells) -> Result<HeardNode, StoreError> {
    Ok(HeardNode {
        id: id_from(row.text(0)?)?,
        hostname: row.maybe_text(1)?,
        at: row.time(2)?,
    })
}
