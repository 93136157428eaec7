//! `nvmlReturn_t` codes and their messages (`nvml.h` and `nvmlErrorString`).

use crate::{driver, ffi::NullPointer};
use std::ffi::CStr;

/// An `nvmlReturn_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) i32);

impl Code {
    pub(crate) const SUCCESS: Self = Self(0);
    pub(crate) const UNINITIALIZED: Self = Self(1);
    pub(crate) const INVALID_ARGUMENT: Self = Self(2);
    pub(crate) const NOT_SUPPORTED: Self = Self(3);
    pub(crate) const NOT_FOUND: Self = Self(6);
    pub(crate) const INSUFFICIENT_SIZE: Self = Self(7);
    pub(crate) const GPU_IS_LOST: Self = Self(15);
    pub(crate) const VERSION_MISMATCH: Self = Self(25);
    pub(crate) const UNKNOWN: Self = Self(999);
}

impl From<NullPointer> for Code {
    fn from(_: NullPointer) -> Self {
        Self::INVALID_ARGUMENT
    }
}

impl From<driver::Code> for Code {
    fn from(_: driver::Code) -> Self {
        Self::UNKNOWN
    }
}

/// The message of a code; that of 999 for one that is not known.
pub(super) fn message(code: i32) -> &'static CStr {
    match code {
        0 => c"Success",
        1 => c"Uninitialized",
        2 => c"Invalid Argument",
        3 => c"Not Supported",
        4 => c"Insufficient Permissions",
        6 => c"Not Found",
        7 => c"Insufficient Size",
        9 => c"Driver Not Loaded",
        10 => c"Timeout",
        12 => c"Shared Library Not Found",
        13 => c"Function Not Found",
        15 => c"GPU is lost",
        16 => c"GPU requires restart",
        17 => c"The operating system has blocked the request",
        18 => c"RM has detected an NVML/RM version mismatch.",
        25 => c"Argument version mismatch",
        _ => c"Unknown Error",
    }
}
