//! Names of the causes, as they stand in [`PairVerdict::cause`] and [`Failure::cause`]: for ever.
//!
//! What each means, its verdict, its record and what to do stand in the table.
//!
//! [`PairVerdict::cause`]: crate::report::PairVerdict::cause
//! [`Failure::cause`]: crate::report::Failure::cause
#![allow(missing_docs, reason = "the table says what each of them means")]

pub const GPU_LOST: &str = "gpu_lost";
pub const ECC_ERROR: &str = "ecc_error";
pub const NVLINK_ERROR: &str = "nvlink_error";
pub const IPC_FAILS: &str = "ipc_fails";
pub const PRIVATE_MIRROR: &str = "private_mirror";
pub const ACS_REDIRECT: &str = "acs_redirect";
pub const IO_PAGE_FAULT: &str = "io_page_fault";
pub const IOMMU_TRANSLATION: &str = "iommu_translation";
pub const WRITES_DROPPED: &str = "writes_dropped";
pub const DATA_MISMATCH: &str = "data_mismatch";
pub const NCCL_PEER_ACCESS_FAILS: &str = "nccl_peer_access_fails";
pub const VISIBLE_ONLY_AT_KERNEL_END: &str = "visible_only_at_kernel_end";
pub const HANDSHAKE_HANG: &str = "handshake_hang";
pub const HANG: &str = "hang";
pub const PROCESS_DIES: &str = "process_dies";
pub const TOO_MANY_PEERS: &str = "too_many_peers";
pub const ENABLE_CONTRADICTS_QUERY: &str = "enable_contradicts_query";
pub const MAP_FAILED: &str = "map_failed";
pub const ENABLE_FAILS: &str = "enable_fails";
pub const ACCESS_FAILS: &str = "access_fails";

pub const ONE_DIRECTION_ONLY: &str = "one_direction_only";
pub const MIG_ENABLED: &str = "mig_enabled";
pub const CONFIDENTIAL_COMPUTING: &str = "confidential_computing";
pub const FABRIC_NOT_READY: &str = "fabric_not_ready";
pub const REFUSED_BY_REGISTRY: &str = "refused_by_registry";
pub const REFUSED_BY_POLICY: &str = "refused_by_policy";
pub const REFUSED_BY_CHIPSET: &str = "refused_by_chipset";
pub const REFUSED_BY_TOPOLOGY: &str = "refused_by_topology";
pub const MIXED_MODELS: &str = "mixed_models";
pub const REFUSED_NOT_SUPPORTED: &str = "refused_not_supported";
pub const REFUSED_CAUSE_UNKNOWN: &str = "refused_cause_unknown";

pub const EXCLUSIVE_MODE: &str = "exclusive_mode";
pub const MEMORY_FULL: &str = "memory_full";
pub const GPU_BUSY: &str = "gpu_busy";
pub const INCONCLUSIVE: &str = "inconclusive";
pub const NOT_ASKED: &str = "not_asked";
pub const NOT_PROVEN: &str = "not_proven";

pub const DEVICE_MISSING: &str = "device_missing";
pub const GPU_WITHOUT_DRIVER: &str = "gpu_without_driver";
pub const GPU_NOT_LOOKED_AT: &str = "gpu_not_looked_at";

pub const GPU_NEEDS_SERVICE: &str = "gpu_needs_service";
pub const FABRIC_UNHEALTHY: &str = "fabric_unhealthy";
pub const PCIE_ERRORS: &str = "pcie_errors";
pub const FAILS_ONLY_TOGETHER: &str = "fails_only_together";
pub const SLOWER_WITH_PEER_ACCESS: &str = "slower_with_peer_access";
pub const LINKS_DOWN: &str = "links_down";
pub const NVLINK_CORRECTED_ERRORS: &str = "nvlink_corrected_errors";
pub const SLOW_PAIR: &str = "slow_pair";
pub const SLOW_DIRECTION: &str = "slow_direction";
pub const IO_PAGE_FAULT_SEEN: &str = "io_page_fault_seen";
pub const PCIE_LINK_DEGRADED: &str = "pcie_link_degraded";

pub const BELOW_NOMINAL: &str = "below_nominal";
pub const PUSH_AND_PULL_APART: &str = "push_and_pull_apart";
pub const KERNELS_SLOW: &str = "kernels_slow";
pub const SLOWED_BY_OTHERS: &str = "slowed_by_others";

pub const LIBRARY_MISSING: &str = "library_missing";
pub const STUB_LIBRARY: &str = "stub_library";
pub const NO_DEVICE: &str = "no_device";
pub const SYSTEM_NOT_READY: &str = "system_not_ready";
pub const SYSTEM_DRIVER_MISMATCH: &str = "system_driver_mismatch";
pub const COMPATIBILITY_NOT_SUPPORTED: &str = "compatibility_not_supported";
pub const DRIVER_TOO_OLD: &str = "driver_too_old";
pub const JIT_MISSING: &str = "jit_missing";
pub const PTX_TOO_NEW: &str = "ptx_too_new";
pub const DRIVER_UNRESPONSIVE: &str = "driver_unresponsive";
pub const INITIALIZATION_FAILS: &str = "initialization_fails";
pub const NVML_MISSING: &str = "nvml_missing";
pub const NVML_MISMATCH: &str = "nvml_mismatch";

pub const WRONG_ARITHMETIC: &str = "wrong_arithmetic";
pub const XID_FAULT: &str = "xid_fault";
pub const XID_WARNING: &str = "xid_warning";
pub const LOAD_FAILS: &str = "load_fails";
pub const LOAD_INCOMPLETE: &str = "load_incomplete";
pub const ROWS_REMAPPED: &str = "rows_remapped";
pub const LINK_ERRORS: &str = "link_errors";
pub const THROTTLED: &str = "throttled";
pub const SLOWS_DOWN: &str = "slows_down";
pub const SLOWER_THAN_SISTERS: &str = "slower_than_sisters";
pub const SLOWER_THAN_BEFORE: &str = "slower_than_before";
