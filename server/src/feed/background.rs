//! Work that requests must not wait for: on a thread of its own, which gives way to all others where they are waiting.

use std::panic::resume_unwind;
use std::thread;

use tokio::sync::oneshot;

/// Steps of `nice(2)`: beside a busy thread such work gets about a tenth of a processor, else whatever nobody else wants.
const NICENESS: i32 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    Nobody,
    /// Requests, which come first. Threads that the work starts step back with it.
    Requests,
}

/// Runs `work` on a new thread. `None` when it panicked, or no thread could be had.
pub(crate) async fn run<T: Send + 'static>(
    beside: Beside,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, done) = oneshot::channel();
    let thread = thread::Builder::new().name("generation".to_owned());
    thread
        .spawn(move || {
            if beside == Beside::Requests {
                give_way();
            }
            // The follower may have been stopped meanwhile; then nobody waits for this.
            let _ = sender.send(work());
        })
        .ok()?;
    done.await.ok()
}

/// Does `work` on a thread that steps back, and waits for it. Threads that the work starts step back with it.
pub(super) fn stepped_back<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let stepped_back = || {
        give_way();
        work()
    };
    thread::scope(|scope| scope.spawn(stepped_back).join()).unwrap_or_else(|panic| resume_unwind(panic))
}

/// Linux keeps priorities by thread, and `None` is the caller's. Refused it works as before, with others' time.
#[cfg(target_os = "linux")]
fn give_way() {
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "generations are built at the priority of requests");
    }
}

#[cfg(not(target_os = "linux"))]
fn give_way() {}

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
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let own = priority();
        let both = move || (priority(), std::thread::spawn(priority).join().unwrap());
        assert_eq!(run(Beside::Nobody, both).await, Some((own, own)));
        let stepped_back = own.max(NICENESS);
        let its = run(Beside::Requests, both).await;
        assert_eq!(its, Some((stepped_back, stepped_back)));
        assert_eq!(super::stepped_back(both), (stepped_back, stepped_back));
        assert_eq!(priority(), own, "others keep theirs");
    }
}
