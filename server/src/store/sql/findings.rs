//! Findings of reports.

use kb_core::ids::{NodeId, RecordId, ReportId, Seq};

use super::batch;
use super::engine::{Cells, Engine, Value, values};
use super::face::id_from;
use super::revisions::{count_from, maybe_revision_from, refuse_nul};
use super::session::SqlStore;
use crate::store::{NewFinding, StoreError, StoredFinding};

impl<DB: Engine> SqlStore<DB> {
    pub(super) async fn replace_findings(
        &self,
        node: &NodeId,
        report: &ReportId,
        seq: Seq,
        findings: Vec<NewFinding>,
    ) -> Result<(), StoreError> {
        for finding in &findings {
            refuse_nul("a finding's title", &finding.title)?;
            refuse_nul("a finding's evidence", &finding.evidence)?;
        }
        let count = i64::try_from(findings.len()).unwrap_or(i64::MAX);
        let mut tx = self.begin_write().await?;
        let sql = "UPDATE report SET correlated_seq = $3, findings = $4 \
            WHERE node_id = $1 AND id = $2 AND (correlated_seq IS NULL OR correlated_seq <= $3)";
        if tx.run(sql, values![node, report, seq, count]).await? == 0 {
            let sql = "SELECT 1 FROM report WHERE node_id = $1 AND id = $2";
            return match tx.first(sql, values![node, report]).await? {
                // Another server knew more when it correlated.
                Some(_) => tx.end().await,
                None => Err(StoreError::NoReport(node.clone(), report.clone())),
            };
        }
        let sql = "DELETE FROM finding WHERE node_id = $1 AND report_id = $2";
        tx.run(sql, values![node, report]).await?;

        let mut rows = Vec::with_capacity(findings.len());
        for (ordinal, finding) in (0_i64..).zip(&findings) {
            let (record, revision) = finding
                .record
                .as_ref()
                .map(|(id, revision)| (id, *revision))
                .unzip();
            rows.push([
                Value::from(node),
                Value::from(report),
                Value::from(ordinal),
                Value::from(record.map(RecordId::as_str)),
                Value::from(revision.map(|revision| i64::from(revision.0))),
                Value::from(&finding.rule),
                Value::from(&finding.subject),
                Value::from(&finding.title),
                Value::from(&finding.evidence),
                Value::from(seq),
            ]);
        }
        let columns =
            "finding (node_id, report_id, ordinal, record_id, revision, rule, subject, title, evidence, seq)";
        batch::insert(&mut tx, columns, "", &rows).await?;
        tx.commit().await
    }

    pub(super) async fn findings(
        &self,
        node: &NodeId,
        report: &ReportId,
    ) -> Result<Vec<StoredFinding>, StoreError> {
        let sql = "SELECT ordinal, record_id, revision, rule, subject, title, evidence, seq FROM finding \
            WHERE node_id = $1 AND report_id = $2 ORDER BY ordinal";
        let rows = self.read_once().await?.all(sql, values![node, report]).await?;
        rows.iter().map(finding_from).collect()
    }
}

fn finding_from(row: &impl Cells) -> Result<StoredFinding, StoreError> {
    let record = row.maybe_text(1)?.map(id_from).transpose()?;
    Ok(StoredFinding {
        ordinal: count_from(row.integer(0)?)?,
        finding: NewFinding {
            record: record.zip(maybe_revision_from(row, 2)?),
            rule: row.text(3)?,
            subject: row.text(4)?,
            title: row.text(5)?,
            evidence: row.text(6)?,
        },
        seq: Seq(row.integer(7)?),
    })
}
