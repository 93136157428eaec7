//! What nodes measured in their good runs, kept small, so that figures can be held against those of their like.

use async_trait::async_trait;
use kb_core::baseline::{Cohort, Summary};
use kb_core::ids::{NodeId, ReportId};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{FacetStore, ReportListing, StoreError};

/// Series that are kept of a node; of more the oldest are forgotten.
pub const MOST_SERIES: usize = 256;

/// Summaries of what nodes measured.
#[async_trait]
pub trait BaselineStore: FacetStore {
    /// Keeps what a good run measured. A series replaces its namesake; those of another cohort (driver, GPUs) are forgotten.
    async fn note_baseline(
        &self,
        node: &NodeId,
        cohort: &Cohort,
        series: Vec<KeptSeries>,
    ) -> Result<(), StoreError>;

    /// Nodes of a cohort, those that measured last first.
    async fn baselines(&self, cohort: &Cohort, limit: u32) -> Result<Vec<NodeBaseline>, StoreError>;

    /// Figures of a node's good runs whose reports came at `until` or before, the newest first; of `runs` runs at most.
    async fn earlier_figures(
        &self,
        node: &NodeId,
        until: OffsetDateTime,
        simulated: bool,
        runs: u32,
    ) -> Result<Vec<EarlierFigures>, StoreError>;

    /// The node's newest report that measured something, among its newest thousand.
    async fn latest_measured(&self, node: &NodeId) -> Result<Option<ReportListing>, StoreError>;
}

/// A run's figures, summed up.
#[derive(Debug, Clone, PartialEq)]
pub struct ToldBaseline {
    pub cohort: Cohort,
    pub series: Vec<KeptSeries>,
}

/// Figures of one series of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptSeries {
    /// As [`kb_core::baseline::Series::key`] names it.
    pub key: String,
    /// End of the run, seconds since 1970.
    pub at: i64,
    /// The run.
    pub report: String,
    #[serde(flatten)]
    pub summary: Summary,
}

/// A node with the figures that are kept of it.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeBaseline {
    pub node: NodeId,
    pub series: Vec<KeptSeries>,
}

/// One matrix of an earlier run, packed as in [`super::PackedMeasurement`].
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierFigures {
    pub report: ReportId,
    /// When the run ended by the server's clock.
    pub ended_at: OffsetDateTime,
    /// `d2d_bandwidth.ce.push.p2p` and the like.
    pub metric: String,
    pub bytes: u64,
    pub n: u32,
    pub matrix: Vec<u8>,
}
