//! The `NVSwitch` fabric as NVML tells it.

use serde::{Deserialize, Serialize};

/// `nvmlGpuFabricInfo_v3_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fabric {
    /// How far the GPU's registration has come.
    pub state: FabricState,
    /// `nvmlReturn_t` of the registration, of meaning once it is completed.
    pub status: u32,
    /// The clique: GPUs of one cluster and clique reach each other.
    pub clique_id: u32,
    /// The cluster; zeros on one node without a fabric beyond it.
    pub cluster_uuid: [u8; 16],
    /// Two bits a trouble (0 not supported, 1 yes, 2 no) and four for the configuration from bit 8.
    pub health_mask: u32,
    /// 0 not supported, 1 healthy, 2 unhealthy, 3 limited capacity.
    pub health_summary: u8,
    /// Newest version of the structure that the driver fills: 3, 2, or 1 for the function without versions.
    pub newest_version: u32,
}

impl Default for Fabric {
    fn default() -> Self {
        Self {
            state: FabricState::Completed,
            status: 0,
            clique_id: 0,
            cluster_uuid: [0; 16],
            // So it is on H200 with driver 580.159.04: the board tells no health.
            health_mask: 0,
            health_summary: 0,
            newest_version: 3,
        }
    }
}

/// `nvmlGpuFabricState_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FabricState {
    /// The board has no `NVSwitch`.
    NotSupported,
    /// Nobody (the fabric manager) has begun.
    NotStarted,
    /// Under way.
    InProgress,
    /// Done, well or not.
    Completed,
    /// A number that no header names.
    Other(u8),
}

impl FabricState {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::NotSupported => 0,
            Self::NotStarted => 1,
            Self::InProgress => 2,
            Self::Completed => 3,
            Self::Other(code) => code,
        }
    }
}
