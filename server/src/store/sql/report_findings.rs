//! The findings of a report by SQL.

use kb_core::ids::{NodeId, RecordId, ReportId};

use super::convert::refuse_nul;
use super::engine::{Engine, Value, values};
use super::session::Tx;
use super::{batch, finding_words};
use crate::store::{Found, StoreError, word};

/// Keeps findings in place of those that there were; false where these were made with a newer feed, or the report is not there.
pub(super) async fn note_findings<DB: Engine>(
    tx: &mut Tx<DB>,
    (node, report): (&NodeId, &ReportId),
    found: &Found,
) -> Result<bool, StoreError> {
    check(found)?;
    let (seq, rule_set, count) = (found.seq, found.rule_set.as_deref(), count(found));
    let sql = "UPDATE report SET correlated_seq = $3, findings = $4, \
        rule_set = COALESCE($5, rule_set) \
        WHERE node_id = $1 AND id = $2 AND (correlated_seq IS NULL OR correlated_seq <= $3)";
    if tx.run(sql, values![node, report, seq, count, rule_set]).await? == 0 {
        return Ok(false);
    }
    let sql = "DELETE FROM finding WHERE node_id = $1 AND report_id = $2";
    tx.run(sql, values![node, report]).await?;
    insert(tx, (node, report), found).await?;
    Ok(true)
}

/// Refuses what no engine keeps.
pub(super) fn check(found: &Found) -> Result<(), StoreError> {
    for finding in &found.findings {
        refuse_nul("a finding's title", &finding.title)?;
        refuse_nul("a finding's evidence", &finding.evidence)?;
    }
    Ok(())
}

pub(super) fn count(found: &Found) -> i64 {
    i64::try_from(found.findings.len()).unwrap_or(i64::MAX)
}

/// Keeps findings of a report that has none yet, and in whose row they are counted already.
pub(super) async fn insert<DB: Engine>(
    tx: &mut Tx<DB>,
    (node, report): (&NodeId, &ReportId),
    found: &Found,
) -> Result<(), StoreError> {
    let (seq, findings) = (found.seq, &found.findings);
    let words: Vec<(String, String, String)> = findings
        .iter()
        .map(|finding| {
            let (severity, action) = (
                finding.gravity.severity.map(word),
                finding.gravity.action.map(word),
            );
            let by_policy = finding_words::policy_text(finding.by_policy.as_ref());
            (
                severity.unwrap_or_default(),
                action.unwrap_or_default(),
                by_policy,
            )
        })
        .collect();
    let mut rows = Vec::with_capacity(findings.len());
    for (ordinal, (finding, (severity, action, by_policy))) in (0_i64..).zip(findings.iter().zip(&words)) {
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
            Value::from(severity),
            Value::from(action),
            Value::from(finding.gravity.bearing.word()),
            Value::from(by_policy),
        ]);
    }
    let columns = "finding (node_id, report_id, ordinal, record_id, revision, rule, subject, title, evidence, seq, severity, \
        action, bearing, by_policy)";
    batch::insert(tx, columns, "", &rows).await
}
