//! Decisions about nodes by SQL: a row each time that one changes, or what decides.

use async_trait::async_trait;
use kb_core::ids::{NodeId, ReportId};
use time::OffsetDateTime;

use super::convert::{id_from, verdict_from};
use super::engine::{Cells, Engine, values};
use super::fleet_list::vocabulary;
use super::session::{SqlStore, Tx};
use crate::store::{ADVICE_OF_NODE, Advice, AdviceStore, StoreError};

/// A decision that may be the same as the one before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decided<'d> {
    pub(super) report: &'d ReportId,
    pub(super) verdict: &'d str,
    pub(super) action: &'d str,
    /// Record and rule.
    pub(super) cause: (&'d str, &'d str),
    pub(super) rule_set: &'d str,
}

/// Notes a decision about a node, whose row is locked, where it differs from the last.
pub(super) async fn note<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    mut at: OffsetDateTime,
    decided: Decided<'_>,
) -> Result<(), StoreError> {
    let Decided {
        report,
        verdict,
        action,
        cause: (record, rule),
        rule_set,
    } = decided;
    let sql = "SELECT verdict, action, cause_record, cause_rule, rule_set, at FROM advice WHERE node_id = $1 \
        ORDER BY at DESC, report_id DESC LIMIT 1";
    let before = tx.first(sql, values![node]).await?;
    if let Some(row) = before {
        let known = [
            row.text(0)?,
            row.text(1)?,
            row.text(2)?,
            row.text(3)?,
            row.text(4)?,
        ];
        if known == [verdict, action, record, rule, rule_set] {
            return Ok(());
        }
        // Findings that are made anew are of a report of earlier.
        at = at.max(row.time(5)?);
    }
    let sql = "INSERT INTO advice (node_id, at, report_id, verdict, action, cause_record, cause_rule, rule_set) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (node_id, at, report_id) DO UPDATE SET \
        verdict = excluded.verdict, action = excluded.action, cause_record = excluded.cause_record, \
        cause_rule = excluded.cause_rule, rule_set = excluded.rule_set";
    tx.run(
        sql,
        values![node, at, report, verdict, action, record, rule, rule_set],
    )
    .await?;
    let most = i64::try_from(ADVICE_OF_NODE).unwrap_or(i64::MAX);
    let sql = "DELETE FROM advice WHERE node_id = $1 AND at < (SELECT MIN(at) FROM (\
        SELECT at FROM advice WHERE node_id = $1 ORDER BY at DESC, report_id DESC LIMIT $2) kept)";
    tx.run(sql, values![node, most]).await?;
    Ok(())
}

#[async_trait]
impl<DB: Engine> AdviceStore for SqlStore<DB> {
    async fn advice(&self, node: &NodeId, limit: u32) -> Result<Vec<Advice>, StoreError> {
        let sql = "SELECT node_id, at, report_id, verdict, action, cause_record, cause_rule, rule_set FROM advice \
            WHERE node_id = $1 ORDER BY at DESC, report_id DESC LIMIT $2";
        let rows = self.read_once().await?.all(sql, values![node, limit]).await?;
        let advice = |row: &DB::Row| {
            let some = |column: usize| -> Result<Option<String>, StoreError> {
                Ok(Some(row.text(column)?).filter(|text| !text.is_empty()))
            };
            Ok(Advice {
                node: id_from(row.text(0)?)?,
                at: row.time(1)?,
                report: id_from(row.text(2)?)?,
                verdict: verdict_from(&row.text(3)?)?,
                action: vocabulary("action", &row.text(4)?)?,
                record: some(5)?.map(id_from).transpose()?,
                rule: row.text(6)?,
                rule_set: some(7)?,
            })
        };
        rows.iter().map(advice).collect()
    }
}
