//! The kernels of `kernels.ptx` for one context: patterns written and compared.

use std::ffi::c_void;
use std::rc::Rc;
use std::time::Duration;

use super::atomics::Atomics;
use super::call::CallError;
use super::context::Context;
use super::host_words::HostWords;
use super::memory::{Buffer, Windows};
use super::module::{Function, Module};
use super::stream::Stream;

const TEXT: &str = include_str!("kernels.ptx");
/// Threads of a block, and the most blocks of a grid: the loops stride, so windows of any size are covered.
const BLOCK: u32 = 256;
const MOST_BLOCKS: u32 = 128;
/// Comparisons that are waited for together: the data and the guard zones on both sides of it.
const SLOTS: usize = 3;
/// Words of one result: the first wrong word and the number of wrong words, 64 bits each.
const SLOT_WORDS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) seed: u64,
    pub(crate) complement: bool,
}

impl Pattern {
    fn invert(self) -> u32 {
        if self.complement { u32::MAX } else { 0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The first wrong word, counted through all windows.
    pub(crate) first_word: u64,
    pub(crate) words: u64,
}

pub(crate) struct Kernels {
    /// Dropped before what they leave their results in.
    pub(super) module: Module,
    fill: Function,
    check: Function,
    pub(super) exchange: Function,
    pub(super) atomics: Result<Atomics, CallError>,
    /// Where kernels leave their results, what stands there before, and where the results are downloaded to.
    pub(super) results: Buffer,
    before: HostWords,
    pub(super) found: HostWords,
}

impl Kernels {
    /// Compiles and loads them. Code 221 means that the driver's JIT library is missing.
    pub(crate) fn load(context: &Rc<Context>) -> Result<Self, CallError> {
        let module = Module::load(context, TEXT)?;
        let mut before = HostWords::allocate(context, SLOTS * SLOT_WORDS)?;
        before.set(|word| if word % 4 < 2 { u32::MAX } else { 0 });
        Ok(Self {
            fill: module.function(c"fill_windows")?,
            check: module.function(c"check_windows")?,
            exchange: module.function(c"exchange")?,
            atomics: Atomics::load(context),
            module,
            results: Buffer::allocate(context, SLOTS * SLOT_WORDS * 4)?,
            before,
            found: HostWords::allocate(context, SLOTS * SLOT_WORDS)?,
        })
    }

    /// Writes the pattern into the windows by stores of this context's GPU, and fences the system. Does not wait.
    pub(crate) fn fill(
        &self,
        stream: &Stream,
        windows: Windows<'_>,
        pattern: Pattern,
    ) -> Result<(), CallError> {
        let mut arguments = Arguments::of(windows, pattern);
        let mut parameters = arguments.pointers();
        // SAFETY: `fill_windows` takes these six; callers keep the windows until they have waited for the stream.
        unsafe {
            self.module
                .launch(stream, self.fill, grid(windows), BLOCK, &mut parameters)
        }
    }

    /// Compares windows with their patterns by loads of this context's GPU, and waits. At most three at a time.
    pub(crate) fn check(
        &self,
        stream: &Stream,
        asked: &[(Windows<'_>, Pattern)],
        limit: Duration,
    ) -> Result<Vec<Option<Wrong>>, CallError> {
        if asked.len() > SLOTS {
            return Err(too_small());
        }
        let whole = self.slot(0, SLOTS)?;
        stream.upload_from(&self.before, whole)?;
        for (slot, (windows, pattern)) in asked.iter().enumerate() {
            let mut arguments = Arguments::of(*windows, *pattern);
            let [base, stride, words, first, seed, invert] = arguments.pointers();
            let mut out = self.slot(slot, 1)?.pointer;
            let mut parameters = [base, stride, words, first, seed, invert, (&raw mut out).cast()];
            // SAFETY: `check_windows` takes these seven; the stream is waited for below.
            unsafe {
                self.module
                    .launch(stream, self.check, grid(*windows), BLOCK, &mut parameters)
            }?;
        }
        let found = self.results(stream, "cuLaunchKernel", limit)?;
        let (slots, _) = found.as_chunks::<SLOT_WORDS>();
        let wrong = |&[first_low, first_high, low, high]: &[u32; SLOT_WORDS]| Wrong {
            first_word: join(first_low, first_high),
            words: join(low, high),
        };
        let wrong = slots.iter().map(wrong);
        Ok(wrong
            .map(|wrong| (wrong.words != 0).then_some(wrong))
            .take(asked.len())
            .collect())
    }

    /// Downloads all results, and waits for what stands before that in the stream.
    pub(super) fn results(
        &self,
        stream: &Stream,
        call: &'static str,
        limit: Duration,
    ) -> Result<Vec<u32>, CallError> {
        stream.download_to(&self.found, self.slot(0, SLOTS)?)?;
        stream.wait(call, limit)?;
        Ok(self.found.get())
    }

    pub(super) fn slot(&self, slot: usize, count: usize) -> Result<Windows<'_>, CallError> {
        let bytes = SLOT_WORDS * 4;
        self.results
            .window(slot * bytes, count * bytes)
            .ok_or_else(too_small)
    }
}

fn too_small() -> CallError {
    CallError::Refused {
        call: "cuLaunchKernel",
        why: "the result buffer is too small",
    }
}

/// What `fill_windows` and `check_windows` have in common, in their order.
struct Arguments {
    base: u64,
    stride: u64,
    words: u64,
    first: u64,
    seed: u64,
    invert: u32,
}

impl Arguments {
    fn of(windows: Windows<'_>, pattern: Pattern) -> Self {
        Self {
            base: windows.pointer,
            stride: windows.stride,
            words: windows.words as u64,
            first: 0,
            seed: pattern.seed,
            invert: pattern.invert(),
        }
    }

    fn pointers(&mut self) -> [*mut c_void; 6] {
        [
            (&raw mut self.base).cast(),
            (&raw mut self.stride).cast(),
            (&raw mut self.words).cast(),
            (&raw mut self.first).cast(),
            (&raw mut self.seed).cast(),
            (&raw mut self.invert).cast(),
        ]
    }
}

fn grid(windows: Windows<'_>) -> [u32; 2] {
    let blocks = u32::try_from(windows.words.div_ceil(BLOCK as usize)).unwrap_or(MOST_BLOCKS);
    [blocks.clamp(1, MOST_BLOCKS), windows.count]
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | (u64::from(high) << 32)
}
