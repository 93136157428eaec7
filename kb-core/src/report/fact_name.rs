//! Names of facts that one program or room writes and another reads: for ever, as they stand in stored reports.
#![allow(missing_docs, reason = "the name says what each of them is")]

pub const ACS_REDIRECTING_BRIDGES: &str = "acs.redirecting_bridges";
pub const BAR1_TOTAL_BYTES: &str = "bar1.total_bytes";
/// Version of the machine's firmware, as it names itself (SMBIOS).
pub const BIOS_VERSION: &str = "bios.version";
pub const CLOCK_MEMORY_MHZ: &str = "clock.memory_mhz";
pub const CLOCK_SM_MHZ: &str = "clock.sm_mhz";
pub const COMPUTE_MODE: &str = "compute.mode";
pub const CONFIDENTIAL_COMPUTE_MODE: &str = "confidential_compute.mode";
/// The tools that a report was converted from.
pub const CONVERT_TOOLS: &str = "convert.tools";
/// Calls that returned a code of broken hardware outside of any check that stands in the report.
pub const CUDA_HARDWARE_ERRORS: &str = "cuda.hardware_errors";
pub const CUDA_VERSION: &str = "cuda.version";
pub const DRIVER_REGISTRY_DWORDS: &str = "driver.registry_dwords";
pub const DRIVER_VERSION: &str = "driver.version";
pub const ECC_SRAM_THRESHOLD_EXCEEDED: &str = "ecc.sram_threshold_exceeded";
pub const ECC_VOLATILE_CORRECTED: &str = "ecc.volatile_corrected";
pub const ECC_VOLATILE_UNCORRECTED: &str = "ecc.volatile_uncorrected";
/// How many GPUs the node should have, where the operator said so (`--expect gpus=8`).
pub const EXPECTED_GPUS: &str = "expected.gpus";
/// Tells apart what different processes may see of the GPUs, where the process of the report may not see all: a hash of what grants them.
pub const GPUS_VIEW: &str = "gpus.view";
pub const FABRIC_HEALTH: &str = "fabric.health";
pub const FABRIC_STATE: &str = "fabric.state";
pub const FABRIC_STATUS: &str = "fabric.status";
pub const FABRIC_MANAGER_SERVICE: &str = "fabric_manager.service";
pub const IOMMU_GROUP_TYPE: &str = "iommu.group_type";
pub const IOMMU_MODE: &str = "iommu.mode";
pub const LIBRARIES_NCCL: &str = "libraries.nccl";
pub const MEMORY_USED_BYTES: &str = "memory.used_bytes";
pub const MIG_MODE: &str = "mig.mode";
pub const NCCL_CONF_SYSTEM: &str = "nccl.conf.system";
pub const NCCL_CONF_USER: &str = "nccl.conf.user";
pub const NVLINK_CRC_ERRORS: &str = "nvlink.crc_errors";
pub const NVLINK_LINKS: &str = "nvlink.links";
pub const NVLINK_LINKS_ACTIVE: &str = "nvlink.links_active";
pub const NVLINK_LINKS_EXPECTED: &str = "nvlink.links_expected";
pub const NVLINK_LINKS_TO_SWITCH: &str = "nvlink.links_to_switch";
pub const NVLINK_RECOVERY_ERRORS: &str = "nvlink.recovery_errors";
pub const NVLINK_REPLAY_ERRORS: &str = "nvlink.replay_errors";
pub const NVLINK_SPEED_MB_S: &str = "nvlink.speed_mb_s";
pub const NVML_DRIVER_VERSION: &str = "nvml.driver_version";
/// Bytes of a GPU's own memory that a kernel filled and the host compared, where the GPU was checked by itself.
pub const OWN_MEMORY_CHECKED_BYTES: &str = "own_memory.checked_bytes";
pub const PCI_AER_FATAL: &str = "pci.aer_fatal";
pub const PCI_AER_NONFATAL: &str = "pci.aer_nonfatal";
pub const PCI_BAR1_BYTES: &str = "pci.bar1_bytes";
pub const PCI_PATH: &str = "pci.path";
pub const PCIE_COMMON_BRIDGE: &str = "pcie.common_bridge";
pub const PCIE_LINK_GENERATION: &str = "pcie.link_generation";
pub const PCIE_LINK_GENERATION_MAX: &str = "pcie.link_generation_max";
pub const PCIE_LINK_WIDTH: &str = "pcie.link_width";
pub const PCIE_LINK_WIDTH_MAX: &str = "pcie.link_width_max";
pub const PCIE_REPLAYS: &str = "pcie.replays";
pub const PCIE_SAME_SWITCH: &str = "pcie.same_switch";
pub const POWER_DRAW_W: &str = "power.draw_w";
/// Other people's compute processes.
/// Version of the site's policy by which the agent judged.
pub const POLICY_VERSION: &str = "policy.version";
pub const PROCESSES_COUNT: &str = "processes.count";
pub const RECOVERY_ACTION: &str = "recovery.action";
pub const REMAPPED_ROWS_CORRECTED: &str = "remapped_rows.corrected";
pub const REMAPPED_ROWS_FAILURE: &str = "remapped_rows.failure";
pub const REMAPPED_ROWS_PENDING: &str = "remapped_rows.pending";
pub const REMAPPED_ROWS_UNCORRECTED: &str = "remapped_rows.uncorrected";
/// Whether somebody else used the GPU during the run: by processes, memory or utilisation.
pub const SHARED: &str = "shared";
/// The machine of a report that is made up.
pub const SIMULATED_MACHINE: &str = "simulated.machine";
pub const TEMPERATURE_GPU_C: &str = "temperature.gpu_c";
pub const THROTTLE_REASONS: &str = "throttle.reasons";
pub const UTILIZATION_GPU_PERCENT: &str = "utilization.gpu_percent";

/// By how much a counter rose while the run went on.
pub fn during(counter: &str) -> String {
    format!("during.{counter}")
}
