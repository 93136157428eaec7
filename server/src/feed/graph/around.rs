//! What lies around a record.

use std::collections::HashSet;
use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::transition::EdgeKind;

use super::items::End;
use super::{
    Graph, GraphEdge, GraphError, MAX_DEPTH, MAX_EDGES, NearNode, Neighbour, Neighbourhood, is_wanted,
};

impl Graph {
    pub fn neighbours(&self, id: &RecordId) -> Vec<Neighbour> {
        let own = self.stated_by(id).iter().map(|edge| Neighbour {
            id: edge.to.clone(),
            resolved: edge.resolved,
            relation: edge.kind,
            stated_by: edge.from.clone(),
            probability: edge.probability,
            condition: edge.condition.clone(),
            distinction: edge.distinction.clone(),
        });
        let inverse = self
            .aimed_at(id)
            .iter()
            .filter(|edge| edge.from != *id)
            .map(|edge| Neighbour {
                id: edge.from.to_string(),
                resolved: true,
                relation: seen_from_target(edge.kind),
                stated_by: edge.from.clone(),
                probability: None,
                condition: edge.condition.clone(),
                distinction: edge.distinction.clone(),
            });
        own.chain(inverse).collect()
    }

    /// The nearest `most` nodes within `depth` steps over edges of these kinds (all when empty), in either direction.
    pub fn neighbourhood(
        &self,
        center: &RecordId,
        depth: u32,
        kinds: &[EdgeKind],
        most: usize,
    ) -> Result<Neighbourhood, GraphError> {
        if !(1..=MAX_DEPTH).contains(&depth) {
            return Err(GraphError::Depth(depth));
        }
        self.expect(center)?;
        let mut order = vec![(End::Record(center.clone()), 0)];
        let mut seen: HashSet<End> = HashSet::from([End::Record(center.clone())]);
        let mut truncated = false;
        let mut at = 0;
        while let Some((end, steps)) = order.get(at).cloned() {
            at += 1;
            let End::Record(id) = end else { continue };
            if steps == depth {
                continue;
            }
            for next in self.next_to(&id, kinds) {
                if order.len() >= most {
                    truncated |= !seen.contains(&next);
                } else if seen.insert(next.clone()) {
                    order.push((next, steps + 1));
                }
            }
        }
        let (edges, more_edges) = self.edges_within(&order, &seen, kinds);
        let nodes = order.into_iter().map(|(end, depth)| NearNode {
            node: self.node(end),
            depth,
        });
        Ok(Neighbourhood {
            center: center.clone(),
            nodes: nodes.collect(),
            edges,
            truncated: truncated || more_edges,
        })
    }

    fn next_to<'a>(&'a self, id: &RecordId, kinds: &'a [EdgeKind]) -> impl Iterator<Item = End> + use<'a> {
        let wanted = |edge: &&Arc<GraphEdge>| is_wanted(kinds, edge);
        let outward = self.stated_by(id).iter().filter(wanted).map(|edge| edge.end());
        let inward = self.aimed_at(id).iter().filter(wanted);
        outward.chain(inward.map(|edge| End::Record(edge.from.clone())))
    }

    /// Edges whose ends are both among these, and whether there are more than are shown.
    fn edges_within(
        &self,
        order: &[(End, u32)],
        seen: &HashSet<End>,
        kinds: &[EdgeKind],
    ) -> (Vec<GraphEdge>, bool) {
        let mut edges = order
            .iter()
            .filter_map(|(end, _)| end.record())
            .flat_map(|id| self.stated_by(id))
            .filter(|edge| is_wanted(kinds, edge) && seen.contains(&edge.end()))
            .map(|edge| GraphEdge::clone(edge));
        let shown = edges.by_ref().take(MAX_EDGES).collect();
        (shown, edges.next().is_some())
    }
}

fn seen_from_target(kind: EdgeKind) -> EdgeKind {
    match kind {
        EdgeKind::LeadsTo => EdgeKind::PrecededBy,
        EdgeKind::PrecededBy => EdgeKind::LeadsTo,
        EdgeKind::FrequentlyConfusedWith => EdgeKind::FrequentlyConfusedWith,
    }
}
