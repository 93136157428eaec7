//! Versions and settings of nodes, kept as reports come, beside what is open on them and what they measured: to tell what sets
//! affected nodes apart, no report is read.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kb_core::ids::NodeId;
use time::OffsetDateTime;

use super::{KeptSeries, Labels, ReportStore, StoreError};

/// Facets of nodes.
#[async_trait]
pub trait FacetStore: ReportStore {
    /// Nodes of one kind that told facets, by id, those after `after`; at most `limit`.
    async fn facets(
        &self,
        simulated: bool,
        after: Option<&NodeId>,
        limit: u32,
    ) -> Result<Vec<NodeFacets>, StoreError>;
}

/// What a report told. It is kept with the report, unless one that ended later told before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldFacets {
    pub simulated: bool,
    /// Model of the GPUs.
    pub model: String,
    /// End of the run.
    pub told_at: OffsetDateTime,
    pub facets: BTreeMap<String, String>,
    /// Facets that such a report cannot tell: what an earlier one told of the same model stays.
    pub untold: Vec<String>,
}

/// A node with what may set it apart, and with what is wrong with it.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeFacets {
    pub node: NodeId,
    pub model: String,
    pub facets: BTreeMap<String, String>,
    pub labels: Labels,
    /// Names of findings that are open and say something against it.
    pub findings: Vec<String>,
    /// What it measured in its good runs.
    pub series: Vec<KeptSeries>,
}
