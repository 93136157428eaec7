//! Device memory, windows into it, and the pinned host memory that copies go through.

use std::ffi::c_void;
use std::rc::Rc;

use cudarc::driver::sys::CUdeviceptr;

use super::call::{CallError, call};
use super::context::Context;

/// An allocation on one GPU; freed when dropped, which waits for the work that uses it.
pub(crate) struct Buffer {
    context: Rc<Context>,
    pointer: CUdeviceptr,
    bytes: usize,
}

/// Part of a [`Buffer`], a whole number of 32-bit words.
#[derive(Clone, Copy)]
pub(crate) struct Window<'a> {
    pub(super) pointer: CUdeviceptr,
    pub(super) words: usize,
    _buffer: &'a Buffer,
}

impl Buffer {
    /// Allocates on the context's GPU.
    pub(crate) fn allocate(context: &Rc<Context>, bytes: usize) -> Result<Self, CallError> {
        context.enter()?;
        let mut pointer: CUdeviceptr = 0;
        // SAFETY: a place for one device address.
        unsafe { call!(context.api, cuMemAlloc_v2(&raw mut pointer, bytes)) }?;
        Ok(Self {
            context: Rc::clone(context),
            pointer,
            bytes,
        })
    }

    /// The words from byte `offset` on; `None` outside the buffer or off a word's boundary.
    pub(crate) fn window(&self, offset: usize, bytes: usize) -> Option<Window<'_>> {
        let end = offset.checked_add(bytes)?;
        if end > self.bytes || !offset.is_multiple_of(4) || !bytes.is_multiple_of(4) {
            return None;
        }
        Some(Window {
            pointer: self.pointer.checked_add(offset as u64)?,
            words: bytes / 4,
            _buffer: self,
        })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: frees what `allocate` allocated, once; windows borrow the buffer, so none is left.
            let _ = unsafe { call!(self.context.api, cuMemFree_v2(self.pointer)) };
        }
    }
}

impl Window<'_> {
    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.words * 4
    }
}

/// Page-locked host memory of whole words. Only this room sees it: what the GPU may still write must not be read.
pub(super) struct HostWords {
    context: Rc<Context>,
    pub(super) pointer: *mut u32,
    words: usize,
}

impl HostWords {
    /// Allocates `words` words and sets them to zero.
    pub(super) fn allocate(context: &Rc<Context>, words: usize) -> Result<Self, CallError> {
        context.enter()?;
        let mut pointer: *mut c_void = std::ptr::null_mut();
        let bytes = words * 4;
        // SAFETY: a place for one pointer; 0 asks for plain page-locked memory.
        unsafe { call!(context.api, cuMemHostAlloc(&raw mut pointer, bytes, 0)) }?;
        let pointer = pointer.cast::<u32>();
        // SAFETY: the driver gave `bytes` writable bytes, page-aligned.
        unsafe { pointer.write_bytes(0, words) };
        Ok(Self {
            context: Rc::clone(context),
            pointer,
            words,
        })
    }

    /// Sets every word, before the memory is given to a copy.
    pub(super) fn set(&mut self, word: impl Fn(u64) -> u32) {
        for index in 0..self.words {
            // SAFETY: `index` is inside the allocation, and no copy uses it yet.
            unsafe { self.pointer.add(index).write(word(index as u64)) };
        }
    }

    /// The words, once the copy into them is known to have ended.
    pub(super) fn get(&self) -> Vec<u32> {
        // SAFETY: the allocation has `words` initialised words; the GPU writes them unseen by the compiler, so each
        // is read as volatile.
        (0..self.words)
            .map(|index| unsafe { self.pointer.add(index).read_volatile() })
            .collect()
    }
}

impl Drop for HostWords {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: frees what `allocate` allocated, once.
            let _ = unsafe { call!(self.context.api, cuMemFreeHost(self.pointer.cast())) };
        }
    }
}
