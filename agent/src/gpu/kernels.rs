//! The two kernels of `kernels.ptx`, JIT-compiled for one context.

use std::ffi::{CString, c_void};
use std::rc::Rc;
use std::time::Duration;

use cudarc::driver::sys::{CUfunction, CUmodule};

use super::call::{CallError, call};
use super::context::Context;
use super::memory::{Buffer, Window};
use super::stream::Stream;

const TEXT: &str = include_str!("kernels.ptx");
/// Threads of a block, and the most blocks of a grid: the loops stride, so any size of memory is covered.
const BLOCK: u32 = 256;
const MOST_BLOCKS: u32 = 128;

/// A seeded pattern, or its complement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// Seed of the words, see `probe::pattern`.
    pub(crate) seed: u64,
    /// Every word with all bits flipped.
    pub(crate) complement: bool,
}

impl Pattern {
    fn invert(self) -> u32 {
        if self.complement { u32::MAX } else { 0 }
    }
}

/// What a comparison found wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// Index of the first wrong word.
    pub(crate) first_word: u64,
    /// Number of wrong words.
    pub(crate) words: u64,
}

/// The loaded kernels.
pub(crate) struct Kernels {
    context: Rc<Context>,
    module: CUmodule,
    fill: CUfunction,
    check: CUfunction,
    /// Where `check_pattern` leaves its two 64-bit results.
    result: Buffer,
}

impl Kernels {
    /// Compiles and loads them. Code 221 means that the driver's JIT library is missing.
    pub(crate) fn load(context: &Rc<Context>) -> Result<Self, CallError> {
        let result = Buffer::allocate(context, 16)?;
        let text = CString::new(TEXT).map_err(|_| CallError::Refused {
            call: "cuModuleLoadData",
            why: "the kernels' text holds a zero",
        })?;
        context.enter()?;
        let mut module: CUmodule = std::ptr::null_mut();
        // SAFETY: a place for one handle, and a zero-terminated PTX text.
        unsafe {
            call!(
                context.api,
                cuModuleLoadData(&raw mut module, text.as_ptr().cast())
            )
        }?;
        let mut kernels = Self {
            context: Rc::clone(context),
            module,
            fill: std::ptr::null_mut(),
            check: std::ptr::null_mut(),
            result,
        };
        // Resolved now: a kernel that is loaded lazily behind a running one can deadlock.
        kernels.fill = kernels.function(c"fill_pattern")?;
        kernels.check = kernels.function(c"check_pattern")?;
        Ok(kernels)
    }

    fn function(&self, name: &std::ffi::CStr) -> Result<CUfunction, CallError> {
        let mut function: CUfunction = std::ptr::null_mut();
        // SAFETY: a place for one handle, a live module, a zero-terminated name.
        unsafe {
            call!(
                self.context.api,
                cuModuleGetFunction(&raw mut function, self.module, name.as_ptr())
            )
        }?;
        Ok(function)
    }

    /// Writes the pattern into the window by stores of this context's GPU, fences the system, and waits.
    pub(crate) fn fill(
        &self,
        stream: &Stream,
        window: Window<'_>,
        pattern: Pattern,
        limit: Duration,
    ) -> Result<(), CallError> {
        let (mut base, mut words) = (window.pointer, window.words as u64);
        let (mut seed, mut invert) = (pattern.seed, pattern.invert());
        let mut parameters: [*mut c_void; 4] = [
            (&raw mut base).cast(),
            (&raw mut words).cast(),
            (&raw mut seed).cast(),
            (&raw mut invert).cast(),
        ];
        self.launch(stream, self.fill, window.words, &mut parameters)?;
        stream.wait("cuLaunchKernel", limit)
    }

    /// Compares the window with the pattern by loads of this context's GPU.
    pub(crate) fn check(
        &self,
        stream: &Stream,
        window: Window<'_>,
        pattern: Pattern,
        limit: Duration,
    ) -> Result<Option<Wrong>, CallError> {
        let refused = CallError::Refused {
            call: "cuLaunchKernel",
            why: "the result buffer is too small",
        };
        let zone = |offset, bytes| self.result.window(offset, bytes).ok_or_else(|| refused.clone());
        let (whole, first, count) = (zone(0, 16)?, zone(0, 8)?, zone(8, 8)?);
        stream.set(first, u32::MAX, limit)?;
        stream.set(count, 0, limit)?;

        let (mut base, mut words) = (window.pointer, window.words as u64);
        let (mut seed, mut invert) = (pattern.seed, pattern.invert());
        let mut out = whole.pointer;
        let mut parameters: [*mut c_void; 5] = [
            (&raw mut base).cast(),
            (&raw mut words).cast(),
            (&raw mut seed).cast(),
            (&raw mut invert).cast(),
            (&raw mut out).cast(),
        ];
        self.launch(stream, self.check, window.words, &mut parameters)?;
        stream.wait("cuLaunchKernel", limit)?;

        let found = stream.download(whole, limit)?;
        let &[first_low, first_high, count_low, count_high] = found.as_slice() else {
            return Err(refused);
        };
        let words = join(count_low, count_high);
        let first_word = join(first_low, first_high);
        Ok((words != 0).then_some(Wrong { first_word, words }))
    }

    fn launch(
        &self,
        stream: &Stream,
        function: CUfunction,
        words: usize,
        parameters: &mut [*mut c_void],
    ) -> Result<(), CallError> {
        let blocks = u32::try_from(words.div_ceil(BLOCK as usize)).unwrap_or(MOST_BLOCKS);
        let grid = blocks.clamp(1, MOST_BLOCKS);
        self.context.enter()?;
        let none = std::ptr::null_mut();
        // SAFETY: `parameters` points to one value for each parameter of the kernel, of its size, alive until the
        // call returns (it copies them). The kernels touch only the windows, which their callers keep alive until
        // the stream has been waited for.
        unsafe {
            call!(
                self.context.api,
                cuLaunchKernel(
                    function,
                    grid,
                    1,
                    1,
                    BLOCK,
                    1,
                    1,
                    0,
                    stream.handle,
                    parameters.as_mut_ptr(),
                    none
                )
            )
        }
    }
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | (u64::from(high) << 32)
}

impl Drop for Kernels {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: unloads what `load` loaded, once.
            let _ = unsafe { call!(self.context.api, cuModuleUnload(self.module)) };
        }
    }
}
