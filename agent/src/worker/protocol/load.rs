//! What the load asks of a worker, step by step, and what it gets.

use serde::{Deserialize, Serialize};

/// One step: the work of all GPUs, begun together and waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoadStep {
    pub(crate) gpus: Vec<LoadOf>,
    /// Bytes of a copy between GPUs.
    pub(crate) bytes: u64,
    /// The same of copies with host memory.
    pub(crate) host_bytes: u64,
    /// Whether what came from host memory is compared: from the second step on, when the first has filled that memory.
    pub(crate) compare_host: bool,
    /// Whether NVML is asked meanwhile.
    pub(crate) sample: bool,
    /// Longest time to wait for the work.
    pub(crate) limit_ms: u64,
}

/// The work of one GPU in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoadOf {
    pub(crate) gpu: u32,
    pub(crate) launches: u32,
    /// Rounds of the compute kernel in one launch.
    pub(crate) rounds: u32,
    pub(crate) from_host: u32,
    pub(crate) to_host: u32,
    /// The GPU that gets copies of this one's memory; none where no pair is proven.
    pub(crate) peer: Option<u32>,
    pub(crate) to_peer: u32,
}

/// What one GPU did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Loaded {
    pub(crate) gpu: u32,
    pub(crate) operations: f64,
    pub(crate) launch: Took,
    pub(crate) from_host: Took,
    pub(crate) to_host: Took,
    pub(crate) to_peer: Took,
    /// Comparisons that were made: of the sum of checksums, and of data that came.
    pub(crate) checks: u32,
}

/// How long each piece of a kind took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Took {
    pub(crate) times: u32,
    /// Seconds of one; 0 where there was none.
    pub(crate) seconds: f64,
}

/// A comparison that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrongLoad {
    /// The GPU that computed, or that got the data.
    pub(crate) gpu: u32,
    /// True of a checksum of the kernel, false of data that was copied.
    pub(crate) is_checksum: bool,
    pub(crate) message: String,
}
