//! The C interface of the driver, as far as the tests call it.

use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

macro_rules! functions {
    ($($name:ident ( $($argument:ident : $kind:ty),* );)*) => {
        impl Cuda {
            $(pub(crate) fn $name(&self, $($argument: $kind),*) -> c_int {
                // SAFETY: the signature is that of the interface; the pointers are those of live values of the tests.
                unsafe {
                    let function: libloading::Symbol<'_, unsafe extern "C" fn($($kind),*) -> c_int> =
                        self.0.get(stringify!($name)).unwrap();
                    function($($argument),*)
                }
            })*
        }
    };
}

/// An opened library.
pub(crate) struct Cuda(pub(crate) Library);

impl Cuda {
    /// Opens the driver library by its name.
    pub(crate) fn open() -> Result<Self, libloading::Error> {
        // SAFETY: the library's initialisers are Rust's own.
        unsafe { Library::new("libcuda.so.1") }.map(Self)
    }

    /// Initialised, with the contexts of all devices retained and the first one current.
    pub(crate) fn start(&self) -> Vec<usize> {
        assert_eq!(self.cuInit(0), 0);
        let mut count = 0;
        assert_eq!(self.cuDeviceGetCount(&raw mut count), 0);
        let contexts: Vec<usize> = (0..count)
            .map(|device| {
                let mut context = 0;
                assert_eq!(self.cuDevicePrimaryCtxRetain(&raw mut context, device), 0);
                context
            })
            .collect();
        assert_eq!(self.cuCtxSetCurrent(contexts[0]), 0);
        contexts
    }

    /// Device memory of a context.
    pub(crate) fn allocate(&self, context: usize, bytes: usize) -> u64 {
        let mut address = 0;
        assert_eq!(self.cuCtxSetCurrent(context), 0);
        assert_eq!(self.cuMemAlloc_v2(&raw mut address, bytes), 0);
        address
    }

    /// The bytes at an address, as the host sees them through a context.
    pub(crate) fn read(&self, context: usize, address: u64, bytes: usize) -> Vec<u8> {
        let mut into = vec![0xee_u8; bytes];
        assert_eq!(self.cuCtxSetCurrent(context), 0);
        assert_eq!(self.cuMemcpyDtoH_v2(into.as_mut_ptr().cast(), address, bytes), 0);
        into
    }

    /// Writes bytes from the host.
    pub(crate) fn write(&self, context: usize, address: u64, bytes: &[u8]) {
        assert_eq!(self.cuCtxSetCurrent(context), 0);
        assert_eq!(
            self.cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()),
            0
        );
    }

    /// Enables access of each to the other.
    pub(crate) fn enable_both(&self, contexts: &[usize]) {
        for (own, peer) in [(contexts[0], contexts[1]), (contexts[1], contexts[0])] {
            assert_eq!(self.cuCtxSetCurrent(own), 0);
            assert_eq!(self.cuCtxEnablePeerAccess(peer, 0), 0);
        }
    }

    /// A non-blocking stream of a context.
    pub(crate) fn stream(&self, context: usize) -> usize {
        let mut stream = 0;
        assert_eq!(self.cuCtxSetCurrent(context), 0);
        assert_eq!(self.cuStreamCreate(&raw mut stream, 1), 0);
        stream
    }

    /// A kernel of a text, in the current context.
    pub(crate) fn function(&self, ptx: &CStr, name: &CStr) -> usize {
        let (mut module, mut function) = (0, 0);
        assert_eq!(
            self.cuModuleLoadData(&raw mut module, ptx.as_ptr().cast()),
            0,
            "{name:?}"
        );
        assert_eq!(
            self.cuModuleGetFunction(&raw mut function, module, name.as_ptr()),
            0,
            "{name:?}"
        );
        function
    }

    /// Launches on a stream of the current context; all arguments are 64 bits wide.
    pub(crate) fn launch(
        &self,
        function: usize,
        blocks: u32,
        threads: u32,
        stream: usize,
        arguments: &[u64],
    ) -> c_int {
        let mut pointers: Vec<*const u64> = arguments.iter().map(std::ptr::from_ref).collect();
        let list = pointers.as_mut_ptr().cast();
        self.cuLaunchKernel(
            function,
            blocks,
            1,
            1,
            threads,
            1,
            1,
            0,
            stream,
            list,
            std::ptr::null_mut(),
        )
    }
}

functions! {
    cuInit(flags: c_uint);
    cuDriverGetVersion(version: *mut c_int);
    cuGetErrorName(error: c_int, text: *mut *const c_char);
    cuGetErrorString(error: c_int, text: *mut *const c_char);
    cuDeviceGetCount(count: *mut c_int);
    cuDeviceGetName(name: *mut c_char, bytes: c_int, device: c_int);
    cuDeviceGetPCIBusId(text: *mut c_char, bytes: c_int, device: c_int);
    cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int);
    cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int);
    cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int);
    cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int);
    cuDevicePrimaryCtxRelease_v2(device: c_int);
    cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int);
    cuCtxSetCurrent(context: usize);
    cuCtxSynchronize();
    cuCtxEnablePeerAccess(peer: usize, flags: c_uint);
    cuCtxDisablePeerAccess(peer: usize);
    cuMemAlloc_v2(address: *mut u64, bytes: usize);
    cuMemFree_v2(address: u64);
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    cuMemHostAlloc(address: *mut u64, bytes: usize, flags: c_uint);
    cuMemFreeHost(address: u64);
    cuMemcpyPeerAsync(to: u64, to_context: usize, from: u64, from_context: usize, bytes: usize, stream: usize);
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
    cuEventRecord(event: usize, stream: usize);
    cuEventQuery(event: usize);
    cuEventSynchronize(event: usize);
    cuEventElapsedTime(milliseconds: *mut f32, start: usize, end: usize);
    cuModuleLoadData(module: *mut usize, image: *const c_void);
    cuModuleLoadDataEx(module: *mut usize, image: *const c_void, count: c_uint, options: *mut c_int, values: *mut usize);
    cuModuleGetFunction(function: *mut usize, module: usize, name: *const c_char);
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

/// `CUipcMemHandle`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct IpcHandle(pub(crate) [u8; 64]);

/// `CUmemAllocationProp` of pinned memory of a device.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Properties {
    pub(crate) kind: c_int,
    pub(crate) handle_types: c_int,
    pub(crate) location: [c_int; 2],
    pub(crate) windows: usize,
    pub(crate) flags: u64,
}

impl Properties {
    /// Of a device, to be exported as a descriptor.
    pub(crate) fn exportable(device: c_int) -> Self {
        Self {
            kind: 1,
            handle_types: 1,
            location: [1, device],
            windows: 0,
            flags: 0,
        }
    }
}

/// `CUmemAccessDesc` of a device.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Access {
    pub(crate) location: [c_int; 2],
    pub(crate) flags: c_int,
}
