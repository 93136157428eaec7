//! Reports: kept once, read, listed.

use kb_core::ids::{NodeId, ReportId, Seq};
use kb_core::verdict::Verdict;
use time::OffsetDateTime;
use time::macros::datetime;

use super::engine::{Cells, Engine, Value, values};
use super::face::{id_from, unreadable};
use super::revisions::{count_from, refuse_nul};
use super::session::{SqlStore, Tx};
use super::{batch, node_events};
use crate::store::{NewReport, ReportListing, ReportQuery, ReportSaved, StoreError, StoredReport, Weight};

/// Columns of [`listing_from`], in its order, of table `p`.
macro_rules! listing_columns {
    () => {
        "p.node_id, p.id, p.hostname, p.finished_at, p.received_at, p.simulated, p.verdict, p.reason, p.gpus, \
         p.findings, p.weight"
    };
}
pub(super) use listing_columns;

/// Later than any report.
const END_OF_TIME: OffsetDateTime = datetime!(9999-12-31 23:59:59 UTC);

/// Number of listing columns.
pub(super) const LISTING_WIDTH: usize = 11;

impl<DB: Engine> SqlStore<DB> {
    pub(super) async fn save_report(&self, report: NewReport) -> Result<ReportSaved, StoreError> {
        refuse_nul("the host name", report.hostname.as_deref().unwrap_or_default())?;
        refuse_nul("the reason", &report.reason)?;
        let mut tx = self.begin_write().await?;
        let before = node_events::before(&mut tx, &report.node).await?;
        // The node's row first: it makes two uploads of one report wait for each other.
        upsert_node(&mut tx, &report).await?;
        let sql = "SELECT body_sha256 FROM report WHERE node_id = $1 AND id = $2";
        if let Some(row) = tx.first(sql, values![&report.node, &report.id]).await? {
            let is_same = row.text(0)? == report.body_sha256;
            // Not committed: the node is as before.
            tx.end().await?;
            return Ok(if is_same {
                ReportSaved::Duplicate
            } else {
                ReportSaved::Conflict
            });
        }
        insert_report(&mut tx, &report).await?;
        insert_measurements(&mut tx, &report).await?;
        node_events::note(&mut tx, before, &report).await?;
        tx.commit().await?;
        Ok(ReportSaved::Stored)
    }

    pub(super) async fn report(
        &self,
        node: Option<&NodeId>,
        id: &ReportId,
    ) -> Result<Option<StoredReport>, StoreError> {
        let sql = concat!(
            "SELECT ",
            listing_columns!(),
            ", p.body_zstd, p.body_bytes FROM report p \
             WHERE p.id = $1 AND ($2 IS NULL OR p.node_id = $2) LIMIT 2"
        );
        let node = node.map(NodeId::as_str);
        let rows = self.read_once().await?.all(sql, values![id, node]).await?;
        match rows.as_slice() {
            [] => Ok(None),
            [row] => Ok(Some(stored_from(row)?)),
            _ => Err(StoreError::AmbiguousReport),
        }
    }

    pub(super) async fn reports(&self, query: ReportQuery) -> Result<Vec<ReportListing>, StoreError> {
        // Without a place to go on from: from beyond any report.
        let before = query.before.as_ref().map(|(time, id)| (*time, id.as_str()));
        let (time, id) = before.unwrap_or((END_OF_TIME, ""));
        let mut session = self.read_once().await?;
        let rows = if let Some(node) = &query.node {
            let sql = concat!(
                "SELECT ",
                listing_columns!(),
                " FROM report p WHERE (p.received_at, p.id) < ($1, $2) AND p.node_id = $4 \
                 ORDER BY p.received_at DESC, p.id DESC LIMIT $3"
            );
            session.all(sql, values![time, id, query.limit, node]).await?
        } else {
            let sql = concat!(
                "SELECT ",
                listing_columns!(),
                " FROM report p WHERE (p.received_at, p.id) < ($1, $2) \
                 ORDER BY p.received_at DESC, p.id DESC LIMIT $3"
            );
            session.all(sql, values![time, id, query.limit]).await?
        };
        rows.iter().map(|row| listing_from(row, 0)).collect()
    }

    pub(super) async fn reports_to_correlate(
        &self,
        seq: Seq,
        limit: u32,
    ) -> Result<Vec<StoredReport>, StoreError> {
        let sql = concat!(
            "SELECT ",
            listing_columns!(),
            ", p.body_zstd, p.body_bytes FROM node n \
             JOIN report p ON p.node_id = n.id AND p.id IN (n.latest_report, n.proof_report) \
             WHERE p.correlated_seq IS NULL OR p.correlated_seq < $1 \
             ORDER BY p.received_at, p.id, p.node_id LIMIT $2"
        );
        let rows = self.read_once().await?.all(sql, values![seq, limit]).await?;
        rows.iter().map(stored_from).collect()
    }
}

async fn upsert_node<DB: Engine>(tx: &mut Tx<DB>, report: &NewReport) -> Result<(), StoreError> {
    // By the end of the run: a spool that is drained after an outage, or a bundle that somebody uploads weeks later,
    // does not take the place of what was seen since. A clock that runs ahead gains nothing beyond its own arrival.
    let seen_at = report.finished_at.min(report.received_at);
    let sql = "INSERT INTO node (id, hostname, first_seen, reports, latest_report, latest_at, proof_report, proof_at) \
        VALUES ($1, $2, $3, 1, $4, $5, $6, $7) \
        ON CONFLICT (id) DO UPDATE SET \
        reports = node.reports + 1, \
        hostname = CASE WHEN excluded.latest_at >= node.latest_at THEN excluded.hostname ELSE node.hostname END, \
        latest_report = CASE WHEN excluded.latest_at >= node.latest_at \
            THEN excluded.latest_report ELSE node.latest_report END, \
        latest_at = CASE WHEN excluded.latest_at >= node.latest_at \
            THEN excluded.latest_at ELSE node.latest_at END, \
        proof_report = CASE WHEN excluded.proof_at >= COALESCE(node.proof_at, excluded.proof_at) \
            THEN excluded.proof_report ELSE node.proof_report END, \
        proof_at = CASE WHEN excluded.proof_at >= COALESCE(node.proof_at, excluded.proof_at) \
            THEN excluded.proof_at ELSE node.proof_at END";
    let proof = (report.weight == Weight::Proof).then_some((report.id.as_str(), seen_at));
    let hostname = report.hostname.as_deref();
    tx.run(
        sql,
        values![
            &report.node,
            hostname,
            report.received_at,
            &report.id,
            seen_at,
            proof.map(|(id, _)| id),
            proof.map(|(_, at)| at)
        ],
    )
    .await?;
    Ok(())
}

async fn insert_report<DB: Engine>(tx: &mut Tx<DB>, report: &NewReport) -> Result<(), StoreError> {
    let body_bytes = stored_size(report.body_bytes)?;
    let (major, minor) = report.schema;
    let sql = "INSERT INTO report (node_id, id, hostname, body_sha256, body_bytes, finished_at, received_at, \
        schema_major, schema_minor, simulated, verdict, reason, gpus, findings, body_zstd, weight) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, $14, $15)";
    let row = values![
        &report.node,
        &report.id,
        report.hostname.as_deref(),
        &report.body_sha256,
        body_bytes,
        report.finished_at,
        report.received_at,
        major,
        minor,
        report.simulated,
        report.verdict.word(),
        &report.reason,
        report.gpus,
        report.body_zstd.as_slice(),
        report.weight.word(),
    ];
    tx.run(sql, row).await?;
    Ok(())
}

async fn insert_measurements<DB: Engine>(tx: &mut Tx<DB>, report: &NewReport) -> Result<(), StoreError> {
    let mut rows = Vec::with_capacity(report.measurements.len());
    for measurement in &report.measurements {
        rows.push([
            Value::from(&report.node),
            Value::from(&report.id),
            Value::from(&measurement.metric),
            Value::from(stored_size(measurement.bytes)?),
            Value::from(&measurement.unit),
            Value::from(measurement.n),
            Value::from(measurement.matrix.as_slice()),
        ]);
    }
    // A report that states one matrix twice keeps both in its body; the table keeps the first.
    let columns = "measurement (node_id, report_id, metric, bytes, unit, n, matrix)";
    batch::insert(
        tx,
        columns,
        "ON CONFLICT (node_id, report_id, metric, bytes) DO NOTHING",
        &rows,
    )
    .await
}

fn stored_size(bytes: u64) -> Result<i64, StoreError> {
    i64::try_from(bytes).map_err(|_| StoreError::Unstorable {
        what: "a size in bytes",
        reason: "it is over 2^63 - 1",
    })
}

/// Reads a listing from column `first` on.
pub(super) fn listing_from(row: &impl Cells, first: usize) -> Result<ReportListing, StoreError> {
    Ok(ReportListing {
        node: id_from(row.text(first)?)?,
        id: id_from(row.text(first + 1)?)?,
        hostname: row.maybe_text(first + 2)?,
        finished_at: row.time(first + 3)?,
        received_at: row.time(first + 4)?,
        simulated: row.flag(first + 5)?,
        verdict: verdict_from(&row.text(first + 6)?)?,
        reason: row.text(first + 7)?,
        gpus: count_from(row.integer(first + 8)?)?,
        findings: count_from(row.integer(first + 9)?)?,
        weight: weight_from(&row.text(first + 10)?)?,
    })
}

fn stored_from(row: &impl Cells) -> Result<StoredReport, StoreError> {
    Ok(StoredReport {
        listing: listing_from(row, 0)?,
        body_zstd: row.bytes(LISTING_WIDTH)?,
        body_bytes: count_from(row.integer(LISTING_WIDTH + 1)?)?,
    })
}

pub(super) fn verdict_from(word: &str) -> Result<Verdict, StoreError> {
    Verdict::ALL
        .into_iter()
        .find(|verdict| verdict.word() == word)
        .ok_or_else(|| unreadable("verdict", word))
}

fn weight_from(word: &str) -> Result<Weight, StoreError> {
    Weight::ALL
        .into_iter()
        .find(|weight| weight.word() == word)
        .ok_or_else(|| unreadable("weight", word))
}
