//! Which errors turn into which, as the published documents state it. Targets that do not exist stay, as text.
//!
//! Each edge is kept once, where it was stated. Seen from its target it is an inverse, which has the words but never
//! the number: "A leads to B in 30 % of cases" does not say how often B was preceded by A.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::transition::{Edge, EdgeKind};
use serde::Serialize;
use utoipa::ToSchema;

use super::published::PublishedRecord;

/// Deepest neighbourhood.
pub const MAX_DEPTH: u32 = 3;
/// Most nodes of a neighbourhood: a picture of more cannot be read.
const MAX_NODES: usize = 200;
/// Most edges of a neighbourhood: two records may be joined by as many as one document states.
const MAX_EDGES: usize = 1_000;

/// The graph of one generation.
#[derive(Debug, Default)]
pub struct Graph {
    /// Signature by record.
    signatures: BTreeMap<RecordId, String>,
    stated: HashMap<RecordId, Vec<Arc<GraphEdge>>>,
    incoming: HashMap<RecordId, Vec<Arc<GraphEdge>>>,
}

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
    /// The target where it is published.
    #[serde(skip)]
    target: Option<RecordId>,
}

/// A record or an unresolved target near another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphNode {
    /// Id, or the text as written where there is no such record.
    pub id: String,
    /// Signature of the record; absent where there is no such record.
    pub signature: Option<String>,
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
    pub nodes: Vec<GraphNode>,
    /// Edges between these nodes, each once, as stated.
    pub edges: Vec<GraphEdge>,
    /// True when there was more than can be shown.
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

/// One step of a path, in the order in which errors follow each other.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PathStep {
    /// The earlier error.
    #[schema(value_type = String)]
    pub from: RecordId,
    /// The later one.
    #[schema(value_type = String)]
    pub to: RecordId,
    /// The edge that says so; its own `from` is who states it.
    pub edge: GraphEdge,
}

/// What the graph can refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// Not published.
    #[error("there is no published record {0}")]
    NoRecord(RecordId),
    /// Too deep.
    #[error("depth is {0}, it must be between 1 and {MAX_DEPTH}")]
    Depth(u32),
}

/// The other end of an edge, or the end that could not be resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum End {
    Record(RecordId),
    Text(String),
}

impl Graph {
    pub(super) fn new(
        records: &BTreeMap<RecordId, Arc<PublishedRecord>>,
        aliases: &HashMap<String, RecordId>,
    ) -> Self {
        let mut graph = Self::default();
        for (id, published) in records {
            graph
                .signatures
                .insert(id.clone(), published.record.document.signature.clone());
            for edge in &published.edges {
                let exact = edge.to.as_ref().filter(|target| records.contains_key(*target));
                let target = exact.or_else(|| aliases.get(&edge.to_text)).cloned();
                graph.insert(edge, target);
            }
        }
        graph
    }

    fn insert(&mut self, edge: &Edge, target: Option<RecordId>) {
        let stated = Arc::new(GraphEdge {
            from: edge.from.clone(),
            to: target
                .as_ref()
                .map_or_else(|| edge.to_text.clone(), ToString::to_string),
            resolved: target.is_some(),
            kind: edge.kind,
            probability: edge.probability,
            condition: edge.condition.clone(),
            distinction: edge.distinction.clone(),
            typical_delay: edge.typical_delay.clone(),
            target: target.clone(),
        });
        if let Some(target) = target {
            self.incoming.entry(target).or_default().push(Arc::clone(&stated));
        }
        self.stated.entry(edge.from.clone()).or_default().push(stated);
    }

    fn stated_by(&self, id: &RecordId) -> &[Arc<GraphEdge>] {
        self.stated.get(id).map_or(&[], Vec::as_slice)
    }

    fn aimed_at(&self, id: &RecordId) -> &[Arc<GraphEdge>] {
        self.incoming.get(id).map_or(&[], Vec::as_slice)
    }

    /// What a record is joined to, by its own statements first and then by those of others.
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

    /// Everything within `depth` steps over edges of these kinds (all when empty), in either direction.
    pub fn neighbourhood(
        &self,
        center: &RecordId,
        depth: u32,
        kinds: &[EdgeKind],
    ) -> Result<Neighbourhood, GraphError> {
        if !(1..=MAX_DEPTH).contains(&depth) {
            return Err(GraphError::Depth(depth));
        }
        if !self.signatures.contains_key(center) {
            return Err(GraphError::NoRecord(center.clone()));
        }
        let wanted = |edge: &&Arc<GraphEdge>| kinds.is_empty() || kinds.contains(&edge.kind);
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
            let outward = self.stated_by(&id).iter().filter(wanted).map(|edge| edge.end());
            let inward = self
                .aimed_at(&id)
                .iter()
                .filter(wanted)
                .map(|edge| End::Record(edge.from.clone()));
            for next in outward.chain(inward) {
                if order.len() >= MAX_NODES {
                    truncated |= !seen.contains(&next);
                } else if seen.insert(next.clone()) {
                    order.push((next, steps + 1));
                }
            }
        }
        let mut edges = order
            .iter()
            .filter_map(|(end, _)| end.record())
            .flat_map(|id| self.stated_by(id).iter().filter(wanted))
            .filter(|edge| seen.contains(&edge.end()))
            .map(|edge| GraphEdge::clone(edge));
        let shown = edges.by_ref().take(MAX_EDGES).collect();
        truncated |= edges.next().is_some();
        let nodes = order
            .into_iter()
            .map(|(end, depth)| self.node(end, depth))
            .collect();
        Ok(Neighbourhood {
            center: center.clone(),
            nodes,
            edges: shown,
            truncated,
        })
    }

    fn node(&self, end: End, depth: u32) -> GraphNode {
        match end {
            End::Record(id) => GraphNode {
                signature: self.signatures.get(&id).cloned(),
                id: id.into(),
                depth,
            },
            End::Text(id) => GraphNode {
                id,
                signature: None,
                depth,
            },
        }
    }

    /// A shortest way from an error to a later one: over what leads to what, by whoever states it. `None` when there
    /// is none. Errors that are merely taken for each other do not lead anywhere.
    pub fn path(&self, from: &RecordId, to: &RecordId) -> Result<Option<Vec<PathStep>>, GraphError> {
        for id in [from, to] {
            if !self.signatures.contains_key(id) {
                return Err(GraphError::NoRecord(id.clone()));
            }
        }
        let mut came_by: HashMap<RecordId, PathStep> = HashMap::new();
        let mut waiting = VecDeque::from([from.clone()]);
        while let Some(here) = waiting.pop_front() {
            if here == *to {
                return Ok(Some(walk_back(from, to, came_by)));
            }
            for (next, edge) in self.later_than(&here) {
                if next != *from && !came_by.contains_key(&next) {
                    let step = PathStep {
                        from: here.clone(),
                        to: next.clone(),
                        edge,
                    };
                    came_by.insert(next.clone(), step);
                    waiting.push_back(next);
                }
            }
        }
        Ok(None)
    }

    /// Errors that follow this one: what it leads to, and what says that this one precedes it.
    fn later_than(&self, id: &RecordId) -> Vec<(RecordId, GraphEdge)> {
        let leads = self
            .stated_by(id)
            .iter()
            .filter(|edge| edge.kind == EdgeKind::LeadsTo);
        let preceded = self
            .aimed_at(id)
            .iter()
            .filter(|edge| edge.kind == EdgeKind::PrecededBy);
        leads
            .filter_map(|edge| Some((edge.target.clone()?, GraphEdge::clone(edge))))
            .chain(preceded.map(|edge| (edge.from.clone(), GraphEdge::clone(edge))))
            .collect()
    }
}

impl GraphEdge {
    fn end(&self) -> End {
        match &self.target {
            Some(id) => End::Record(id.clone()),
            None => End::Text(self.to.clone()),
        }
    }
}

impl End {
    fn record(&self) -> Option<&RecordId> {
        match self {
            Self::Record(id) => Some(id),
            Self::Text(_) => None,
        }
    }
}

fn seen_from_target(kind: EdgeKind) -> EdgeKind {
    match kind {
        EdgeKind::LeadsTo => EdgeKind::PrecededBy,
        EdgeKind::PrecededBy => EdgeKind::LeadsTo,
        EdgeKind::FrequentlyConfusedWith => EdgeKind::FrequentlyConfusedWith,
    }
}

fn walk_back(from: &RecordId, to: &RecordId, mut came_by: HashMap<RecordId, PathStep>) -> Vec<PathStep> {
    let mut steps = VecDeque::new();
    let mut at = to.clone();
    while at != *from {
        let Some(step) = came_by.remove(&at) else { break };
        at = step.from.clone();
        steps.push_front(step);
    }
    steps.into()
}
