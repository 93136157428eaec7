//! Statuses that tell of a lost or broken GPU, as the driver, NVML and CUDA write them. No line that has one is harmless.

use memchr::memmem;

/// In ASCII lower case. `NV_ERR_TIMEOUT`: the GPU did not answer.
pub(crate) const LOST: [&str; 16] = [
    "gpu_is_lost",
    "gpu is lost",
    "gpu lost from the bus",
    "fallen off the bus",
    "reset_required",
    "gpu requires reset",
    "gpu_in_fullchip_reset",
    "ecc_uncorrectable",
    "nv_err_ecc_error",
    "nv_err_fatal_error",
    "nv_err_gpu_memory_onlining_failure",
    "nv_err_memory_error",
    "nv_err_nvlink_fabric_failure",
    "nv_err_nvlink_minion_error",
    "nv_err_riscv_error",
    "nv_err_timeout",
];

/// Whether a line, given in ASCII lower case, has one of [`LOST`].
pub(crate) fn tells_of_lost_gpu(lower: &[u8]) -> bool {
    LOST.iter()
        .any(|word| memmem::find(lower, word.as_bytes()).is_some())
}
