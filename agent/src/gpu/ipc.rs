//! Device memory of another process by a legacy handle (`cuIpc…`), which is 64 bytes that travel as text.

use std::rc::Rc;

use cudarc::driver::sys::{CUdeviceptr, CUipcMem_flags, CUipcMemHandle};

use super::call::{CallError, call};
use super::context::Context;
use super::memory::{Buffer, Span};

const HANDLE_BYTES: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LegacyHandle([u8; HANDLE_BYTES]);

impl LegacyHandle {
    /// From the bytes that [`Self::bytes`] gave; `None` where they are too few or too many.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Buffer {
    pub(crate) fn share_legacy(&self, context: &Context) -> Result<LegacyHandle, CallError> {
        context.enter()?;
        let mut handle = CUipcMemHandle {
            reserved: [0; HANDLE_BYTES],
        };
        // SAFETY: a place for one handle, and a live allocation.
        unsafe { call!(context.api, cuIpcGetMemHandle(&raw mut handle, self.pointer)) }?;
        Ok(LegacyHandle(handle.reserved.map(|byte| byte.to_ne_bytes()[0])))
    }
}

pub(crate) struct Opened {
    context: Rc<Context>,
    pointer: CUdeviceptr,
    bytes: usize,
}

impl Opened {
    /// Opens it. `bytes` is what its owner says that it has.
    pub(crate) fn open(context: &Rc<Context>, handle: LegacyHandle, bytes: usize) -> Result<Self, CallError> {
        context.enter()?;
        let handle = CUipcMemHandle {
            reserved: handle.0.map(|byte| std::ffi::c_char::from_ne_bytes([byte])),
        };
        let flags = CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        let mut pointer: CUdeviceptr = 0;
        // SAFETY: a place for one address; a handle is checked by the driver.
        unsafe {
            call!(
                context.api,
                cuIpcOpenMemHandle_v2(&raw mut pointer, handle, flags)
            )
        }?;
        Ok(Self {
            context: Rc::clone(context),
            pointer,
            bytes,
        })
    }

    pub(crate) fn span(&self) -> Span<'_> {
        Span::new(self.pointer, self.bytes)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: closes what `open` opened, once; windows borrow it, so none is left.
            let _ = unsafe { call!(self.context.api, cuIpcCloseMemHandle(self.pointer)) };
        }
    }
}
