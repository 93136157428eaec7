//! Which errors turn into which, around one record or between two.

use kb_core::ids::RecordId;
use kb_core::transition::EdgeKind;
use serde::Serialize;
use utoipa::ToSchema;

use crate::feed::{Generation, GraphError, Neighbourhood, PathStep};
use crate::search::KnowledgeStamp;

/// What lies around a record.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct NeighbourhoodAnswer {
    /// The neighbourhood.
    #[serde(flatten)]
    pub neighbourhood: Neighbourhood,
    /// Which state of the knowledge answered.
    pub kb: KnowledgeStamp,
}

/// A way from one error to a later one.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PathAnswer {
    /// A shortest way; empty when both are the same, null when there is none.
    pub path: Option<Vec<PathStep>>,
    /// Which state of the knowledge answered.
    pub kb: KnowledgeStamp,
}

/// What lies around a record, up to `depth` steps over edges of these kinds (all when empty).
pub fn neighbourhood(
    generation: &Generation,
    center: &RecordId,
    depth: u32,
    kinds: &[EdgeKind],
) -> Result<NeighbourhoodAnswer, GraphError> {
    Ok(NeighbourhoodAnswer {
        neighbourhood: generation.graph.neighbourhood(center, depth, kinds)?,
        kb: KnowledgeStamp { seq: generation.seq },
    })
}

/// A shortest way from an error to a later one.
pub fn path(generation: &Generation, from: &RecordId, to: &RecordId) -> Result<PathAnswer, GraphError> {
    Ok(PathAnswer {
        path: generation.graph.path(from, to)?,
        kb: KnowledgeStamp { seq: generation.seq },
    })
}
