//! Work that requests must not wait for: on a thread of its own, which gives way to all others where they are waiting.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::priority::{self, ThreadClock};

/// Work that gets no tenth of a processor for so long waits for one that is never free, and is hurried.
const PATIENCE: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    Nobody,
    /// Requests, which come first. Before the work starts threads, it calls [`before_threads`].
    Requests,
    /// The same for work that starts threads: they step back with it.
    RequestsWithThreads,
}

/// Runs `work` on a new thread. `None` when it panicked, or no thread could be had.
pub(crate) async fn run<T: Send + 'static>(
    beside: Beside,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, mut done) = oneshot::channel();
    let clock = Arc::new(ThreadClock::default());
    let own_clock = Arc::clone(&clock);
    let thread = thread::Builder::new().name("generation".to_owned());
    let thread = thread
        .spawn(move || {
            if beside != Beside::Nobody {
                priority::give_way();
            }
            if beside == Beside::Requests {
                own_clock.start();
                priority::begin_idle();
            }
            // The follower may have been stopped meanwhile; then nobody waits for this.
            let _ = sender.send(work());
        })
        .ok()?;
    if beside != Beside::Requests {
        return done.await.ok();
    }
    let thread = Arc::new(thread);
    let (mut patience, mut used) = (PATIENCE, Duration::ZERO);
    loop {
        if let Ok(done) = tokio::time::timeout(patience, &mut done).await {
            return done.ok();
        }
        let before = std::mem::replace(&mut used, clock.used());
        if used.saturating_sub(before) < patience / 10 {
            priority::end_idle(Arc::clone(&thread));
            // Again later: it may not have been idle yet.
            patience *= 2;
        }
    }
}

/// Has the caller's work go on as that of a thread that is only nicer.
pub(super) fn before_threads() {
    priority::end_own_idle();
}

/// Does `work` on a thread that steps back, and waits for it. Threads that the work starts step back with it.
pub(super) fn stepped_back<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let stepped_back = || {
        priority::give_way();
        work()
    };
    thread::scope(|scope| scope.spawn(stepped_back).join()).unwrap_or_else(|panic| resume_unwind(panic))
}

/// Begins work that nobody waits for, on a thread that steps back.
pub(super) fn begin(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let stepped_back = move || {
        priority::give_way();
        work();
    };
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(stepped_back).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_runs_beside_others_and_may_panic() {
        let own = std::thread::current().id();
        let its = run(Beside::Nobody, || std::thread::current().id()).await;
        assert!(its.is_some_and(|its| its != own));
        let fails = move || assert_eq!(std::thread::current().id(), own);
        assert_eq!(run(Beside::Requests, fails).await, None);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn work_beside_requests_steps_back_with_its_own_threads() {
        let niceness = || rustix::process::getpriority_process(None).unwrap();
        let own = niceness();
        let both = move || (niceness(), std::thread::spawn(niceness).join().unwrap());
        assert_eq!(run(Beside::Nobody, both).await, Some((own, own)));
        let stepped_back = own.max(priority::NICENESS);
        for beside in [Beside::Requests, Beside::RequestsWithThreads] {
            let its = run(beside, both).await;
            assert_eq!(its, Some((stepped_back, stepped_back)), "{beside:?}");
        }
        assert_eq!(super::stepped_back(both), (stepped_back, stepped_back));
        assert_eq!(niceness(), own, "others keep theirs");
    }
}
