//! Whether NCCL works between the GPUs, with peer access and without. Since 1.3.

use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::gpu::GpuIndex;
use super::pair::Outcome;
use super::reason_code::ReasonCode;

/// NCCL's functional arms, each with one process a GPU. Its bandwidths are among the measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nccl {
    /// File of libnccl that was loaded; others that were found are facts of the host (`libraries.nccl`).
    pub library: Fact<String>,
    /// Its version, `2.28.9`.
    pub version: Fact<String>,
    /// True when NVLink SHARP and multicast were left to NCCL; they are switched off otherwise.
    #[serde(default)]
    pub nvls: bool,
    /// The arms in the order they were run.
    #[serde(default)]
    pub arms: Vec<NcclArm>,
    /// What they come to.
    pub verdict: NcclVerdict,
    /// Why, in one sentence.
    pub reason: String,
}

/// Collectives with their data compared, in processes of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NcclArm {
    /// GPUs that took part, by rank.
    pub gpus: Vec<GpuIndex>,
    /// True for NCCL as the environment has it, false with `NCCL_P2P_DISABLE=1`.
    pub peer_access: bool,
    /// What came of it.
    pub outcome: Outcome,
    /// Why, unless it passed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The same for programs. Since 1.6.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason_code: Option<ReasonCode>,
    /// The call that failed or hung.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call: Option<String>,
    /// Its `ncclResult_t` or `CUresult`; `code_name` tells which table it is of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<i32>,
    /// Name of the code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code_name: Option<String>,
    /// Seconds, with the start and the end of its processes.
    pub seconds: f64,
}

/// What the arms come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NcclVerdict {
    /// Both arms pass.
    Ok,
    /// With peer access it fails, without it passes: the way from GPU to GPU is at fault.
    PeerAccessFails,
    /// With peer access it passes, without it fails: the way through host memory is at fault.
    StagingFails,
    /// Neither works, or it could not be told: nothing is shown about peer access.
    Inconclusive,
    /// It was asked for and not run.
    NotRun,
    /// A value of a newer minor version.
    #[serde(other)]
    Unrecognised,
}
