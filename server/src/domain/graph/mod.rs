//! Which errors turn into which: around one record, between two, and all of it.
//!
//! ```text
//! export   the whole graph, piece by piece      json, graphml, dot   its forms
//! ```

mod dot;
mod export;
mod graphml;
mod json;
mod writer;

#[cfg(test)]
mod tests;

use kb_core::ids::{RecordId, Seq};
use kb_core::transition::EdgeKind;
use serde::Serialize;
use utoipa::ToSchema;

pub use export::{Format, pieces};

use crate::feed::{Generation, GraphEdge, GraphError, GraphNode, MAX_NODES, Neighbourhood, Ways};
use peerless_search::KnowledgeStamp;

/// What lies around a record.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct NeighbourhoodAnswer {
    /// The neighbourhood.
    #[serde(flatten)]
    pub neighbourhood: Neighbourhood,
    /// Which state of the knowledge answered.
    pub kb: KnowledgeStamp,
}

/// The shortest ways from one error to another.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PathAnswer {
    /// Where they begin.
    #[schema(value_type = String)]
    pub from: RecordId,
    /// Where they end.
    #[schema(value_type = String)]
    pub to: RecordId,
    /// The ways.
    #[serde(flatten)]
    pub ways: Ways,
    /// Which state of the knowledge answered.
    pub kb: KnowledgeStamp,
}

/// The whole graph.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct GraphAnswer {
    /// Which state of the knowledge answered.
    pub kb: KnowledgeStamp,
    /// Records by id, then targets that no record has.
    pub nodes: Vec<GraphNode>,
    /// Edges as stated, each once: by the record that states them, in its order.
    pub edges: Vec<GraphEdge>,
}

/// What lies around a record, up to `depth` steps over edges of these kinds (all when empty).
pub fn neighbourhood(
    generation: &Generation,
    center: &RecordId,
    depth: u32,
    kinds: &[EdgeKind],
) -> Result<NeighbourhoodAnswer, GraphError> {
    Ok(NeighbourhoodAnswer {
        neighbourhood: generation.graph.neighbourhood(center, depth, kinds, MAX_NODES)?,
        kb: stamp(generation.seq),
    })
}

/// The shortest ways from an error to another over edges of these kinds (all that say what leads to what when empty).
pub fn path(
    generation: &Generation,
    from: &RecordId,
    to: &RecordId,
    kinds: &[EdgeKind],
) -> Result<PathAnswer, GraphError> {
    Ok(PathAnswer {
        from: from.clone(),
        to: to.clone(),
        ways: generation.graph.paths(from, to, kinds)?,
        kb: stamp(generation.seq),
    })
}

fn stamp(seq: Seq) -> KnowledgeStamp {
    KnowledgeStamp { seq }
}
