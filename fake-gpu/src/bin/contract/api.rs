//! The two C interfaces, as far as the contract calls them. A function that is not there gives [`ABSENT`].

use libloading::{Library, Symbol};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// The code of a function that the library does not have.
pub(crate) const ABSENT: c_int = -1;

pub(crate) struct Api {
    cuda: Library,
    nvml: Library,
}

impl Api {
    pub(crate) fn open() -> Result<Self, String> {
        let open = |name: &str| {
            // SAFETY: the vendor's libraries, or the stand-in for them.
            unsafe { Library::new(name) }.map_err(|why| why.to_string())
        };
        Ok(Self {
            cuda: open("libcuda.so.1")?,
            nvml: open("libnvidia-ml.so.1")?,
        })
    }
}

/// `CUipcMemHandle`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct IpcHandle(pub(crate) [u8; 64]);

/// `CUmemAllocationProp`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Properties {
    pub(crate) kind: c_int,
    pub(crate) handle_types: c_int,
    pub(crate) location: [c_int; 2],
    pub(crate) windows: usize,
    pub(crate) flags: u64,
}

/// `CUmemAccessDesc`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Access {
    pub(crate) location: [c_int; 2],
    pub(crate) flags: c_int,
}

macro_rules! functions {
    ($library:ident: $($name:ident ( $($argument:ident : $kind:ty),* );)*) => {
        impl Api {
            $(pub(crate) fn $name(&self, $($argument: $kind),*) -> c_int {
                // SAFETY: the signature is that of the interface; the pointers are null, where the interface is to
                // refuse that, or those of live values.
                unsafe {
                    let found: Result<Symbol<'_, unsafe extern "C" fn($($kind),*) -> c_int>, _> =
                        self.$library.get(stringify!($name));
                    found.map_or(ABSENT, |function| function($($argument),*))
                }
            })*
        }
    };
}

functions! { cuda:
    cuInit(flags: c_uint);
    cuDriverGetVersion(version: *mut c_int);
    cuGetErrorName(error: c_int, text: *mut *const c_char);
    cuGetErrorString(error: c_int, text: *mut *const c_char);
    cuDeviceGetCount(count: *mut c_int);
    cuDeviceGet(device: *mut c_int, ordinal: c_int);
    cuDeviceGetName(name: *mut c_char, bytes: c_int, device: c_int);
    cuDeviceGetPCIBusId(text: *mut c_char, bytes: c_int, device: c_int);
    cuDeviceGetByPCIBusId(device: *mut c_int, text: *const c_char);
    cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int);
    cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int);
    cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int);
    cuDeviceGetP2PAttribute(value: *mut c_int, attribute: c_int, device: c_int, peer: c_int);
    cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int);
    cuDevicePrimaryCtxRelease_v2(device: c_int);
    cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int);
    cuCtxSetCurrent(context: usize);
    cuCtxGetCurrent(context: *mut usize);
    cuCtxGetDevice(device: *mut c_int);
    cuCtxSynchronize();
    cuCtxEnablePeerAccess(peer: usize, flags: c_uint);
    cuCtxDisablePeerAccess(peer: usize);
    cuMemAlloc_v2(address: *mut u64, bytes: usize);
    cuMemFree_v2(address: u64);
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    cuMemHostAlloc(address: *mut u64, bytes: usize, flags: c_uint);
    cuMemFreeHost(address: u64);
    cuMemHostGetDevicePointer_v2(device: *mut u64, host: u64, flags: c_uint);
    cuMemcpyPeerAsync(to: u64, to_context: usize, from: u64, from_context: usize, bytes: usize, stream: usize);
    cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: usize);
    cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize);
    cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize);
    cuMemsetD8Async(to: u64, value: u8, count: usize, stream: usize);
    cuMemsetD32Async(to: u64, value: c_uint, count: usize, stream: usize);
    cuStreamCreate(stream: *mut usize, flags: c_uint);
    cuStreamDestroy_v2(stream: usize);
    cuStreamQuery(stream: usize);
    cuStreamSynchronize(stream: usize);
    cuStreamWaitEvent(stream: usize, event: usize, flags: c_uint);
    cuEventCreate(event: *mut usize, flags: c_uint);
    cuEventDestroy_v2(event: usize);
    cuEventRecord(event: usize, stream: usize);
    cuEventQuery(event: usize);
    cuEventSynchronize(event: usize);
    cuEventElapsedTime(milliseconds: *mut f32, start: usize, end: usize);
    cuModuleLoadData(module: *mut usize, image: *const c_void);
    cuModuleLoadDataEx(module: *mut usize, image: *const c_void, count: c_uint, options: *mut c_int, values: *mut usize);
    cuModuleGetFunction(function: *mut usize, module: usize, name: *const c_char);
    cuModuleUnload(module: usize);
    cuLaunchKernel(function: usize, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint,
        shared: c_uint, stream: usize, parameters: *mut *mut c_void, extra: *mut *mut c_void);
    cuIpcGetMemHandle(handle: *mut IpcHandle, address: u64);
    cuIpcOpenMemHandle_v2(address: *mut u64, handle: IpcHandle, flags: c_uint);
    cuIpcCloseMemHandle(address: u64);
    cuMemGetAllocationGranularity(granularity: *mut usize, properties: *const Properties, option: c_int);
    cuMemCreate(handle: *mut u64, bytes: usize, properties: *const Properties, flags: u64);
    cuMemRelease(handle: u64);
    cuMemAddressReserve(address: *mut u64, bytes: usize, align: usize, wish: u64, flags: u64);
    cuMemAddressFree(address: u64, bytes: usize);
    cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, flags: u64);
    cuMemUnmap(address: u64, bytes: usize);
    cuMemSetAccess(address: u64, bytes: usize, wanted: *const Access, count: usize);
    cuMemExportToShareableHandle(descriptor: *mut c_int, handle: u64, kind: c_int, flags: u64);
    cuMemImportFromShareableHandle(handle: *mut u64, descriptor: usize, kind: c_int);
}

functions! { nvml:
    nvmlInit_v2();
    nvmlShutdown();
    nvmlDeviceGetCount_v2(count: *mut c_uint);
    nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: *mut usize);
    nvmlDeviceGetHandleByUUID(uuid: *const c_char, device: *mut usize);
    nvmlDeviceGetHandleByPciBusId_v2(address: *const c_char, device: *mut usize);
    nvmlDeviceGetName(device: usize, name: *mut c_char, bytes: c_uint);
    nvmlDeviceGetIndex(device: usize, index: *mut c_uint);
    nvmlDeviceGetP2PStatus(device: usize, peer: usize, capability: c_int, status: *mut c_uint);
    nvmlDeviceGetTopologyCommonAncestor(device: usize, other: usize, level: *mut c_uint);
    nvmlDeviceGetNvLinkState(device: usize, link: c_uint, active: *mut c_uint);
    nvmlDeviceGetNvLinkVersion(device: usize, link: c_uint, version: *mut c_uint);
    nvmlDeviceGetComputeMode(device: usize, mode: *mut c_uint);
}
