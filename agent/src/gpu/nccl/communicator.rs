//! Ranks of a communicator.

use std::ffi::c_void;
use std::rc::Rc;

use super::{Api, Nccl};
use crate::gpu::call::{CallError, call};
use crate::gpu::context::Context;

pub(super) type Handle = *mut c_void;

/// `ncclUniqueId`, which goes to the function by value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct UniqueId {
    bytes: [u8; 128],
}

impl UniqueId {
    /// In hexadecimal digits, to be sent to other processes.
    pub(crate) fn to_text(self) -> String {
        hex::encode(self.bytes)
    }

    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let mut bytes = [0; 128];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self { bytes })
    }
}

pub(crate) struct Communicator {
    api: Rc<Api>,
    pub(super) handle: Handle,
    pub(super) context: Rc<Context>,
}

impl Nccl {
    /// A name under which ranks meet. The process that makes it serves them.
    pub(crate) fn unique_id(&self) -> Result<UniqueId, CallError> {
        let mut id = UniqueId { bytes: [0; 128] };
        // SAFETY: a place for 128 bytes.
        unsafe { call!(self.api, ncclGetUniqueId(&raw mut id)) }?;
        Ok(id)
    }

    /// Joins some of them, each in a context of its own, to a communicator of so many ranks. Returns when all have joined.
    pub(crate) fn join(
        &self,
        id: UniqueId,
        ranks: i32,
        own: &[(i32, &Rc<Context>)],
    ) -> Result<Vec<Communicator>, CallError> {
        let mut handles: Vec<Handle> = vec![std::ptr::null_mut(); own.len()];
        let joined = self.group(|| {
            for ((rank, context), handle) in own.iter().zip(&mut handles) {
                context.enter()?;
                // SAFETY: a place for one handle, which lives until the group has ended.
                unsafe {
                    call!(
                        self.api,
                        ncclCommInitRank(std::ptr::from_mut(handle), ranks, id, *rank)
                    )
                }?;
            }
            Ok(())
        });
        for (_, context) in own {
            context.forget_current();
        }
        joined?;
        let made = own
            .iter()
            .zip(handles)
            .map(|((_, context), handle)| Communicator {
                api: Rc::clone(&self.api),
                handle,
                context: Rc::clone(context),
            });
        Ok(made.collect())
    }
}

impl Communicator {
    /// What went wrong behind the calls' backs, such as another rank's end.
    pub(super) fn check(&self) -> Result<(), CallError> {
        let mut result = 0;
        // SAFETY: a live handle and a place for one int.
        unsafe { call!(self.api, ncclCommGetAsyncError(self.handle, &raw mut result)) }?;
        self.api.checked("ncclCommGetAsyncError", result)
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: destroys what was joined, once. Nothing can be done about a failure here.
            let _ = unsafe { call!(self.api, ncclCommDestroy(self.handle)) };
            self.context.forget_current();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::UniqueId;

    #[test]
    fn ids_come_back_as_sent() {
        let id = UniqueId {
            bytes: std::array::from_fn(|at| u8::try_from(at * 2).unwrap_or(0)),
        };
        assert_eq!(UniqueId::from_text(&id.to_text()), Some(id));
        let not_ascii = "é".repeat(128);
        for wrong in ["", "00", &"x".repeat(256), not_ascii.as_str()] {
            assert_eq!(UniqueId::from_text(wrong), None);
        }
    }
}
