//! The codes of CUDA that mean broken hardware, whichever call returns them and however often.

/// An error of a GPU's memory that ECC could not correct.
pub(super) const ECC_CODES: &[i32] = &[214];
/// An NVLink that failed.
pub(super) const NVLINK_CODES: &[i32] = &[220, 226];

/// True of a code that is a fault of the hardware even if the same call works the next time.
pub fn is_hardware_code(code: i32) -> bool {
    ECC_CODES.contains(&code) || NVLINK_CODES.contains(&code)
}
