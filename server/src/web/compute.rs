//! Where a request's computing is done. Handing work to another thread and waiting for it costs more than a short
//! text does, and on a busy machine far more; a long one would keep the others of its thread waiting.
//!
//! How long a text takes is known afterwards: a line costs a few microseconds, or some hundred where many patterns run
//! on it. So the bound is one of size, and low: a message of a few lines, not a screenful of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::error::Problem;

/// Up to this many bytes are worked on where they were read.
pub(super) const AT_ONCE: usize = 2 << 10;
/// For work whose input is no text but all the knowledge: more than is done at once.
pub(super) const ALL_RECORDS: usize = usize::MAX;

/// The work panicked, which is a fault of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("computing the answer panicked")]
pub(super) struct Panicked;

impl From<Panicked> for Problem {
    fn from(error: Panicked) -> Self {
        Self::internal(&error)
    }
}

/// Does `work`, which goes over `bytes` of input: at once, or on a thread of the pool.
pub(super) async fn compute<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Panicked> {
    if bytes <= AT_ONCE {
        // What the work held is dropped with it: nobody sees it half done.
        return catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked);
    }
    // The pool only fails when the work panicked or the server goes down.
    tokio::task::spawn_blocking(work).await.map_err(|_| Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn short_work_stays_on_its_thread_and_a_panic_is_an_answer() {
        let here = std::thread::current().id();
        let place = || std::thread::current().id();
        assert_eq!(compute(AT_ONCE, place).await, Ok(here));
        assert_ne!(compute(AT_ONCE + 1, place).await, Ok(here));
        for bytes in [AT_ONCE, AT_ONCE + 1] {
            let fails = move || assert_eq!(bytes, 0);
            assert_eq!(compute(bytes, fails).await, Err(Panicked));
        }
    }
}
