//! Summaries of what nodes measured, by SQL.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kb_core::baseline::Cohort;
use kb_core::ids::NodeId;
use time::OffsetDateTime;

use super::convert::{count_from, id_from, refuse_nul, unreadable};
use super::engine::{Cells, Engine, values};
use super::report_rows::{listing_columns, listing_from};
use super::session::{SqlStore, Tx};
use crate::store::reports::ended;
use crate::store::{
    BaselineStore, EarlierFigures, KeptSeries, MOST_SERIES, NodeBaseline, ReportListing, StoreError,
};

#[async_trait]
impl<DB: Engine> BaselineStore for SqlStore<DB> {
    async fn note_baseline(
        &self,
        node: &NodeId,
        cohort: &Cohort,
        series: Vec<KeptSeries>,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        if note(&mut tx, node, cohort, series).await? {
            tx.commit().await
        } else {
            tx.end().await
        }
    }

    async fn baselines(&self, cohort: &Cohort, limit: u32) -> Result<Vec<NodeBaseline>, StoreError> {
        let sql = "SELECT node_id, series FROM baseline \
            WHERE model = $1 AND driver_branch = $2 AND simulated = $3 ORDER BY changed_at DESC, node_id LIMIT $4";
        let branch = i64::from(cohort.driver_branch);
        let asked = values![&cohort.model, branch, cohort.simulated, limit];
        let rows = self.read_once().await?.all(sql, asked).await?;
        let read = |row: &DB::Row| {
            Ok(NodeBaseline {
                node: id_from(row.text(0)?)?,
                series: series_from(&row.text(1)?)?,
            })
        };
        rows.iter().map(read).collect()
    }

    async fn earlier_figures(
        &self,
        node: &NodeId,
        until: OffsetDateTime,
        simulated: bool,
        runs: u32,
    ) -> Result<Vec<EarlierFigures>, StoreError> {
        let sql = "SELECT m.report_id, r.received_at, m.metric, m.bytes, m.n, m.matrix, r.finished_at, r.ended_at FROM \
            (SELECT p.node_id, p.id, p.received_at, p.finished_at, p.ended_at FROM report p WHERE p.node_id = $1 \
             AND p.verdict = 'healthy' AND p.simulated = $3 AND p.received_at <= $2 \
             ORDER BY p.received_at DESC, p.id DESC LIMIT $4) r \
            JOIN measurement m ON m.node_id = r.node_id AND m.report_id = r.id \
            ORDER BY r.received_at DESC, m.report_id DESC, m.metric, m.bytes";
        let asked = values![node, until, simulated, runs];
        let rows = self.read_once().await?.all(sql, asked).await?;
        let read = |row: &DB::Row| {
            Ok(EarlierFigures {
                report: id_from(row.text(0)?)?,
                ended_at: ended(row.maybe_time(7)?, row.time(6)?, row.time(1)?),
                metric: row.text(2)?,
                bytes: count_from(row.integer(3)?)?,
                n: count_from(row.integer(4)?)?,
                matrix: row.bytes(5)?,
            })
        };
        rows.iter().map(read).collect()
    }

    async fn latest_measured(&self, node: &NodeId) -> Result<Option<ReportListing>, StoreError> {
        let sql = concat!(
            "SELECT ",
            listing_columns!(),
            " FROM (SELECT * FROM report r WHERE r.node_id = $1 ORDER BY r.received_at DESC, r.id DESC LIMIT 1000) p \
             WHERE EXISTS (SELECT 1 FROM measurement m WHERE m.node_id = p.node_id AND m.report_id = p.id) \
             ORDER BY p.received_at DESC, p.id DESC LIMIT 1"
        );
        let row = self.read_once().await?.first(sql, values![node]).await?;
        row.as_ref().map(|row| listing_from(row, 0)).transpose()
    }
}

/// Keeps a node's figures beside those that are known of it; false where nothing has to be kept of them.
pub(super) async fn note<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    cohort: &Cohort,
    series: Vec<KeptSeries>,
) -> Result<bool, StoreError> {
    refuse_nul("the model of a GPU", &cohort.model)?;
    let Some(newest) = series.iter().map(|series| series.at).max() else {
        return Ok(false);
    };
    // Makes or locks the row: two reports of a node that come at once wait for each other.
    let sql = "INSERT INTO baseline (node_id, simulated, model, driver_branch, changed_at, series) \
        VALUES ($1, $2, $3, $4, $5, '[]') ON CONFLICT (node_id, simulated) DO UPDATE SET series = baseline.series";
    let changed = OffsetDateTime::from_unix_timestamp(newest).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let branch = i64::from(cohort.driver_branch);
    let row = values![node, cohort.simulated, &cohort.model, branch, changed];
    tx.run(sql, row).await?;
    let sql = "SELECT model, driver_branch, series FROM baseline WHERE node_id = $1 AND simulated = $2";
    let row = tx.one(sql, values![node, cohort.simulated]).await?;
    let known: Vec<KeptSeries> = series_from(&row.text(2)?)?;
    let is_same = row.text(0)? == cohort.model && row.integer(1)? == branch;
    let newer = known.iter().map(|series| series.at).max();
    if !is_same && newer.is_some_and(|newer| newer > newest) {
        // A report of the time before the node's GPUs or driver changed, that came late.
        return Ok(false);
    }
    let merged = merge(if is_same { known } else { Vec::new() }, series);
    let changed = newer
        .filter(|_| is_same)
        .map_or(newest, |newer| newer.max(newest));
    let changed = OffsetDateTime::from_unix_timestamp(changed).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let text = serde_json::to_string(&merged).map_err(|_| StoreError::Unstorable {
        what: "a node's figures",
        reason: "a figure is no number",
    })?;
    let sql = "UPDATE baseline SET model = $3, driver_branch = $4, changed_at = $5, series = $6 \
        WHERE node_id = $1 AND simulated = $2";
    let row = values![node, cohort.simulated, &cohort.model, branch, changed, &text];
    tx.run(sql, row).await?;
    Ok(true)
}

/// Newer figures take the place of older ones of their series.
fn merge(known: Vec<KeptSeries>, new: Vec<KeptSeries>) -> Vec<KeptSeries> {
    let mut merged: BTreeMap<String, KeptSeries> = BTreeMap::new();
    for series in known.into_iter().chain(new) {
        let older = merged.get(&series.key);
        if older.is_none_or(|older| older.at <= series.at) {
            merged.insert(series.key.clone(), series);
        }
    }
    let mut merged: Vec<KeptSeries> = merged.into_values().collect();
    merged.sort_by(|one, other| other.at.cmp(&one.at).then(one.key.cmp(&other.key)));
    merged.truncate(MOST_SERIES);
    merged
}

pub(super) fn series_from(text: &str) -> Result<Vec<KeptSeries>, StoreError> {
    serde_json::from_str(text).map_err(|error| unreadable("a node's figures", &error.to_string()))
}
