//! How many connections there are, and how many of them are waited for. Each takes a file descriptor, of which a process has
//! so many; without any left nobody is answered, `/healthz` included.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::limits;

/// Descriptors that are left to the database, logs and the like.
const KEPT_BACK: usize = 64;

#[derive(Debug, Clone)]
pub struct Crowd {
    room: usize,
    open: Arc<AtomicUsize>,
    waiting: Arc<AtomicUsize>,
}

/// One that counts until it is dropped.
#[derive(Debug)]
pub struct Counted(Arc<AtomicUsize>);

impl Crowd {
    /// Of a process that may have so many descriptors.
    pub fn of(descriptors: usize) -> Self {
        Self {
            room: descriptors.saturating_sub(KEPT_BACK).max(KEPT_BACK),
            open: Arc::default(),
            waiting: Arc::default(),
        }
    }

    pub fn room(&self) -> usize {
        self.room
    }

    pub fn connected(&self) -> Counted {
        Counted::of(&self.open)
    }

    pub fn wait(&self) -> Counted {
        Counted::of(&self.waiting)
    }

    /// The longest that a body is waited for: the more of them, the shorter. Of a request that has come whole nothing is
    /// waited for but the way.
    pub fn patience(&self) -> Duration {
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting > self.room / 2 {
            limits::FULL_GRACE
        } else if waiting > self.room / 4 {
            limits::CROWDED_GRACE
        } else {
            Duration::MAX
        }
    }

    pub fn is_full(&self) -> bool {
        self.open.load(Ordering::Relaxed) > self.room / 2
    }
}

impl Counted {
    fn of(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_wait_the_shorter() {
        let crowd = Crowd::of(KEPT_BACK + 100);
        let mut waiting: Vec<Counted> = (0..25).map(|_| crowd.wait()).collect();
        assert_eq!(crowd.patience(), Duration::MAX);
        waiting.extend((0..25).map(|_| crowd.wait()));
        assert_eq!(crowd.patience(), limits::CROWDED_GRACE);
        waiting.push(crowd.wait());
        assert_eq!(crowd.patience(), limits::FULL_GRACE);
        drop(waiting);
        assert_eq!(crowd.patience(), Duration::MAX);
    }
}
