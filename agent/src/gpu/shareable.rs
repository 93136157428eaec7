//! Device memory that another process maps by a file descriptor (`cuMemCreate` and its family).
//!
//! ```text
//! owner:  create -> export (a descriptor) -> reserve -> map -> set access
//! other:  import (the descriptor)         -> reserve -> map -> set access
//! ```

use std::ffi::c_void;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::rc::Rc;

use cudarc::driver::sys::{
    CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType, CUmemAllocationProp, CUmemAllocationProp_st__bindgen_ty_1,
    CUmemAllocationType, CUmemGenericAllocationHandle, CUmemLocation, CUmemLocationType,
};

use super::call::{CallError, call};
use super::context::Context;
use super::memory::Span;

const DESCRIPTOR: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// Physical memory of one GPU, mapped for another or the same GPU.
pub(crate) struct Shareable {
    context: Rc<Context>,
    handle: CUmemGenericAllocationHandle,
    pointer: CUdeviceptr,
    bytes: usize,
    /// How far it was set up, and so what is to be undone.
    mapped: bool,
}

impl Shareable {
    /// Memory of at least `bytes` bytes on the context's GPU.
    pub(crate) fn create(context: &Rc<Context>, bytes: usize) -> Result<Self, CallError> {
        context.enter()?;
        let properties = properties(context);
        let mut granularity: usize = 0;
        let minimum = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM as u32;
        // SAFETY: a place for one size, and properties that outlive the call.
        unsafe {
            call!(
                context.api,
                cuMemGetAllocationGranularity(&raw mut granularity, &raw const properties, minimum)
            )
        }?;
        let bytes = bytes.next_multiple_of(granularity.max(1));
        let mut handle: CUmemGenericAllocationHandle = 0;
        // SAFETY: a place for one handle; 0 is the only flag there is.
        unsafe {
            call!(
                context.api,
                cuMemCreate(&raw mut handle, bytes, &raw const properties, 0)
            )
        }?;
        Self::map(context, handle, bytes)
    }

    pub(crate) fn export(&self) -> Result<OwnedFd, CallError> {
        self.context.enter()?;
        let mut descriptor: RawFd = -1;
        let place: *mut RawFd = &raw mut descriptor;
        // SAFETY: this type of handle is an int; 0 is the only flag there is.
        unsafe {
            call!(
                self.context.api,
                cuMemExportToShareableHandle(place.cast::<c_void>(), self.handle, DESCRIPTOR.0, 0)
            )
        }?;
        if descriptor < 0 {
            return Err(CallError::Refused {
                call: "cuMemExportToShareableHandle",
                why: "it gave no descriptor",
            });
        }
        // SAFETY: the driver opened it for us, and nobody else knows it.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
    }

    /// Maps memory of another process for the context's GPU. `bytes` is its whole size, as its owner says.
    pub(crate) fn import(
        context: &Rc<Context>,
        descriptor: BorrowedFd<'_>,
        bytes: usize,
    ) -> Result<Self, CallError> {
        context.enter()?;
        let mut handle: CUmemGenericAllocationHandle = 0;
        let number = usize::try_from(descriptor.as_fd().as_raw_fd()).unwrap_or(usize::MAX);
        // The number itself travels in the pointer, as the interface has it.
        let number = std::ptr::without_provenance_mut::<c_void>(number);
        // SAFETY: a place for one handle, and an open descriptor.
        unsafe {
            call!(
                context.api,
                cuMemImportFromShareableHandle(&raw mut handle, number, DESCRIPTOR.0)
            )
        }?;
        Self::map(context, handle, bytes)
    }

    /// Reserves addresses, maps the memory there, and lets the context's GPU read and write it. Takes the handle.
    fn map(
        context: &Rc<Context>,
        handle: CUmemGenericAllocationHandle,
        bytes: usize,
    ) -> Result<Self, CallError> {
        let mut memory = Self {
            context: Rc::clone(context),
            handle,
            pointer: 0,
            bytes,
            mapped: false,
        };
        // SAFETY: a place for one address; no wish as to alignment or address.
        unsafe {
            call!(
                context.api,
                cuMemAddressReserve(&raw mut memory.pointer, bytes, 0, 0, 0)
            )
        }?;
        // SAFETY: the range is reserved and empty, the handle lives.
        unsafe { call!(context.api, cuMemMap(memory.pointer, bytes, 0, handle, 0)) }?;
        memory.mapped = true;
        let access = CUmemAccessDesc {
            location: location(context),
            flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: one description that outlives the call, and a mapped range.
        unsafe {
            call!(
                context.api,
                cuMemSetAccess(memory.pointer, bytes, &raw const access, 1)
            )
        }?;
        Ok(memory)
    }

    pub(crate) fn span(&self) -> Span<'_> {
        Span::new(self.pointer, self.bytes)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Shareable {
    fn drop(&mut self) {
        if self.context.enter().is_err() {
            return;
        }
        let api = &self.context.api;
        if self.mapped {
            // SAFETY: undoes `map`, once; windows borrow the memory, so none is left.
            let _ = unsafe { call!(api, cuMemUnmap(self.pointer, self.bytes)) };
        }
        if self.pointer != 0 {
            // SAFETY: as above.
            let _ = unsafe { call!(api, cuMemAddressFree(self.pointer, self.bytes)) };
        }
        // SAFETY: as above; the memory itself goes when nobody maps it any more.
        let _ = unsafe { call!(api, cuMemRelease(self.handle)) };
    }
}

fn location(context: &Context) -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        id: context.device.handle,
    }
}

fn properties(context: &Context) -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: DESCRIPTOR,
        location: location(context),
        win32HandleMetaData: std::ptr::null_mut(),
        allocFlags: CUmemAllocationProp_st__bindgen_ty_1 {
            compressionType: 0,
            gpuDirectRDMACapable: 0,
            usage: 0,
            reserved: [0; 4],
        },
    }
}
