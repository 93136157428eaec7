//! Facets of nodes, by SQL.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kb_core::ids::NodeId;

use super::baseline::series_from;
use super::convert::{id_from, refuse_nul, unreadable};
use super::engine::{Cells, Engine, values};
use super::session::SqlStore;
use crate::store::{FacetStore, NodeFacets, StoreError, ToldFacets};

#[async_trait]
impl<DB: Engine> FacetStore for SqlStore<DB> {
    async fn note_facets(&self, node: &NodeId, told: &ToldFacets) -> Result<(), StoreError> {
        refuse_nul("the model of a GPU", &told.model)?;
        let text = serde_json::to_string(&told.facets).map_err(|_| StoreError::Unstorable {
            what: "a node's facets",
            reason: "they are no JSON",
        })?;
        refuse_nul("a node's facets", &text)?;
        let sql = "INSERT INTO node_facets (node_id, simulated, model, told_at, facets) VALUES ($1, $2, $3, $4, $5) \
            ON CONFLICT (node_id, simulated) DO UPDATE SET model = excluded.model, told_at = excluded.told_at, \
            facets = excluded.facets WHERE node_facets.told_at <= excluded.told_at";
        let mut tx = self.begin_write().await?;
        let row = values![node, told.simulated, &told.model, told.told_at, &text];
        tx.run(sql, row).await?;
        tx.commit().await
    }

    async fn facets(&self, simulated: bool, limit: u32) -> Result<Vec<NodeFacets>, StoreError> {
        let mut tx = self.begin_read().await?;
        let sql = "SELECT f.node_id, f.model, f.facets, b.series FROM node_facets f \
            LEFT JOIN baseline b ON b.node_id = f.node_id AND b.simulated = f.simulated \
            WHERE f.simulated = $1 ORDER BY f.node_id LIMIT $2";
        let mut nodes: BTreeMap<String, NodeFacets> = BTreeMap::new();
        for row in tx.all(sql, values![simulated, limit]).await? {
            let id = row.text(0)?;
            let facets = row.text(2)?;
            let facets = serde_json::from_str(&facets)
                .map_err(|error| unreadable("a node's facets", &error.to_string()))?;
            let series = row.maybe_text(3)?;
            let node = NodeFacets {
                node: id_from(id.clone())?,
                model: row.text(1)?,
                facets,
                labels: BTreeMap::new(),
                findings: Vec::new(),
                series: series.map_or(Ok(Vec::new()), |series| series_from(&series))?,
            };
            nodes.insert(id, node);
        }
        let sql = "SELECT l.node_id, l.name, l.value FROM node_label l \
            JOIN node_facets f ON f.node_id = l.node_id WHERE f.simulated = $1";
        for row in tx.all(sql, values![simulated]).await? {
            if let Some(node) = nodes.get_mut(&row.text(0)?) {
                node.labels.insert(row.text(1)?, row.text(2)?);
            }
        }
        let sql = "SELECT n.node_id, n.name FROM node_finding n JOIN node_facets f ON f.node_id = n.node_id \
            WHERE f.simulated = $1 AND n.simulated = $1 AND n.is_open AND n.bearing <> 'event'";
        for row in tx.all(sql, values![simulated]).await? {
            if let Some(node) = nodes.get_mut(&row.text(0)?) {
                node.findings.push(row.text(1)?);
            }
        }
        tx.end().await?;
        Ok(nodes.into_values().collect())
    }
}
