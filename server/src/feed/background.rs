//! Work that requests must not wait for: on a thread of its own, for it may take its time.

use tokio::sync::oneshot;

/// Runs `work` on a new thread. `None` when it panicked, or no thread could be had.
pub(super) async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, done) = oneshot::channel();
    let thread = std::thread::Builder::new().name("generation".to_owned());
    thread
        .spawn(move || {
            // The follower may have been stopped meanwhile; then nobody waits for this.
            let _ = sender.send(work());
        })
        .ok()?;
    done.await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_runs_beside_others_and_may_panic() {
        let own = std::thread::current().id();
        let its = run(|| std::thread::current().id()).await;
        assert!(its.is_some_and(|its| its != own));
        let fails = move || assert_eq!(std::thread::current().id(), own);
        assert_eq!(run(fails).await, None);
    }
}
