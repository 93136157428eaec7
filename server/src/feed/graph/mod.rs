//! Which errors turn into which, as the published documents state it. Targets that do not exist stay, as text.
//!
//! Each edge is kept once, where it was stated. Seen from its target it is an inverse, which has the words but never
//! the number: "A leads to B in 30 % of cases" does not say how often B was preceded by A.
//!
//! ```text
//! items   nodes, edges and answers      around   what lies around a record
//! paths   shortest ways                 whole    all of it, in order
//!                                       domains  how the domains are joined
//! ```

mod around;
mod domains;
mod items;
mod paths;
mod whole;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use kb_core::ids::RecordId;
use kb_core::transition::{Edge, EdgeKind};

pub use domains::{Between, DomainLink, DomainMap, DomainNode};
pub use items::{GraphEdge, GraphError, GraphNode, NearNode, Neighbour, Neighbourhood, PathStep, Ways};

use super::published::PublishedRecord;
use domains::Domains;
use items::End;

pub const MAX_DEPTH: u32 = 4;
pub const MAX_NODES: usize = 200;
/// Most edges of a neighbourhood: two records may be joined by as many as one document states.
pub const MAX_EDGES: usize = 1_000;
/// Most ways between two records; the number of those that are equally short can grow as a power of their length.
pub const MAX_PATHS: usize = 16;

#[derive(Debug)]
struct Face {
    signature: String,
    domain: String,
}

#[derive(Debug, Default)]
pub struct Graph {
    faces: BTreeMap<RecordId, Face>,
    stated: HashMap<RecordId, Vec<Arc<GraphEdge>>>,
    incoming: HashMap<RecordId, Vec<Arc<GraphEdge>>>,
    /// Targets that no record has, as written.
    unknown: BTreeSet<String>,
    domains: OnceLock<Domains>,
}

impl Graph {
    pub(super) fn new(
        records: &BTreeMap<RecordId, Arc<PublishedRecord>>,
        aliases: &HashMap<String, RecordId>,
    ) -> Self {
        let mut graph = Self::default();
        for (id, published) in records {
            let document = &published.record.document;
            let face = Face {
                signature: document.signature.clone(),
                domain: document.domain.clone(),
            };
            graph.faces.insert(id.clone(), face);
            for edge in &published.edges {
                let exact = edge.to.as_ref().filter(|target| records.contains_key(*target));
                let target = exact.or_else(|| aliases.get(&edge.to_text)).cloned();
                graph.insert(published, edge, target);
            }
        }
        graph
    }

    fn insert(&mut self, published: &PublishedRecord, edge: &Edge, target: Option<RecordId>) {
        let origin = published.record.annex.origin.as_ref();
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
            revision: published.revision.0,
            origin: origin.map(|origin| origin.system.clone()),
            target: target.clone(),
        });
        if let Some(target) = target {
            self.incoming.entry(target).or_default().push(Arc::clone(&stated));
        } else {
            self.unknown.insert(stated.to.clone());
        }
        self.stated.entry(edge.from.clone()).or_default().push(stated);
    }

    fn stated_by(&self, id: &RecordId) -> &[Arc<GraphEdge>] {
        self.stated.get(id).map_or(&[], Vec::as_slice)
    }

    fn aimed_at(&self, id: &RecordId) -> &[Arc<GraphEdge>] {
        self.incoming.get(id).map_or(&[], Vec::as_slice)
    }

    fn expect(&self, id: &RecordId) -> Result<(), GraphError> {
        if self.faces.contains_key(id) {
            Ok(())
        } else {
            Err(GraphError::NoRecord(id.clone()))
        }
    }

    fn node(&self, end: End) -> GraphNode {
        let (id, face) = match end {
            End::Record(id) => (id.to_string(), self.faces.get(&id)),
            End::Text(text) => (text, None),
        };
        GraphNode {
            id,
            known: face.is_some(),
            signature: face.map(|face| face.signature.clone()),
            domain: face.map(|face| face.domain.clone()),
        }
    }
}

/// True for edges of these kinds; of all when none is named.
fn is_wanted(kinds: &[EdgeKind], edge: &GraphEdge) -> bool {
    kinds.is_empty() || kinds.contains(&edge.kind)
}
