//! The state of a GPU as NVML tells it. Everything has a default: a healthy H200 (figures of `nvidia-smi` on a machine
//! with two of them, driver 580.159.04, where the file's fields say so; the others are fixtures).

use serde::{Deserialize, Serialize};

use super::fabric::Fabric;

/// What NVML says of a GPU at a moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    /// True: every function that is asked about the GPU gives error 15.
    pub lost: bool,
    /// Functions (`nvmlDeviceGetEccMode`) and field values (`field 230`) that give error 3 for this GPU.
    pub not_supported: Vec<String>,
    /// `nvmlBrandType_t`.
    pub brand: u32,
    pub gsp_version: String,
    /// The NUMA node that the GPU's memory is; error 3 where it is none.
    pub numa_node: Option<u32>,
    /// Links with errors; those not named have none.
    pub link_errors: Vec<LinkErrors>,
    pub fabric: Fabric,
    /// Confidential computing, which NVML states for the whole machine: any GPU's setting that is on counts.
    pub confidential_compute: ConfidentialCompute,
    /// Error correction.
    pub ecc: Ecc,
    /// Repairs of the memory.
    pub remapped_rows: RemappedRows,
    /// `nvmlDeviceGpuRecoveryAction_t`, field value 230.
    pub recovery_action: u32,
    /// Clocks, temperature aside.
    pub clocks: Clocks,
    pub power: Power,
    /// The link to the host.
    pub pcie: Pcie,
    /// The window through which the host and other devices reach the memory.
    pub bar1: Bar1,
    /// Percent of the time that a kernel ran.
    pub utilization: u32,
}

impl Default for Condition {
    fn default() -> Self {
        Self {
            lost: false,
            not_supported: Vec::new(),
            brand: 14,
            gsp_version: "580.159.04".into(),
            numa_node: None,
            link_errors: Vec::new(),
            fabric: Fabric::default(),
            confidential_compute: ConfidentialCompute::default(),
            ecc: Ecc::default(),
            remapped_rows: RemappedRows::default(),
            recovery_action: 0,
            clocks: Clocks::default(),
            power: Power::default(),
            pcie: Pcie::default(),
            bar1: Bar1::default(),
            utilization: 0,
        }
    }
}

/// Another condition from a moment on: how counters rise and GPUs get lost during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Once this function, of either library…
    pub after_call: String,
    /// …has been called so often, by all processes together.
    pub times: u64,
    /// What holds from then on, instead.
    pub condition: Condition,
}

/// Error counters of one NVLink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkErrors {
    pub link: u32,
    /// Checksums that were wrong.
    pub crc: u64,
    /// Packets sent again.
    pub replay: u64,
    /// Times the link was trained anew.
    pub recovery: u64,
}

/// `nvmlSystemConfComputeSettings_v1_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfidentialCompute {
    /// Whether it is on.
    pub feature: bool,
    /// 0 none, 1 protected PCIe, 2 NVLink encryption.
    pub multi_gpu: u32,
}

/// Error correction and its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ecc {
    /// Whether it is on; `None` where the model has none, and then there are no counters either.
    pub on: Option<bool>,
    /// Corrected errors since the driver was loaded.
    pub volatile_corrected: u64,
    /// Uncorrected errors since the driver was loaded.
    pub volatile_uncorrected: u64,
    /// Corrected errors of the GPU's life.
    pub aggregate_corrected: u64,
    /// Uncorrected errors of the GPU's life.
    pub aggregate_uncorrected: u64,
    /// Of those, in SRAM.
    pub sram_uncorrected: u64,
    /// Whether they are so many that the GPU should be replaced.
    pub sram_threshold_exceeded: bool,
}

impl Default for Ecc {
    fn default() -> Self {
        Self {
            on: Some(true),
            volatile_corrected: 0,
            volatile_uncorrected: 0,
            aggregate_corrected: 0,
            aggregate_uncorrected: 0,
            sram_uncorrected: 0,
            sram_threshold_exceeded: false,
        }
    }
}

/// `nvmlDeviceGetRemappedRows`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RemappedRows {
    /// Rows replaced for corrected errors.
    pub corrected: u32,
    /// Rows replaced for uncorrected errors.
    pub uncorrected: u32,
    /// Whether the next reset replaces some.
    pub pending: bool,
    /// Whether replacing has failed.
    pub failure: bool,
}

/// Clocks in MHz, and what holds them down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Clocks {
    /// Of the multiprocessors.
    pub sm_mhz: u32,
    pub memory_mhz: u32,
    /// Bits of `nvmlClocksEventReason…`.
    pub event_reasons: u64,
}

impl Default for Clocks {
    fn default() -> Self {
        Self {
            sm_mhz: 1980,
            memory_mhz: 3201,
            event_reasons: 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Power {
    pub draw_mw: u32,
    /// The limit in force.
    pub limit_mw: u32,
}

impl Default for Power {
    fn default() -> Self {
        Self {
            draw_mw: 111_000,
            limit_mw: 700_000,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pcie {
    pub generation: u32,
    /// The best that GPU and system can do together.
    pub generation_max: u32,
    /// The best that the GPU can do anywhere.
    pub gpu_generation_max: u32,
    /// Lanes now.
    pub width: u32,
    /// The most that GPU and system can use together.
    pub width_max: u32,
    /// Packets sent again.
    pub replays: u32,
}

impl Default for Pcie {
    fn default() -> Self {
        Self {
            generation: 5,
            generation_max: 5,
            gpu_generation_max: 5,
            width: 16,
            width_max: 16,
            replays: 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bar1 {
    /// Size of the window.
    pub total: u64,
    /// Mapped now.
    pub used: u64,
}

impl Default for Bar1 {
    fn default() -> Self {
        Self {
            total: 262_144 << 20,
            used: 1 << 20,
        }
    }
}
