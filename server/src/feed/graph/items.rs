//! What the graph is made of and what it answers.

use kb_core::ids::RecordId;
use kb_core::transition::EdgeKind;
use serde::Serialize;
use utoipa::ToSchema;

use super::MAX_DEPTH;

/// An edge as stated.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct GraphEdge {
    /// The record that states it.
    #[schema(value_type = String)]
    pub from: RecordId,
    /// Its target: the id it goes by now where it is published, else the text as written.
    pub to: String,
    /// True when the target is a published record.
    pub resolved: bool,
    /// What it says.
    #[schema(value_type = String)]
    pub kind: EdgeKind,
    /// How often, 0 to 1, as claimed.
    pub probability: Option<f64>,
    /// When it holds.
    pub condition: Option<String>,
    /// How to tell the two apart.
    pub distinction: Option<String>,
    /// How long it takes, in free text.
    pub typical_delay: Option<String>,
    /// The published revision of `from` that states it.
    pub revision: u32,
    /// The system that the stating record was imported from; null where it was written for this knowledge base.
    pub origin: Option<String>,
    /// The target where it is published.
    #[serde(skip)]
    pub(super) target: Option<RecordId>,
}

/// A record, or a target that no record has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
pub struct GraphNode {
    /// Id, or the text as written where there is no such record.
    pub id: String,
    /// False where there is no such published record.
    pub known: bool,
    /// Signature of the record; null where there is none.
    pub signature: Option<String>,
    /// Domain of the record; null where there is none.
    pub domain: Option<String>,
}

/// A node near another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NearNode {
    /// The node.
    #[serde(flatten)]
    pub node: GraphNode,
    /// Steps from the centre.
    pub depth: u32,
}

/// What lies around a record.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Neighbourhood {
    /// The record asked for.
    #[schema(value_type = String)]
    pub center: RecordId,
    /// It and its neighbours, nearest first.
    pub nodes: Vec<NearNode>,
    /// Edges between these nodes, each once, as stated.
    pub edges: Vec<GraphEdge>,
    /// True when there was more than is shown.
    pub truncated: bool,
}

/// A neighbour as seen from a record.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Neighbour {
    /// The other end: an id, or the text as written.
    pub id: String,
    /// True when it is a published record.
    pub resolved: bool,
    /// What the other is to this record, whoever stated it.
    #[schema(value_type = String)]
    pub relation: EdgeKind,
    /// The record that states it.
    #[schema(value_type = String)]
    pub stated_by: RecordId,
    /// As stated by this record; never of an inverse.
    pub probability: Option<f64>,
    /// When it holds.
    pub condition: Option<String>,
    /// How to tell the two apart.
    pub distinction: Option<String>,
}

/// One step of a way.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PathStep {
    /// Where the step begins: the earlier error, unless the two are only taken for each other.
    #[schema(value_type = String)]
    pub from: RecordId,
    /// Where it leads.
    #[schema(value_type = String)]
    pub to: RecordId,
    /// The edges that say so; the `from` of each is who states it.
    pub edges: Vec<GraphEdge>,
}

/// The shortest ways from one error to another.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Ways {
    /// Steps of each; null where none leads there.
    pub steps: Option<u32>,
    /// The ways, by the ids they pass; one without steps when both ends are the same.
    pub paths: Vec<Vec<PathStep>>,
    /// True when there are more that are as short.
    pub truncated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    #[error("there is no published record {0}")]
    NoRecord(RecordId),
    #[error("depth is {0}, it must be between 1 and {MAX_DEPTH}")]
    Depth(u32),
}

/// The other end of an edge, or the end that could not be resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum End {
    Record(RecordId),
    Text(String),
}

impl GraphEdge {
    pub fn target(&self) -> Option<&RecordId> {
        self.target.as_ref()
    }

    /// The earlier and the later error as the edge states it, by id or text; of confused ones in the order stated.
    pub fn in_time(&self) -> (&str, &str) {
        match self.kind {
            EdgeKind::PrecededBy => (&self.to, self.from.as_str()),
            EdgeKind::LeadsTo | EdgeKind::FrequentlyConfusedWith => (self.from.as_str(), &self.to),
        }
    }

    pub(super) fn end(&self) -> End {
        match &self.target {
            Some(id) => End::Record(id.clone()),
            None => End::Text(self.to.clone()),
        }
    }
}

impl End {
    pub(super) fn record(&self) -> Option<&RecordId> {
        match self {
            Self::Record(id) => Some(id),
            Self::Text(_) => None,
        }
    }
}
