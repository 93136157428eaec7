//! A gate: keeps a stream until all that is timed is queued, so that the host's time to queue it is no part of the figure.

use std::rc::Rc;
use std::time::Duration;

use super::bench_kernels::BenchKernels;
use super::call::CallError;
use super::context::Context;
use super::host_words::HostWords;
use super::stream::Stream;

/// The word that opens it, and the one by which its kernel says that it gave up.
const WORDS: usize = 2;

/// A closed gate. Dropped, it opens: nothing waits for a gate that nobody holds.
pub(super) struct Gate {
    words: HostWords,
}

impl Gate {
    /// Takes its memory before anything is closed: the driver may wait for running kernels when it gives out page-locked memory.
    pub(super) fn create(context: &Rc<Context>) -> Result<Self, CallError> {
        let words = HostWords::allocate(context, WORDS)?;
        Ok(Self { words })
    }

    /// Closes a stream of the kernels' context, at most for `limit`.
    pub(super) fn close(
        &self,
        kernels: &BenchKernels,
        stream: &Stream,
        limit: Duration,
    ) -> Result<(), CallError> {
        // SAFETY: two words; freeing them waits for the kernel, which ends when `drop` has opened the gate.
        unsafe { kernels.keep(stream, self.words.pointer as u64, limit) }
    }

    pub(super) fn open(&self) {
        // SAFETY: inside the allocation; a kernel reads it meanwhile, so it is written as volatile, in one piece.
        unsafe { self.words.pointer.write_volatile(1) };
    }

    /// True when its kernel did not wait until it was opened, so that what was timed behind it means nothing.
    pub(super) fn gave_up(&self) -> bool {
        self.words.get().get(1).is_none_or(|word| *word != 0)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}
