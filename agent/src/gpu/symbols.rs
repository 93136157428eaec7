//! The functions of libcuda.so.1 that the agent uses, each one optional.
//!
//! Signatures are those of cuda.h as cudarc renders them, but for the result: an `i32`, so that a code that this
//! build does not know is a number and not undefined behaviour.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUipcMemHandle, CUmemAccessDesc,
    CUmemAllocationProp, CUmemGenericAllocationHandle, CUmodule, CUstream, CUuuid,
};
use libloading::Library;

/// Declares the table: exported name, then argument types.
macro_rules! table {
    ($($name:ident($($argument:ty),*);)*) => {
        /// The table. `None` where the library does not export the name.
        #[allow(non_snake_case, reason = "fields carry the exported names")]
        pub(super) struct Symbols {
            $(pub(super) $name: Option<unsafe extern "C" fn($($argument),*) -> i32>,)*
        }

        impl Symbols {
            /// Looks every name up; what is missing stays `None`.
            ///
            /// # Safety
            /// The library is the one whose functions these are, so that the names have these signatures.
            pub(super) unsafe fn resolve(library: &'static Library) -> Self {
                Self {
                    $($name: {
                        // SAFETY: the caller vouches for the signature.
                        let symbol = unsafe { library.get(concat!(stringify!($name), "\0")) };
                        symbol.ok().map(|found| *found)
                    },)*
                }
            }
        }
    };
}

pub(super) use table;

table! {
    cuInit(c_uint);
    cuDriverGetVersion(*mut c_int);
    cuGetErrorName(i32, *mut *const c_char);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDeviceGetName(*mut c_char, c_int, CUdevice);
    cuDeviceGetUuid(*mut CUuuid, CUdevice);
    cuDeviceGetPCIBusId(*mut c_char, c_int, CUdevice);
    cuDeviceGetAttribute(*mut c_int, c_int, CUdevice);
    cuDeviceTotalMem_v2(*mut usize, CUdevice);
    cuDeviceCanAccessPeer(*mut c_int, CUdevice, CUdevice);
    cuDeviceGetP2PAttribute(*mut c_int, c_int, CUdevice, CUdevice);
    cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
    cuDevicePrimaryCtxRelease_v2(CUdevice);
    cuCtxSetCurrent(CUcontext);
    cuCtxEnablePeerAccess(CUcontext, c_uint);
    cuEventCreate(*mut CUevent, c_uint);
    cuEventRecord(CUevent, CUstream);
    cuEventElapsedTime(*mut f32, CUevent, CUevent);
    cuEventDestroy_v2(CUevent);
    cuStreamCreate(*mut CUstream, c_uint);
    cuStreamQuery(CUstream);
    cuStreamWaitEvent(CUstream, CUevent, c_uint);
    cuStreamDestroy_v2(CUstream);
    cuMemAlloc_v2(*mut CUdeviceptr, usize);
    cuMemFree_v2(CUdeviceptr);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuMemsetD32Async(CUdeviceptr, c_uint, usize, CUstream);
    cuMemcpyAsync(CUdeviceptr, CUdeviceptr, usize, CUstream);
    cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, usize, CUstream);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
    cuIpcGetMemHandle(*mut CUipcMemHandle, CUdeviceptr);
    cuIpcOpenMemHandle_v2(*mut CUdeviceptr, CUipcMemHandle, c_uint);
    cuIpcCloseMemHandle(CUdeviceptr);
    cuMemGetAllocationGranularity(*mut usize, *const CUmemAllocationProp, c_uint);
    cuMemCreate(*mut CUmemGenericAllocationHandle, usize, *const CUmemAllocationProp, c_ulonglong);
    cuMemRelease(CUmemGenericAllocationHandle);
    cuMemAddressReserve(*mut CUdeviceptr, usize, usize, CUdeviceptr, c_ulonglong);
    cuMemAddressFree(CUdeviceptr, usize);
    cuMemMap(CUdeviceptr, usize, usize, CUmemGenericAllocationHandle, c_ulonglong);
    cuMemUnmap(CUdeviceptr, usize);
    cuMemSetAccess(CUdeviceptr, usize, *const CUmemAccessDesc, usize);
    cuMemExportToShareableHandle(*mut c_void, CUmemGenericAllocationHandle, c_uint, c_ulonglong);
    cuMemImportFromShareableHandle(*mut CUmemGenericAllocationHandle, *mut c_void, c_uint);
    cuModuleLoadData(*mut CUmodule, *const c_void);
    cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
    cuModuleUnload(CUmodule);
    cuLaunchKernel(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream,
        *mut *mut c_void, *mut *mut c_void
    );
}
