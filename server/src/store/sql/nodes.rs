//! Nodes by SQL, with the reports that tell how they are.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kb_core::ids::NodeId;

use super::convert::{count_from, id_from, unreadable};
use super::engine::{Cells, Engine, values};
use super::node_events::event_from;
use super::report_rows::{LISTING_WIDTH, listing_columns, listing_from};
use super::session::{SqlStore, Tx};
use super::{batch, fleet};
use crate::store::{
    Fleet, FleetQuery, Labels, NodeEvent, NodeListing, NodeStore, ReportListing, StoreError, standing,
};

/// One row for a node's latest report, and one for its latest proof where that is another.
macro_rules! nodes_of {
    ($chosen:literal) => {
        concat!(
            "SELECT ",
            listing_columns!(),
            ", n.id, n.hostname, n.first_seen, n.reports, n.latest_report, n.proof_report FROM (",
            $chosen,
            ") n JOIN report p ON p.node_id = n.id AND p.id IN (n.latest_report, n.proof_report) ORDER BY n.id"
        )
    };
}

#[async_trait]
impl<DB: Engine> NodeStore for SqlStore<DB> {
    async fn nodes(
        &self,
        after: Option<&NodeId>,
        label: Option<(&str, &str)>,
        limit: u32,
    ) -> Result<Vec<NodeListing>, StoreError> {
        let after = after.map_or("", NodeId::as_str);
        let mut tx = self.begin_read().await?;
        let rows = if let Some((name, value)) = label {
            let sql = nodes_of!(
                "SELECT * FROM node WHERE id > $1 \
                 AND id IN (SELECT node_id FROM node_label WHERE name = $3 AND value = $4) ORDER BY id LIMIT $2"
            );
            tx.all(sql, values![after, limit, name, value]).await?
        } else {
            let sql = nodes_of!("SELECT * FROM node WHERE id > $1 ORDER BY id LIMIT $2");
            tx.all(sql, values![after, limit]).await?
        };
        let mut listed = listings(&rows)?;
        label_all(&mut tx, &mut listed).await?;
        tx.end().await?;
        Ok(listed)
    }

    async fn node(&self, id: &NodeId) -> Result<Option<NodeListing>, StoreError> {
        let sql = nodes_of!("SELECT * FROM node WHERE id = $1");
        let mut tx = self.begin_read().await?;
        let mut listed = listings(&tx.all(sql, values![id]).await?)?;
        label_all(&mut tx, &mut listed).await?;
        tx.end().await?;
        Ok(listed.into_iter().next())
    }

    async fn node_events(&self, id: &NodeId, limit: u32) -> Result<Vec<NodeEvent>, StoreError> {
        let sql = "SELECT at, source, detail FROM node_event WHERE node_id = $1 ORDER BY at DESC, source, kind LIMIT $2";
        let rows = self.read_once().await?.all(sql, values![id, limit]).await?;
        rows.iter().map(|row| event_from(row, id)).collect()
    }

    async fn fleet(&self, query: FleetQuery) -> Result<Fleet, StoreError> {
        let mut tx = self.begin_read().await?;
        let fleet = fleet::count(&mut tx, query).await?;
        tx.end().await?;
        Ok(fleet)
    }
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

/// Puts the rows of each node together.
fn listings<R: Cells>(rows: &[R]) -> Result<Vec<NodeListing>, StoreError> {
    let mut cells = Vec::with_capacity(rows.len());
    for row in rows {
        cells.push((row.text(LISTING_WIDTH)?, row));
    }
    cells.chunk_by(|a, b| a.0 == b.0).map(listing).collect()
}

fn listing<R: Cells>(rows: &[(String, &R)]) -> Result<NodeListing, StoreError> {
    let broken = |id: &str| unreadable("node", id);
    let Some((id, row)) = rows.first() else {
        return Err(broken(""));
    };
    let reports: Vec<ReportListing> = rows
        .iter()
        .map(|(_, row)| listing_from(*row, 0))
        .collect::<Result<_, _>>()?;
    let named = |column: usize| -> Result<Option<ReportListing>, StoreError> {
        let name = row.maybe_text(LISTING_WIDTH + column)?;
        let mut reports = reports.iter();
        Ok(name.and_then(|name| reports.find(|report| report.id.as_str() == name).cloned()))
    };
    let last_seen = named(4)?.ok_or_else(|| broken(id))?;
    Ok(NodeListing {
        latest: standing(named(5)?, &last_seen),
        last_seen,
        id: id_from(id.clone())?,
        hostname: row.maybe_text(LISTING_WIDTH + 1)?,
        labels: Labels::new(),
        first_seen: row.time(LISTING_WIDTH + 2)?,
        reports: count_from(row.integer(LISTING_WIDTH + 3)?)?,
    })
}
