//! The generation in use: readers take it without a lock, the follower swaps it whole.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use kb_core::ids::Seq;
use tokio::sync::{Notify, watch};

use super::generation::Generation;
use crate::store::{Store, StoreError};

/// What all readers of a process share.
#[derive(Debug)]
pub struct Knowledge {
    current: ArcSwap<Generation>,
    /// Generations that were in use, until the last request has let go of them.
    former: Mutex<Vec<Arc<Generation>>>,
    announced: watch::Sender<Seq>,
    pub(super) nudged: Notify,
}

/// Whether this server may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Readiness {
    /// What the generation in use holds.
    pub holds: Seq,
    /// What the store has.
    pub head: Seq,
}

impl Readiness {
    /// True when the generation in use holds all that the store has.
    pub fn is_ready(self) -> bool {
        self.holds >= self.head
    }
}

impl Knowledge {
    pub(super) fn new(first: Generation) -> Self {
        let seq = first.seq;
        Self {
            current: ArcSwap::from_pointee(first),
            former: Mutex::default(),
            announced: watch::Sender::new(seq),
            nudged: Notify::new(),
        }
    }

    /// The generation in use. Keep it for the whole of one request, so that its parts belong together.
    pub fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// For `/readyz`.
    pub async fn readiness(&self, store: &dyn Store) -> Result<Readiness, StoreError> {
        let head = store.head_seq().await?;
        let holds = self.current().seq;
        Ok(Readiness { holds, head })
    }

    /// Tells the follower that something was just published here, so that it looks at once.
    pub fn nudge(&self) {
        self.nudged.notify_one();
    }

    /// Waits until the generation in use holds `seq`; false when that took longer than `patience`.
    ///
    /// A server that has just published calls this before it answers: who publishes then finds what was published.
    pub async fn holds(&self, seq: Seq, patience: Duration) -> bool {
        self.nudge();
        let mut announced = self.announced.subscribe();
        let reached = announced.wait_for(|held| *held >= seq);
        matches!(tokio::time::timeout(patience, reached).await, Ok(Ok(_)))
    }

    /// Told of every swap.
    pub fn subscribe(&self) -> watch::Receiver<Seq> {
        self.announced.subscribe()
    }

    pub(super) fn swap(&self, next: Generation) {
        let seq = next.seq;
        let before = self.current.swap(Arc::new(next));
        // A request may hold it for days, and nobody else asks it.
        before.index.retire();
        self.former().push(before);
        self.announced.send_replace(seq);
    }

    /// Drops the former generations that no request holds any more: taking one down is work, and is nobody's request.
    pub(super) async fn let_go(&self) {
        let unheld: Vec<_> = self
            .former()
            .extract_if(.., |former| Arc::strong_count(former) == 1)
            .collect();
        if !unheld.is_empty() {
            // Only a panic could fail this, and then they are gone too.
            let _ = tokio::task::spawn_blocking(move || drop(unheld)).await;
        }
    }

    fn former(&self) -> MutexGuard<'_, Vec<Arc<Generation>>> {
        self.former.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
