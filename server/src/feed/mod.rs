//! What readers are answered from: an immutable [`Generation`] of records, matcher, index and graph, and the
//! [`Follower`] that builds the next one beside it whenever the store's feed has moved, and swaps them whole.

mod assembler;
pub(crate) mod background;
mod follow;
mod generation;
mod graph;
mod knowledge;
mod names;
mod offline;
mod priority;
mod published;
mod reading;
mod search_prior;

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;

pub use follow::{DEFAULT_INTERVAL, FeedError, Follower, load, load_beside};
pub use generation::Generation;
pub use graph::{
    Between, DomainLink, DomainMap, DomainNode, Graph, GraphEdge, GraphError, GraphNode, MAX_DEPTH,
    MAX_EDGES, MAX_NODES, MAX_PATHS, NearNode, Neighbour, Neighbourhood, PathStep, Ways,
};
pub use knowledge::{Knowledge, MAX_BEHIND, Readiness};
pub use names::Carriers;
pub use offline::offline;
pub use published::{LeftOut, PublishedRecord};
