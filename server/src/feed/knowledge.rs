//! The generation in use: readers take it without a lock, the follower swaps it whole.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use kb_core::ids::Seq;
use tokio::sync::{Mutex as Turns, MutexGuard as Turn, Notify, watch};
use tokio::time::Instant;

use super::background::{self, Beside};
use super::generation::Generation;

#[derive(Debug)]
pub struct Knowledge {
    current: ArcSwap<Generation>,
    /// Generations that were in use, until the last request has let go of them.
    former: Mutex<Vec<Arc<Generation>>>,
    announced: watch::Sender<Seq>,
    seen: Mutex<Seen>,
    pub(super) nudged: Notify,
    /// Who publishes here has it, one after the other in the order in which they came.
    publishing: Turns<()>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    head: Seq,
    /// When the store was last asked for something that the generation in use holds completely.
    complete_at: Instant,
}

/// How far behind the store a server may be and still be asked. Building a generation of 65,000 records takes about a
/// second; while records are published all the time each generation is behind by one of these.
pub const MAX_BEHIND: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Readiness {
    pub holds: Seq,
    pub head: Seq,
    /// How long ago the generation in use held all that the store had. Grows, too, while the store does not answer.
    pub behind: Duration,
    /// Whether searches find an index. Until it is there they wait for it.
    pub has_index: bool,
}

impl Readiness {
    /// True when answers are at most [`MAX_BEHIND`] old.
    pub fn is_recent(self) -> bool {
        self.behind <= MAX_BEHIND
    }
}

impl Knowledge {
    /// `asked` is when the store was asked for what `first` holds.
    pub(super) fn new(first: Generation, asked: Instant) -> Self {
        let seq = first.seq;
        Self {
            current: ArcSwap::from_pointee(first),
            former: Mutex::default(),
            announced: watch::Sender::new(seq),
            seen: Mutex::new(Seen {
                head: seq,
                complete_at: asked,
            }),
            nudged: Notify::new(),
            publishing: Turns::new(()),
        }
    }

    /// The generation in use. Keep it for the whole of one request, so that its parts belong together.
    pub fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// For `/readyz`. Asks nothing of the store: the follower does, several times a second.
    pub fn readiness(&self) -> Readiness {
        let current = self.current();
        let holds = current.seq;
        let seen = *self.seen();
        Readiness {
            holds,
            head: seen.head.max(holds),
            behind: seen.complete_at.elapsed(),
            has_index: current.index.can_be_searched(),
        }
    }

    /// Remembers what the store said: `head` is its newest seq when it was asked at `asked`.
    pub(super) fn saw(&self, head: Seq, asked: Instant) {
        let holds = self.current().seq;
        let mut seen = self.seen();
        seen.head = head;
        if holds >= head {
            seen.complete_at = seen.complete_at.max(asked);
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Waits for one's turn to publish; `None` when that took longer than `patience`. Publications on this server go one after the other,
    /// so that the gate's answer still holds when the record is published; only another server can publish in between.
    pub async fn turn_to_publish(&self, patience: Duration) -> Option<Turn<'_, ()>> {
        tokio::time::timeout(patience, self.publishing.lock()).await.ok()
    }

    pub fn subscribe(&self) -> watch::Receiver<Seq> {
        self.announced.subscribe()
    }

    /// `asked` is when the store was asked for what `next` holds.
    pub(super) fn swap(&self, next: Generation, asked: Instant) {
        let seq = next.seq;
        let before = self.current.swap(Arc::new(next));
        self.former().push(before);
        {
            let mut seen = self.seen();
            seen.head = seen.head.max(seq);
            seen.complete_at = seen.complete_at.max(asked);
        }
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
            background::run(Beside::Requests, move || drop(unheld)).await;
        }
    }

    fn former(&self) -> MutexGuard<'_, Vec<Arc<Generation>>> {
        self.former.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
