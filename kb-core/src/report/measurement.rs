//! Bandwidths and latencies with every sample.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fact::Gap;
use super::gpu::GpuIndex;
use super::pair::Engine;

/// One metric at one size over all pairs: an n x n matrix kept as a list of cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Stable name: `d2d_bandwidth`, `d2d_bandwidth_both_ways`, `h2d_bandwidth`, `copy_latency`, …
    pub metric: String,
    /// `GB/s` (1e9 bytes) or `us` or `ns`.
    pub unit: String,
    /// What moved the bytes.
    pub engine: Engine,
    /// Who issued the work.
    pub operation: Operation,
    /// Size of one transfer in bytes.
    pub bytes: u64,
    /// True when peer access was enabled, false when the driver staged through the host.
    pub peer_access: Option<bool>,
    /// The cells.
    pub cells: Vec<Cell>,
}

/// Push: the source's context issues the copy. Pull: the destination's does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Written by the source.
    Push,
    /// Read by the destination.
    Pull,
    /// Neither applies.
    Other,
    /// A value of a newer minor version.
    #[serde(other)]
    Unrecognised,
}

/// One directed pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Where the bytes come from; absent for host memory.
    pub source: Option<GpuIndex>,
    /// Where they go; absent for host memory.
    pub destination: Option<GpuIndex>,
    /// Every sample, in the order taken.
    #[serde(default)]
    pub samples: Vec<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gap: Option<Gap>,
}
