//! Names of result codes. The driver is asked first; these are for when it cannot be.

use std::ffi::{CStr, c_char};

use cudarc::driver::sys::CUresult as Known;

use super::symbols::Symbols;

/// Every code of CUDA 12.9 in cudarc's spelling. Only turned *into* numbers: the enum is closed, a driver's number may be new.
const KNOWN: &[Known] = &[
    Known::CUDA_SUCCESS,
    Known::CUDA_ERROR_INVALID_VALUE,
    Known::CUDA_ERROR_OUT_OF_MEMORY,
    Known::CUDA_ERROR_NOT_INITIALIZED,
    Known::CUDA_ERROR_DEINITIALIZED,
    Known::CUDA_ERROR_PROFILER_DISABLED,
    Known::CUDA_ERROR_PROFILER_NOT_INITIALIZED,
    Known::CUDA_ERROR_PROFILER_ALREADY_STARTED,
    Known::CUDA_ERROR_PROFILER_ALREADY_STOPPED,
    Known::CUDA_ERROR_STUB_LIBRARY,
    Known::CUDA_ERROR_DEVICE_UNAVAILABLE,
    Known::CUDA_ERROR_NO_DEVICE,
    Known::CUDA_ERROR_INVALID_DEVICE,
    Known::CUDA_ERROR_DEVICE_NOT_LICENSED,
    Known::CUDA_ERROR_INVALID_IMAGE,
    Known::CUDA_ERROR_INVALID_CONTEXT,
    Known::CUDA_ERROR_CONTEXT_ALREADY_CURRENT,
    Known::CUDA_ERROR_MAP_FAILED,
    Known::CUDA_ERROR_UNMAP_FAILED,
    Known::CUDA_ERROR_ARRAY_IS_MAPPED,
    Known::CUDA_ERROR_ALREADY_MAPPED,
    Known::CUDA_ERROR_NO_BINARY_FOR_GPU,
    Known::CUDA_ERROR_ALREADY_ACQUIRED,
    Known::CUDA_ERROR_NOT_MAPPED,
    Known::CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
    Known::CUDA_ERROR_NOT_MAPPED_AS_POINTER,
    Known::CUDA_ERROR_ECC_UNCORRECTABLE,
    Known::CUDA_ERROR_UNSUPPORTED_LIMIT,
    Known::CUDA_ERROR_CONTEXT_ALREADY_IN_USE,
    Known::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
    Known::CUDA_ERROR_INVALID_PTX,
    Known::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
    Known::CUDA_ERROR_NVLINK_UNCORRECTABLE,
    Known::CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
    Known::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
    Known::CUDA_ERROR_JIT_COMPILATION_DISABLED,
    Known::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
    Known::CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC,
    Known::CUDA_ERROR_CONTAINED,
    Known::CUDA_ERROR_INVALID_SOURCE,
    Known::CUDA_ERROR_FILE_NOT_FOUND,
    Known::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
    Known::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
    Known::CUDA_ERROR_OPERATING_SYSTEM,
    Known::CUDA_ERROR_INVALID_HANDLE,
    Known::CUDA_ERROR_ILLEGAL_STATE,
    Known::CUDA_ERROR_LOSSY_QUERY,
    Known::CUDA_ERROR_NOT_FOUND,
    Known::CUDA_ERROR_NOT_READY,
    Known::CUDA_ERROR_ILLEGAL_ADDRESS,
    Known::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
    Known::CUDA_ERROR_LAUNCH_TIMEOUT,
    Known::CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING,
    Known::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
    Known::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
    Known::CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,
    Known::CUDA_ERROR_CONTEXT_IS_DESTROYED,
    Known::CUDA_ERROR_ASSERT,
    Known::CUDA_ERROR_TOO_MANY_PEERS,
    Known::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
    Known::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
    Known::CUDA_ERROR_HARDWARE_STACK_ERROR,
    Known::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    Known::CUDA_ERROR_MISALIGNED_ADDRESS,
    Known::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    Known::CUDA_ERROR_INVALID_PC,
    Known::CUDA_ERROR_LAUNCH_FAILED,
    Known::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
    Known::CUDA_ERROR_TENSOR_MEMORY_LEAK,
    Known::CUDA_ERROR_NOT_PERMITTED,
    Known::CUDA_ERROR_NOT_SUPPORTED,
    Known::CUDA_ERROR_SYSTEM_NOT_READY,
    Known::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
    Known::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
    Known::CUDA_ERROR_MPS_CONNECTION_FAILED,
    Known::CUDA_ERROR_MPS_RPC_FAILURE,
    Known::CUDA_ERROR_MPS_SERVER_NOT_READY,
    Known::CUDA_ERROR_MPS_MAX_CLIENTS_REACHED,
    Known::CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED,
    Known::CUDA_ERROR_MPS_CLIENT_TERMINATED,
    Known::CUDA_ERROR_CDP_NOT_SUPPORTED,
    Known::CUDA_ERROR_CDP_VERSION_MISMATCH,
    Known::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
    Known::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
    Known::CUDA_ERROR_STREAM_CAPTURE_MERGE,
    Known::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
    Known::CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
    Known::CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
    Known::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    Known::CUDA_ERROR_CAPTURED_EVENT,
    Known::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
    Known::CUDA_ERROR_TIMEOUT,
    Known::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
    Known::CUDA_ERROR_EXTERNAL_DEVICE,
    Known::CUDA_ERROR_INVALID_CLUSTER_SIZE,
    Known::CUDA_ERROR_FUNCTION_NOT_LOADED,
    Known::CUDA_ERROR_INVALID_RESOURCE_TYPE,
    Known::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
    Known::CUDA_ERROR_KEY_ROTATION,
    Known::CUDA_ERROR_UNKNOWN,
];

/// Codes after which a context gives nothing but errors (`cuda.h`: "the process must be terminated and relaunched"): the work on the GPU
/// failed, whichever call returns them.
const OF_CONTEXT: [Known; 11] = [
    Known::CUDA_ERROR_ILLEGAL_ADDRESS,
    Known::CUDA_ERROR_LAUNCH_TIMEOUT,
    Known::CUDA_ERROR_ASSERT,
    Known::CUDA_ERROR_HARDWARE_STACK_ERROR,
    Known::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    Known::CUDA_ERROR_MISALIGNED_ADDRESS,
    Known::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    Known::CUDA_ERROR_INVALID_PC,
    Known::CUDA_ERROR_LAUNCH_FAILED,
    Known::CUDA_ERROR_TENSOR_MEMORY_LEAK,
    Known::CUDA_ERROR_EXTERNAL_DEVICE,
];

pub(super) fn is_of_context(code: i32) -> bool {
    let is = |known: Known| u32::try_from(code).is_ok_and(|code| known as u32 == code);
    OF_CONTEXT.into_iter().any(is)
}

pub(super) fn name(symbols: &Symbols, code: i32) -> String {
    asked(symbols, code)
        .or_else(|| known(code))
        .unwrap_or_else(|| "unknown code".to_owned())
}

fn asked(symbols: &Symbols, code: i32) -> Option<String> {
    let ask = symbols.cuGetErrorName?;
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: `text` is a place for one pointer; the function takes any code, also before cuInit.
    let answer = unsafe { ask(code, &raw mut text) };
    if answer != 0 || text.is_null() {
        return None;
    }
    // SAFETY: on success it is a zero-terminated text that lives as long as the library.
    let name = unsafe { CStr::from_ptr(text) };
    Some(name.to_string_lossy().into_owned())
}

fn known(code: i32) -> Option<String> {
    let wanted = u32::try_from(code).ok()?;
    let found = KNOWN.iter().find(|known| **known as u32 == wanted)?;
    Some(format!("{found:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_that_people_search_for() {
        assert_eq!(known(217).as_deref(), Some("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"));
        assert_eq!(known(46).as_deref(), Some("CUDA_ERROR_DEVICE_UNAVAILABLE"));
        assert_eq!(known(226).as_deref(), Some("CUDA_ERROR_CONTAINED"));
        assert_eq!(known(802).as_deref(), Some("CUDA_ERROR_SYSTEM_NOT_READY"));
        assert_eq!(known(9999), None);
        assert_eq!(known(-1), None);
    }

    #[test]
    fn codes_of_a_context_are_those_that_every_later_call_returns() {
        for code in [700, 702, 710, 714, 715, 716, 717, 718, 719] {
            assert!(is_of_context(code), "{code}");
        }
        for code in [0, 1, 2, 46, 214, 217, 220, 600, 704, 801, 999, -719] {
            assert!(!is_of_context(code), "{code}");
        }
    }
}
