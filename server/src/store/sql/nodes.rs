//! Nodes by SQL, with the reports that tell how they are.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kb_core::ids::NodeId;

use super::convert::{count_from, id_from, unreadable};
use super::engine::{Cells, Engine, values};
use super::fleet_list::{SUMMARY_WIDTH, ids, in_order, summary_columns, summary_from};
use super::node_events::event_from;
use super::report_rows::{LISTING_WIDTH, listing_columns, listing_from};
use super::session::{SqlStore, Tx};
use super::{batch, fleet, fleet_findings, fleet_handling};
use crate::store::{
    FindingChange, Fleet, FleetQuery, Labels, NodeEvent, NodeFinding, NodeListing, NodeQuery, NodeStore,
    ReportListing, StoreError, as_open, standing,
};

/// One row for a node's latest report, and one for its latest proof where that is another. Ends where a list of ids begins.
const NODES: &str = concat!(
    "SELECT ",
    listing_columns!(),
    ", ",
    summary_columns!(),
    ", n.id, n.hostname, n.first_seen, n.reports, n.latest_report, n.proof_report, p.only_warns FROM node n \
     JOIN node_summary s ON s.node_id = n.id \
     JOIN report p ON p.node_id = n.id AND p.id IN (n.latest_report, n.proof_report) WHERE n.id"
);

/// Column of a row of [`NODES`] behind the report and the summary.
const REST: usize = LISTING_WIDTH + SUMMARY_WIDTH;

#[async_trait]
impl<DB: Engine> NodeStore for SqlStore<DB> {
    async fn nodes(&self, query: &NodeQuery) -> Result<Vec<NodeListing>, StoreError> {
        let mut tx = self.begin_read().await?;
        let ids = ids(&mut tx, query).await?;
        let listed = listed(&mut tx, &ids).await?;
        tx.end().await?;
        Ok(in_order(&ids, listed, |node| &node.id))
    }

    async fn node(&self, id: &NodeId) -> Result<Option<NodeListing>, StoreError> {
        let mut tx = self.begin_read().await?;
        let listed = listed(&mut tx, &[id.to_string()]).await?;
        tx.end().await?;
        Ok(listed.into_iter().next())
    }

    async fn node_findings(&self, id: &NodeId) -> Result<Vec<NodeFinding>, StoreError> {
        let mut tx = self.begin_read().await?;
        let findings = fleet_findings::of_node(&mut tx, id).await?;
        tx.end().await?;
        Ok(findings)
    }

    async fn change_finding(&self, change: FindingChange) -> Result<bool, StoreError> {
        let mut tx = self.begin_write().await?;
        let is_changed = fleet_handling::change(&mut tx, &change).await?;
        if is_changed {
            tx.commit().await?;
        } else {
            tx.end().await?;
        }
        Ok(is_changed)
    }

    async fn label_names(&self, limit: u32) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT name FROM node_label ORDER BY name LIMIT $1";
        let rows = self.read_once().await?.all(sql, values![limit]).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    async fn node_events(&self, id: &NodeId, limit: u32) -> Result<Vec<NodeEvent>, StoreError> {
        let sql = "SELECT at, source, detail FROM node_event WHERE node_id = $1 ORDER BY at DESC, source, kind LIMIT $2";
        let rows = self.read_once().await?.all(sql, values![id, limit]).await?;
        rows.iter().map(|row| event_from(row, id)).collect()
    }

    async fn fleet(&self, query: &FleetQuery) -> Result<Fleet, StoreError> {
        let mut tx = self.begin_read().await?;
        let fleet = fleet::count(&mut tx, query).await?;
        tx.end().await?;
        Ok(fleet)
    }
}

async fn listed<DB: Engine>(tx: &mut Tx<DB>, ids: &[String]) -> Result<Vec<NodeListing>, StoreError> {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut rows = Vec::new();
    for row in batch::all_for_keys(tx, NODES, &ids).await? {
        rows.push((row.text(REST)?, row));
    }
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    let listed = rows.chunk_by(|one, other| one.0 == other.0).map(listing);
    let mut listed = listed.collect::<Result<Vec<_>, _>>()?;
    label_all(tx, &mut listed).await?;
    Ok(listed)
}

async fn label_all<DB: Engine>(tx: &mut Tx<DB>, listed: &mut [NodeListing]) -> Result<(), StoreError> {
    let ids: Vec<&str> = listed.iter().map(|node| node.id.as_str()).collect();
    let sql = "SELECT node_id, name, value FROM node_label WHERE node_id";
    let mut labels: BTreeMap<String, Labels> = BTreeMap::new();
    for row in batch::all_for_keys(tx, sql, &ids).await? {
        let of_node = labels.entry(row.text(0)?).or_default();
        of_node.insert(row.text(1)?, row.text(2)?);
    }
    for node in listed {
        node.labels = labels.remove(node.id.as_str()).unwrap_or_default();
    }
    Ok(())
}

fn listing<R: Cells>(rows: &[(String, R)]) -> Result<NodeListing, StoreError> {
    let broken = |id: &str| unreadable("node", id);
    let Some((id, row)) = rows.first() else {
        return Err(broken(""));
    };
    let reports: Vec<ReportListing> = rows
        .iter()
        .map(|(_, row)| listing_from(row, 0))
        .collect::<Result<_, _>>()?;
    let named = |column: usize| -> Result<Option<ReportListing>, StoreError> {
        let name = row.maybe_text(REST + column)?;
        let mut reports = reports.iter();
        Ok(name.and_then(|name| reports.find(|report| report.id.as_str() == name).cloned()))
    };
    let last_seen = named(4)?.ok_or_else(|| broken(id))?;
    let mut stands = standing(named(5)?, &last_seen);
    let mut of_reports = rows.iter().zip(&reports);
    if let Some(((_, row), _)) = of_reports.find(|(_, report)| report.id == stands.id) {
        stands = as_open(stands, row.maybe_text(REST + 6)?.as_deref());
    }
    Ok(NodeListing {
        summary: summary_from(row, LISTING_WIDTH)?,
        latest: stands,
        last_seen,
        id: id_from(id.clone())?,
        hostname: row.maybe_text(REST + 1)?,
        labels: Labels::new(),
        first_seen: row.time(REST + 2)?,
        reports: count_from(row.integer(REST + 3)?)?,
    })
}
