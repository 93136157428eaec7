//! Reports and their findings by SQL.

use async_trait::async_trait;
use kb_core::ids::{NodeId, ReportId, Seq};
use time::OffsetDateTime;
use time::macros::datetime;

use super::convert::{count_from, refuse_nul};
use super::engine::{Cells, Engine, Value, values};
use super::fleet_summary::{self, News};
use super::report_findings::{self, note_findings};
use super::report_rows::{
    finding_from, listing_columns, listing_from, stored_from, telling, telling_of_node,
};
use super::session::{SqlStore, Tx};
use super::{baseline, batch, facets, judged, node_events, proofs, standing};
use crate::store::{
    Found, Hardware, JudgedBy, Labels, NewReport, Proofs, ReportListing, ReportQuery, ReportSaved,
    ReportStore, SUMMARY_NAME_CHARACTERS, StoreError, StoredFinding, StoredReport, ToldBaseline, cut,
};

const END_OF_TIME: OffsetDateTime = datetime!(9999-12-31 23:59:59 UTC);

#[async_trait]
impl<DB: Engine> ReportStore for SqlStore<DB> {
    async fn save_report(&self, report: NewReport) -> Result<ReportSaved, StoreError> {
        refuse_nul("the host name", report.hostname.as_deref().unwrap_or_default())?;
        refuse_nul("the reason", &report.reason)?;
        if let Some(found) = &report.found {
            report_findings::check(found)?;
        }
        let mut tx = self.begin_write().await?;
        let before = node_events::before(&mut tx, &report.node).await?;
        // The node's row first: it makes two uploads of one report wait for each other.
        let counts = standing::upsert_node(&mut tx, &report).await?;
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
        if let Some(judged) = &report.judged
            && !proofs::is_up_to_date(&mut tx, &report.node, (judged, 1)).await?
        {
            tx.end().await?;
            return Ok(ReportSaved::Overtaken);
        }
        insert_report(&mut tx, &report).await?;
        proofs::refute(&mut tx, &report, counts).await?;
        proofs::note_refuted(&mut tx, &report).await?;
        if counts {
            standing::follow(&mut tx, &report).await?;
        }
        insert_measurements(&mut tx, &report).await?;
        node_events::note(&mut tx, before, &report).await?;
        if let Some(told) = &report.facets {
            facets::note(&mut tx, &report.node, told).await?;
        }
        if let Some(found) = &report.found {
            report_findings::insert(&mut tx, (&report.node, &report.id), found).await?;
        }
        if let Some(ToldBaseline { cohort, series }) = &report.baseline {
            baseline::note(&mut tx, &report.node, cohort, series.clone()).await?;
        }
        let news = News {
            node: &report.node,
            report: &report.id,
            is_new: true,
            at: report.received_at,
            hardware: Some(&report.hardware),
        };
        fleet_summary::refresh(&mut tx, news).await?;
        tx.commit().await?;
        Ok(ReportSaved::Stored)
    }

    async fn report(&self, node: Option<&NodeId>, id: &ReportId) -> Result<Option<StoredReport>, StoreError> {
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

    async fn reports(&self, query: ReportQuery) -> Result<Vec<ReportListing>, StoreError> {
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

    async fn reports_in_earnest(
        &self,
        node: &NodeId,
        since: OffsetDateTime,
        before: (OffsetDateTime, ReportId),
    ) -> Result<u64, StoreError> {
        let (time, id) = before;
        let sql = "SELECT COUNT(*) FROM report WHERE node_id = $1 AND received_at >= $2 \
            AND (received_at, id) < ($3, $4) AND NOT simulated";
        let row = self
            .read_once()
            .await?
            .one(sql, values![node, since, time, id.as_str()])
            .await?;
        count_from(row.integer(0)?)
    }

    async fn reports_to_correlate(&self, seq: Seq, limit: u32) -> Result<Vec<StoredReport>, StoreError> {
        // Bodies are read of those that are given alone.
        let sql = concat!(
            "SELECT ",
            listing_columns!(),
            ", p.body_zstd, p.body_bytes FROM (SELECT q.node_id, q.id FROM ",
            telling!(),
            " t JOIN report q ON q.node_id = t.node_id AND q.id = t.id \
             WHERE q.correlated_seq IS NULL OR q.correlated_seq < $1 \
             ORDER BY q.received_at, q.id, q.node_id LIMIT $2) due \
             JOIN report p ON p.node_id = due.node_id AND p.id = due.id ORDER BY p.received_at, p.id, p.node_id"
        );
        let rows = self.read_once().await?.all(sql, values![seq, limit]).await?;
        rows.iter().map(stored_from).collect()
    }

    async fn judge_again(&self, rule_set: Option<&str>) -> Result<u64, StoreError> {
        let mut tx = self.begin_write().await?;
        let sql = concat!(
            "UPDATE report SET correlated_seq = NULL FROM ",
            telling!(),
            " t WHERE report.node_id = t.node_id AND report.id = t.id AND ($1 IS NULL OR report.rule_set <> $1)"
        );
        let count = tx.run(sql, values![rule_set]).await?;
        tx.commit().await?;
        Ok(count)
    }

    async fn reports_judged_otherwise(
        &self,
        node: &NodeId,
        rule_set: &str,
    ) -> Result<Vec<StoredReport>, StoreError> {
        let sql = concat!(
            "SELECT ",
            listing_columns!(),
            ", p.body_zstd, p.body_bytes FROM ",
            telling_of_node!(),
            " t JOIN report p ON p.node_id = $1 AND p.id = t.id WHERE p.rule_set <> $2 ORDER BY p.received_at, p.id"
        );
        let rows = self.read_once().await?.all(sql, values![node, rule_set]).await?;
        rows.iter().map(stored_from).collect()
    }

    async fn judged_by(&self, node: &NodeId, report: &ReportId) -> Result<Option<JudgedBy>, StoreError> {
        let mut tx = self.begin_read().await?;
        let judged = judged::by(&mut tx, node, report).await?;
        tx.end().await?;
        Ok(judged)
    }

    async fn judge_report_anew(&self, report: NewReport) -> Result<ReportSaved, StoreError> {
        refuse_nul("the reason", &report.reason)?;
        let mut tx = self.begin_write().await?;
        let saved = judged::anew(&mut tx, &report).await?;
        if saved == ReportSaved::Stored {
            tx.commit().await?;
        } else {
            tx.end().await?;
        }
        Ok(saved)
    }

    async fn ruled_out(&self, node: &NodeId, limit: u32) -> Result<Vec<ReportListing>, StoreError> {
        let sql = concat!(
            "SELECT ",
            listing_columns!(),
            " FROM report p WHERE p.node_id = $1 AND p.ruled_out IS NOT NULL AND p.open_causes IS NULL \
             AND NOT p.simulated ORDER BY p.received_at DESC, p.id DESC LIMIT $2"
        );
        let rows = self.read_once().await?.all(sql, values![node, limit]).await?;
        rows.iter().map(|row| listing_from(row, 0)).collect()
    }

    async fn labels_of(&self, node: &NodeId) -> Result<Labels, StoreError> {
        let sql = "SELECT name, value FROM node_label WHERE node_id = $1";
        let rows = self.read_once().await?.all(sql, values![node]).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
    }

    async fn replace_found(&self, node: &NodeId, report: &ReportId, found: Found) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        fleet_summary::lock(&mut tx, node).await?;
        if !note_findings(&mut tx, (node, report), &found).await? {
            let sql = "SELECT 1 FROM report WHERE node_id = $1 AND id = $2";
            return match tx.first(sql, values![node, report]).await? {
                // Another server knew more when it correlated.
                Some(_) => tx.end().await,
                None => Err(StoreError::NoReport(node.clone(), report.clone())),
            };
        }
        if fleet_summary::is_told_by(&mut tx, node, report).await? {
            let at = ended(&mut tx, node, report).await?;
            let news = News {
                node,
                report,
                is_new: false,
                at,
                hardware: None,
            };
            fleet_summary::refresh(&mut tx, news).await?;
        }
        tx.commit().await
    }

    async fn note_hardware(
        &self,
        node: &NodeId,
        report: &ReportId,
        hardware: &Hardware,
    ) -> Result<(), StoreError> {
        let sql = "SELECT 1 FROM node_summary WHERE node_id = $1 AND model = '' AND driver = ''";
        let is_known = self.read_once().await?.first(sql, values![node]).await?.is_none();
        if is_known {
            return Ok(());
        }
        let mut tx = self.begin_write().await?;
        let sql = "UPDATE node_summary SET model = $3, driver = $4 WHERE node_id = $1 AND model = '' AND driver = '' \
            AND EXISTS (SELECT 1 FROM node n WHERE n.id = $1 AND n.latest_report = $2)";
        let kept = |text: &Option<String>| {
            let text = text.as_deref().unwrap_or_default();
            cut(text, SUMMARY_NAME_CHARACTERS).to_owned()
        };
        let (model, driver) = (kept(&hardware.model), kept(&hardware.driver));
        tx.run(sql, values![node, report, &model, &driver]).await?;
        tx.commit().await
    }

    async fn proofs(&self, node: &NodeId, simulated: bool, limit: u32) -> Result<Proofs, StoreError> {
        let mut tx = self.begin_read().await?;
        let proofs = proofs::of(&mut tx, node, simulated, limit).await?;
        tx.end().await?;
        Ok(proofs)
    }

    async fn reports_after(
        &self,
        node: &NodeId,
        simulated: bool,
        at: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<ReportListing>, StoreError> {
        let mut tx = self.begin_read().await?;
        let reports = proofs::after(&mut tx, (node, simulated), at, limit).await?;
        tx.end().await?;
        Ok(reports)
    }

    async fn report_before(
        &self,
        node: &NodeId,
        simulated: bool,
        at: OffsetDateTime,
    ) -> Result<Option<ReportListing>, StoreError> {
        let mut tx = self.begin_read().await?;
        let report = proofs::before(&mut tx, (node, simulated), at).await?;
        tx.end().await?;
        Ok(report)
    }

    async fn findings(&self, node: &NodeId, report: &ReportId) -> Result<Vec<StoredFinding>, StoreError> {
        let sql = "SELECT ordinal, record_id, revision, rule, subject, title, evidence, seq, severity, action, bearing, by_policy \
            FROM finding \
            WHERE node_id = $1 AND report_id = $2 ORDER BY ordinal";
        let rows = self.read_once().await?.all(sql, values![node, report]).await?;
        rows.iter().map(finding_from).collect()
    }
}

/// When the run of a report ended by the server's clock.
async fn ended<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    report: &ReportId,
) -> Result<OffsetDateTime, StoreError> {
    let sql = concat!(
        "SELECT ",
        listing_columns!(),
        " FROM report p WHERE p.node_id = $1 AND p.id = $2"
    );
    let row = tx.one(sql, values![node, report]).await?;
    Ok(listing_from(&row, 0)?.ended())
}

async fn insert_report<DB: Engine>(tx: &mut Tx<DB>, report: &NewReport) -> Result<(), StoreError> {
    let body_bytes = stored_size(report.body_bytes)?;
    let (major, minor) = report.schema;
    let found = report.found.as_ref();
    let (seq, findings) = found
        .map(|found| (found.seq.0, report_findings::count(found)))
        .unzip();
    let rule_set = found.and_then(|found| found.rule_set.as_deref());
    let sql = "INSERT INTO report (node_id, id, hostname, body_sha256, body_bytes, finished_at, received_at, \
        schema_major, schema_minor, simulated, verdict, reason, gpus, findings, body_zstd, weight, ended_at, \
        correlated_seq, rule_set) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";
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
        findings.unwrap_or(0),
        report.body_zstd.as_slice(),
        report.weight.word(),
        report.ended_at,
        seq,
        rule_set.unwrap_or_default(),
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
