//! Device memory: allocations, and the windows into them that checks work on.

use std::marker::PhantomData;
use std::rc::Rc;

use cudarc::driver::sys::CUdeviceptr;

use super::call::{CallError, call};
use super::context::Context;

/// An allocation on one GPU; freed when dropped, which waits for the work that uses it.
pub(crate) struct Buffer {
    context: Rc<Context>,
    pub(super) pointer: CUdeviceptr,
    bytes: usize,
}

impl Buffer {
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

    pub(crate) fn span(&self) -> Span<'_> {
        Span::new(self.pointer, self.bytes)
    }

    /// The words from byte `offset` on; `None` outside the buffer or off a word's boundary.
    pub(crate) fn window(&self, offset: usize, bytes: usize) -> Option<Windows<'_>> {
        self.span().windows(offset, 0, 1, bytes)
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

/// Device memory that something alive holds, whoever allocated it.
#[derive(Clone, Copy)]
pub(crate) struct Span<'a> {
    pointer: CUdeviceptr,
    bytes: usize,
    _memory: PhantomData<&'a ()>,
}

impl<'a> Span<'a> {
    /// The caller holds `bytes` bytes from `pointer` on for as long as `'a`.
    pub(super) fn new(pointer: CUdeviceptr, bytes: usize) -> Self {
        Self {
            pointer,
            bytes,
            _memory: PhantomData,
        }
    }

    #[cfg(test)]
    pub(crate) fn of_nothing(bytes: usize) -> Self {
        Self::new(0, bytes)
    }

    /// `count` windows of `bytes` bytes, the first at `offset`, each `stride` bytes after the one before; `None`
    /// where they do not fit, overlap or lie off a word's boundary.
    pub(crate) fn windows(
        self,
        offset: usize,
        stride: usize,
        count: u32,
        bytes: usize,
    ) -> Option<Windows<'a>> {
        let before_last = usize::try_from(count.checked_sub(1)?).ok()?.checked_mul(stride)?;
        let end = offset.checked_add(before_last)?.checked_add(bytes)?;
        let aligned = [offset, stride, bytes].iter().all(|part| part.is_multiple_of(4));
        if end > self.bytes || !aligned || (count > 1 && stride < bytes) {
            return None;
        }
        Some(Windows {
            pointer: self.pointer.checked_add(offset as u64)?,
            stride: stride as u64,
            count,
            words: bytes / 4,
            _memory: PhantomData,
        })
    }
}

/// Equal windows into device memory at equal distances, each a whole number of 32-bit words.
#[derive(Clone, Copy)]
pub(crate) struct Windows<'a> {
    pub(super) pointer: CUdeviceptr,
    pub(super) stride: u64,
    pub(crate) count: u32,
    pub(crate) words: usize,
    _memory: PhantomData<&'a ()>,
}

impl<'a> Windows<'a> {
    pub(crate) fn each(self) -> impl Iterator<Item = Self> + 'a {
        (0..u64::from(self.count)).map(move |index| Self {
            pointer: self.pointer + index * self.stride,
            stride: 0,
            count: 1,
            ..self
        })
    }

    pub(crate) fn first_words(self, words: usize) -> Self {
        Self {
            words: self.words.min(words),
            ..self
        }
    }

    pub(crate) fn all_words(self) -> usize {
        self.words.saturating_mul(self.count as usize)
    }

    pub(crate) fn first_byte_of(self, buffer: &Buffer) -> u64 {
        self.pointer.saturating_sub(buffer.pointer)
    }

    /// Bytes from the first window's start to a word, counted through all windows.
    pub(crate) fn offset_of(self, word: u64) -> u64 {
        let words = (self.words as u64).max(1);
        (word / words) * self.stride + (word % words) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_stay_inside_their_memory() {
        let span = Span::new(0x1000, 1000);
        let windows = span.windows(100, 300, 4, 0).unwrap();
        assert_eq!((windows.count, windows.all_words()), (4, 0));
        assert!(span.windows(100, 300, 4, 4).is_none(), "ends at 1004");
        assert!(span.windows(0, 100, 2, 104).is_none(), "overlaps");
        assert!(span.windows(2, 100, 2, 4).is_none(), "not aligned");
        assert!(span.windows(0, 100, 0, 4).is_none(), "none");
        assert!(span.windows(usize::MAX, 4, 2, 4).is_none());
    }

    #[test]
    fn a_word_is_found_in_its_window() {
        let windows = Span::new(0, 4096).windows(0, 1024, 4, 64).unwrap();
        assert_eq!(windows.offset_of(0), 0);
        assert_eq!(windows.offset_of(15), 60);
        assert_eq!(windows.offset_of(16), 1024);
        assert_eq!(windows.offset_of(63), 3 * 1024 + 60);
        let starts: Vec<u64> = windows.each().map(|window| window.pointer).collect();
        assert_eq!(starts, [0, 1024, 2048, 3072]);
    }
}
