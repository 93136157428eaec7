//! The kernel of `atomics.ptx`: additions that are one step for the whole system.

use std::ffi::c_void;
use std::rc::Rc;

use super::call::CallError;
use super::context::Context;
use super::kernels::Kernels;
use super::memory::Windows;
use super::module::{Function, Module};
use super::stream::Stream;

const TEXT: &str = include_str!("atomics.ptx");
const THREADS: u32 = 128;

pub(super) struct Atomics {
    module: Module,
    add: Function,
}

impl Atomics {
    pub(super) fn load(context: &Rc<Context>) -> Result<Self, CallError> {
        let module = Module::load(context, TEXT)?;
        let add = module.function(c"add_windows")?;
        Ok(Self { module, add })
    }
}

impl Kernels {
    pub(crate) fn without_atomics(&self) -> Option<&CallError> {
        self.atomics.as_ref().err()
    }

    /// Adds `addend` to the first word of each window once per following word, which gets the value found. Does not wait.
    pub(crate) fn add(&self, stream: &Stream, windows: Windows<'_>, addend: u32) -> Result<(), CallError> {
        let atomics = self.atomics.as_ref().map_err(Clone::clone)?;
        let (mut base, mut stride) = (windows.pointer, windows.stride);
        let mut count = u32::try_from(windows.words.saturating_sub(1)).unwrap_or(u32::MAX);
        let mut addend = addend;
        let mut parameters: [*mut c_void; 4] = [
            (&raw mut base).cast(),
            (&raw mut stride).cast(),
            (&raw mut count).cast(),
            (&raw mut addend).cast(),
        ];
        let grid = [1, windows.count];
        // SAFETY: `add_windows` takes these four; callers keep the windows until they have waited for the stream.
        unsafe {
            atomics
                .module
                .launch(stream, atomics.add, grid, THREADS, &mut parameters)
        }
    }
}
