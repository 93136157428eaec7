//! Room for what goes down with an expression. Parser and evaluator are another project's and recurse: unoptimised, some
//! 100 kB for each bracket and 30 kB for each operator, which ends a usual thread's stack, and with it the process, at
//! sixteen brackets or seventy operators.

use std::thread;

/// Stack of such work, in bytes; only what is used of it becomes memory.
const STACK: usize = 32 << 20;

/// Does the work on a thread of its own. `None` when it panicked, or no thread could be had.
pub(super) fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|threads| {
        let thread = thread::Builder::new().stack_size(STACK);
        thread.spawn_scoped(threads, work).ok()?.join().ok()
    })
}
