//! One GPU as the driver lists it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::Fact;

/// Position in [`super::Report::gpus`].
pub type GpuIndex = u32;

/// One GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gpu {
    /// CUDA ordinal in the worker, which `CUDA_VISIBLE_DEVICES` shifts.
    pub cuda_ordinal: u32,
    /// NVML index; its order is not CUDA's. Found by PCI address or UUID.
    pub nvml_index: Fact<u32>,
    /// `GPU-xxxxxxxx-…`.
    pub uuid: Fact<String>,
    /// `0000:00:06.0`, lower case, domain with four or more digits.
    pub pci_address: Fact<String>,
    /// Model, as the driver names it.
    pub name: Fact<String>,
    /// Total memory in bytes.
    pub memory_bytes: Fact<u64>,
    /// Compute capability, `9.0`.
    pub compute_capability: Fact<String>,
    /// Everything else by dotted name (`nvlink.links_active`, `pcie.link_generation`).
    #[serde(default)]
    pub facts: BTreeMap<String, Fact>,
}
