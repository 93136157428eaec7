//! NCCL, as far as it goes without a communicator: its version and its texts. Collectives are absent, so that a program
//! finds them missing, never wrong.

use crate::{ffi::Out, gate};
use std::ffi::{c_char, c_int};

/// `ncclInvalidArgument`.
const INVALID_ARGUMENT: c_int = 4;

#[unsafe(no_mangle)]
extern "C" fn ncclGetVersion(version: Out<c_int>) -> c_int {
    gate::nccl("ncclGetVersion", |machine| {
        version
            .put(machine.scenario.nccl_version)
            .map_or(INVALID_ARGUMENT, |()| 0)
    })
}

/// The message of an `ncclResult_t`. Gives a text, not a code: neither counted nor hit by faults.
#[unsafe(no_mangle)]
extern "C" fn ncclGetErrorString(result: c_int) -> *const c_char {
    let text = match result {
        0 => c"no error",
        1 => c"unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        2 => c"unhandled system error (run with NCCL_DEBUG=INFO for details)",
        3 => c"internal error - please report this issue to the NCCL developers",
        4 => c"invalid argument (run with NCCL_DEBUG=WARN for details)",
        5 => c"invalid usage (run with NCCL_DEBUG=WARN for details)",
        6 => c"remote process exited or there was a network error",
        7 => c"NCCL operation in progress",
        _ => c"unknown result code",
    };
    text.as_ptr()
}

/// What went wrong last: nothing, as nothing is ever begun.
#[unsafe(no_mangle)]
extern "C" fn ncclGetLastError(_communicator: usize) -> *const c_char {
    c"".as_ptr()
}
