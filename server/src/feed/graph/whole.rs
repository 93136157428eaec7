//! All of the graph, in an order that does not change.

use std::ops::Bound;

use kb_core::ids::RecordId;
use kb_core::transition::EdgeKind;

use super::items::End;
use super::{Graph, GraphEdge, GraphNode, is_wanted};

impl Graph {
    pub fn ids_after(&self, after: Option<&RecordId>) -> impl Iterator<Item = &RecordId> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.faces.range((start, Bound::Unbounded)).map(|(id, _)| id)
    }

    pub fn record_node(&self, id: &RecordId) -> GraphNode {
        self.node(End::Record(id.clone()))
    }

    pub fn unknown_nodes(&self) -> impl Iterator<Item = GraphNode> {
        self.unknown.iter().map(|text| self.node(End::Text(text.clone())))
    }

    /// What a record states, of these kinds (all when empty), in its order.
    pub fn edges_of<'a>(
        &'a self,
        id: &RecordId,
        kinds: &'a [EdgeKind],
    ) -> impl Iterator<Item = &'a GraphEdge> + use<'a> {
        let edges = self.stated_by(id).iter().map(AsRef::as_ref);
        edges.filter(|edge| is_wanted(kinds, edge))
    }
}
