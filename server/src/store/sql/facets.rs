//! Facets of nodes, by SQL.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kb_core::ids::NodeId;

use super::baseline::series_from;
use super::convert::{id_from, refuse_nul, unreadable};
use super::engine::{Cells, Engine, values};
use super::session::{SqlStore, Tx};
use crate::store::{FacetStore, NodeFacets, StoreError, ToldFacets};

#[async_trait]
impl<DB: Engine> FacetStore for SqlStore<DB> {
    async fn facets(
        &self,
        simulated: bool,
        after: Option<&NodeId>,
        limit: u32,
    ) -> Result<Vec<NodeFacets>, StoreError> {
        let mut tx = self.begin_read().await?;
        let sql = "SELECT f.node_id, f.model, f.facets, b.series FROM node_facets f \
            LEFT JOIN baseline b ON b.node_id = f.node_id AND b.simulated = f.simulated \
            WHERE f.simulated = $1 AND f.node_id > $2 ORDER BY f.node_id LIMIT $3";
        let after = after.map_or("", NodeId::as_str);
        let mut nodes: BTreeMap<String, NodeFacets> = BTreeMap::new();
        let mut last = String::new();
        for row in tx.all(sql, values![simulated, after, limit]).await? {
            let id = row.text(0)?;
            let series = row.maybe_text(3)?;
            let node = NodeFacets {
                node: id_from(id.clone())?,
                model: row.text(1)?,
                facets: facets_from(&row.text(2)?)?,
                labels: BTreeMap::new(),
                findings: Vec::new(),
                series: series.map_or(Ok(Vec::new()), |series| series_from(&series))?,
            };
            last.clone_from(&id);
            nodes.insert(id, node);
        }
        let sql =
            "SELECT l.node_id, l.name, l.value FROM node_label l WHERE l.node_id > $1 AND l.node_id <= $2";
        for row in tx.all(sql, values![after, &last]).await? {
            if let Some(node) = nodes.get_mut(&row.text(0)?) {
                node.labels.insert(row.text(1)?, row.text(2)?);
            }
        }
        let sql = "SELECT n.node_id, n.name FROM node_finding n \
            WHERE n.node_id > $2 AND n.node_id <= $3 AND n.simulated = $1 AND n.is_open AND n.bearing <> 'event'";
        for row in tx.all(sql, values![simulated, after, &last]).await? {
            if let Some(node) = nodes.get_mut(&row.text(0)?) {
                node.findings.push(row.text(1)?);
            }
        }
        tx.end().await?;
        Ok(nodes.into_values().collect())
    }
}

/// Keeps what a report told, unless one that ended later did so before.
pub(super) async fn note<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    told: &ToldFacets,
) -> Result<(), StoreError> {
    refuse_nul("the model of a GPU", &told.model)?;
    let mut facets = told.facets.clone();
    if !told.untold.is_empty() {
        let sql = "SELECT facets FROM node_facets WHERE node_id = $1 AND simulated = $2 AND model = $3";
        let row = tx.first(sql, values![node, told.simulated, &told.model]).await?;
        let before = row.map_or(Ok(String::from("{}")), |row| row.text(0))?;
        let mut before = facets_from(&before)?;
        before.retain(|name, _| told.untold.contains(name));
        facets.extend(before);
    }
    let text = serde_json::to_string(&facets).map_err(|_| StoreError::Unstorable {
        what: "a node's facets",
        reason: "they are no JSON",
    })?;
    refuse_nul("a node's facets", &text)?;
    let sql = "INSERT INTO node_facets (node_id, simulated, model, told_at, facets) VALUES ($1, $2, $3, $4, $5) \
        ON CONFLICT (node_id, simulated) DO UPDATE SET model = excluded.model, told_at = excluded.told_at, \
        facets = excluded.facets WHERE node_facets.told_at <= excluded.told_at";
    let row = values![node, told.simulated, &told.model, told.told_at, &text];
    tx.run(sql, row).await?;
    Ok(())
}

fn facets_from(text: &str) -> Result<BTreeMap<String, String>, StoreError> {
    serde_json::from_str(text).map_err(|error| unreadable("a node's facets", &error.to_string()))
}
