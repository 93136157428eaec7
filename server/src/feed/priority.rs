//! Priorities of threads. A nicer thread keeps its processor for milliseconds while a request waits for one. A thread that runs only where
//! no other thread wants the processor (Linux: `SCHED_IDLE`) leaves it at once.

use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Steps of `nice(2)`: beside a busy thread such work gets about a tenth of a processor, else whatever nobody else wants.
pub(super) const NICENESS: i32 = 10;

/// Makes the caller nicer. Linux keeps priorities by thread, and `None` is the caller's. Refused it works as before, with others' time.
#[cfg(target_os = "linux")]
pub(super) fn give_way() {
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "generations are built at the priority of requests");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn give_way() {}

/// Has the caller run only where no other thread wants the processor, if the system would let it become a usual thread again: with all
/// processors busy, its work would never end.
pub(super) fn begin_idle() {
    static MAY_END: OnceLock<bool> = OnceLock::new();
    if *MAY_END.get_or_init(may_end) {
        system::begin();
        give_way();
    }
}

/// Makes the caller a usual thread again: threads that it starts have its policy, and nobody hurries them.
pub(super) fn end_own_idle() {
    if system::is_idle() {
        system::end_own();
        give_way();
    }
}

/// Makes it a usual thread again, from another one.
pub(super) fn end_idle(idle: Arc<JoinHandle<()>>) {
    // On a thread of its own, whose niceness does not matter.
    let ending = thread::Builder::new().name("hurry".to_owned());
    if let Err(error) = ending.spawn(move || system::end(&idle)) {
        tracing::debug!(%error, "a generation is built only where a processor is free");
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::os::unix::thread::JoinHandleExt as _;
    use std::thread::JoinHandle;

    use thread_priority::unix::{set_thread_priority_and_policy, thread_native_id, thread_schedule_policy};
    use thread_priority::{NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy};

    const IDLE: ThreadSchedulePolicy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    const USUAL: ThreadSchedulePolicy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);

    pub(super) fn thread_id() -> i32 {
        rustix::thread::gettid().as_raw_nonzero().get()
    }

    pub(super) fn is_idle() -> bool {
        thread_schedule_policy().is_ok_and(|policy| policy == IDLE)
    }

    pub(super) fn begin() {
        set(thread_native_id(), IDLE);
    }

    pub(super) fn end_own() {
        set(thread_native_id(), USUAL);
    }

    /// The handle keeps the thread's number from being given to another one.
    pub(super) fn end(thread: &JoinHandle<()>) {
        set(thread.as_pthread_t(), USUAL);
    }

    /// Sets the niceness of the caller, too, and fails where that is refused: what counts is the policy, which is asked for.
    fn set(thread: thread_priority::ThreadId, policy: ThreadSchedulePolicy) {
        let _ = set_thread_priority_and_policy(thread, ThreadPriority::Min, policy);
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn thread_id() -> i32 {
        0
    }
    pub(super) fn is_idle() -> bool {
        false
    }
    pub(super) fn begin() {}
    pub(super) fn end_own() {}
    pub(super) fn end(_: &std::thread::JoinHandle<()>) {}
}

/// Tells others how long a thread has had a processor.
#[derive(Debug, Default)]
pub(super) struct ThreadClock(OnceLock<i32>);

impl ThreadClock {
    /// Begins to tell of the caller.
    pub(super) fn start(&self) {
        self.0.get_or_init(system::thread_id);
    }

    /// Nothing where it is not known.
    pub(super) fn used(&self) -> Duration {
        let told = self
            .0
            .get()
            .and_then(|id| std::fs::read_to_string(format!("/proc/self/task/{id}/schedstat")).ok());
        let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse().ok());
        Duration::from_nanos(nanoseconds.unwrap_or_default())
    }
}

/// Linux lets a thread with no privilege come back only to a niceness that `RLIMIT_NICE` allows, which is none by default.
fn may_end() -> bool {
    let tried = thread::spawn(|| {
        give_way();
        system::begin();
        give_way();
        let was_idle = system::is_idle();
        system::end_own();
        was_idle && !system::is_idle()
    });
    let may_end = tried.join().unwrap_or(false);
    if !may_end {
        tracing::debug!(
            "generations are built on nicer threads: RLIMIT_NICE does not let a thread leave SCHED_IDLE"
        );
    }
    may_end
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::feed::background::{Beside, run};

    #[test]
    fn a_clock_tells_of_its_thread() {
        let clock = ThreadClock::default();
        assert_eq!(clock.used(), Duration::ZERO);
        clock.start();
        let began = std::time::Instant::now();
        while clock.used() < Duration::from_millis(5) {
            assert!(began.elapsed() < Duration::from_secs(20));
        }
    }

    #[tokio::test]
    async fn work_that_has_no_processor_is_hurried() {
        let may_end = may_end();
        if rustix::process::geteuid().is_root() {
            assert!(may_end, "root may set any policy");
        }
        assert_eq!(run(Beside::Requests, system::is_idle).await, Some(may_end));
        let starts_a_thread = || {
            crate::feed::background::before_threads();
            thread::spawn(system::is_idle).join().unwrap()
        };
        assert_eq!(run(Beside::Requests, starts_a_thread).await, Some(false));
        assert_eq!(
            run(Beside::RequestsWithThreads, system::is_idle).await,
            Some(false)
        );
        assert_eq!(run(Beside::Nobody, system::is_idle).await, Some(false));
        let until_hurried = || {
            let began = std::time::Instant::now();
            while system::is_idle() && began.elapsed() < Duration::from_secs(30) {
                // It gets processors, and uses none.
                thread::park_timeout(Duration::from_millis(20));
            }
            system::is_idle()
        };
        assert_eq!(run(Beside::Requests, until_hurried).await, Some(false));
    }
}
