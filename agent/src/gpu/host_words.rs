//! Page-locked host memory that copies go through.

use std::ffi::c_void;
use std::rc::Rc;

use super::call::{CallError, call};
use super::context::Context;

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

    /// The address of a word, for a copy; `None` outside.
    pub(super) fn at(&self, word: usize) -> Option<*mut c_void> {
        // SAFETY: inside the allocation, or one past its end.
        (word <= self.words).then(|| unsafe { self.pointer.add(word) }.cast())
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
