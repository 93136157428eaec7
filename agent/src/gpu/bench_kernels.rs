//! The kernels of `bench.ptx` for one context.

use std::ffi::c_void;
use std::rc::Rc;
use std::time::Duration;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT as MULTIPROCESSORS;

use super::call::CallError;
use super::context::Context;
use super::driver::attribute;
use super::memory::Buffer;
use super::module::{Function, Module};
use super::stream::Stream;

const TEXT: &str = include_str!("bench.ptx");
/// Threads of a block that copies; with one block a multiprocessor, as nvbandwidth has it.
const THREADS: u32 = 512;
/// Bytes that a thread moves at a time.
const VECTOR: usize = 16;
/// Cycles that a nanosecond has at most on any GPU.
const MOST_CYCLES: u64 = 4;

pub(crate) struct BenchKernels {
    /// Dropped before what they leave their results in.
    module: Module,
    gate: Function,
    copy: Function,
    chase: Function,
    /// Where a chase leaves what it ended at.
    out: Buffer,
    pub(super) blocks: u32,
}

impl BenchKernels {
    /// Compiles and loads them. Code 221 means that the driver's JIT library is missing.
    pub(crate) fn load(context: &Rc<Context>) -> Result<Self, CallError> {
        let blocks = attribute(&context.api, MULTIPROCESSORS, context.device)?;
        let module = Module::load(context, TEXT)?;
        Ok(Self {
            gate: module.function(c"gate")?,
            copy: module.function(c"copy_vectors")?,
            chase: module.function(c"chase")?,
            module,
            out: Buffer::allocate(context, VECTOR)?,
            blocks: u32::try_from(blocks).unwrap_or(1).max(1),
        })
    }

    /// Keeps the stream until the word at `flag` is set, at most `limit`.
    ///
    /// # Safety
    /// `flag` is the address of two words of page-locked memory that is kept until the stream has been waited for.
    pub(super) unsafe fn keep(&self, stream: &Stream, flag: u64, limit: Duration) -> Result<(), CallError> {
        let mut flag = flag;
        let mut limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX / MOST_CYCLES);
        let mut cycles = limit.saturating_mul(MOST_CYCLES);
        let mut parameters: [*mut c_void; 3] = [
            (&raw mut flag).cast(),
            (&raw mut limit).cast(),
            (&raw mut cycles).cast(),
        ];
        // SAFETY: `gate` takes these three; the caller keeps the memory.
        unsafe { self.module.launch(stream, self.gate, [1, 1], 1, &mut parameters) }
    }

    /// Copies so often by one launch.
    ///
    /// # Safety
    /// Both addresses have `bytes` bytes that this context can reach, a multiple of 16 and aligned to 16, which are kept
    /// until the stream has been waited for.
    pub(super) unsafe fn copy(
        &self,
        stream: &Stream,
        (to, from): (u64, u64),
        bytes: usize,
        times: u32,
    ) -> Result<(), CallError> {
        if times == 0 {
            return Ok(());
        }
        let (mut to, mut from, mut times) = (to, from, times);
        let mut vectors = (bytes / VECTOR) as u64;
        let mut parameters: [*mut c_void; 4] = [
            (&raw mut to).cast(),
            (&raw mut from).cast(),
            (&raw mut vectors).cast(),
            (&raw mut times).cast(),
        ];
        // Small copies get no more threads than they have vectors.
        let needed = u32::try_from(vectors.div_ceil(u64::from(THREADS))).unwrap_or(u32::MAX);
        let grid = [self.blocks.min(needed.max(1)), 1];
        // SAFETY: `copy_vectors` takes these four; the caller keeps the memory.
        unsafe {
            self.module
                .launch(stream, self.copy, grid, THREADS, &mut parameters)
        }
    }

    /// Follows a ring for `hops` hops from one multiprocessor after the other.
    ///
    /// # Safety
    /// `start` is a ring of addresses that this context can reach and that are kept until the stream has been waited
    /// for.
    pub(super) unsafe fn chase(&self, stream: &Stream, start: u64, hops: u32) -> Result<(), CallError> {
        let mut out = self.out.pointer;
        let (mut start, mut each) = (start, (hops / self.blocks).max(1));
        for block in 0..self.blocks.min(hops.max(1)) {
            let mut block = block;
            let mut parameters: [*mut c_void; 4] = [
                (&raw mut start).cast(),
                (&raw mut each).cast(),
                (&raw mut block).cast(),
                (&raw mut out).cast(),
            ];
            let grid = [self.blocks, 1];
            // SAFETY: `chase` takes these four; the caller keeps the ring.
            unsafe { self.module.launch(stream, self.chase, grid, 1, &mut parameters) }?;
        }
        Ok(())
    }

    pub(super) fn hops(&self, asked: u32) -> u32 {
        (asked / self.blocks).max(1) * self.blocks.min(asked.max(1))
    }
}
