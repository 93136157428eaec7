//! A fair queue in front of a few places for work. The client for whom the least work was done of late has every second turn, so
//! that many clients with long work keep none with short work waiting, and who waits longest has the others. No client takes the
//! last place.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::web::limits;

#[derive(Debug, Clone)]
pub struct Queue(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    free: usize,
    share: usize,
    at_work: HashMap<IpAddr, usize>,
    waiting: HashMap<IpAddr, VecDeque<oneshot::Sender<Place>>>,
    turns: VecDeque<IpAddr>,
    asking: usize,
    used: Used,
    /// Places that were given so far.
    given: usize,
}

/// Processor time that was spent for each client of late.
#[derive(Debug, Default)]
struct Used {
    of: HashMap<IpAddr, Duration>,
    /// Of all clients since it was halved last.
    since_halved: Duration,
}

/// Work after which what was spent before counts half: it fades with the work that others get, not with the clock.
const HALVED_AFTER: Duration = Duration::from_secs(5);
/// Less is forgotten.
const FORGOTTEN: Duration = Duration::from_millis(1);

/// A place, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    queue: Queue,
    client: IpAddr,
    is_taken: bool,
    spent: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TooLong {
    OfClient,
    OfAll,
}

impl Default for Queue {
    fn default() -> Self {
        Self::of(std::thread::available_parallelism().map_or(1, usize::from))
    }
}

impl Queue {
    /// So many places for each client, and one more.
    pub fn of(share: usize) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            free: share + 1,
            share,
            at_work: HashMap::new(),
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            asking: 0,
            used: Used::default(),
            given: 0,
        })))
    }

    /// A place for a request that is new: refused where too many wait.
    pub(super) async fn place(&self, client: IpAddr) -> Result<Place, TooLong> {
        let asked = {
            let mut inner = self.lock();
            inner.check(client)?;
            inner.ask(self, client)
        };
        asked.await
    }

    /// A place for a request that had one before: what was done of it is not thrown away.
    pub(super) async fn another_place(&self, client: IpAddr) -> Result<Place, TooLong> {
        let asked = self.lock().ask(self, client);
        asked.await
    }

    /// Notes work that was done for a client without a place.
    pub(super) fn note(&self, client: IpAddr, spent: Duration) {
        self.lock().used.add(client, spent);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere leaves counts that are still right: none of the steps below can.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn check(&mut self, client: IpAddr) -> Result<(), TooLong> {
        if self.of_client(client) >= limits::WAITING_OF_CLIENT {
            self.forget_gone();
            if self.of_client(client) >= limits::WAITING_OF_CLIENT {
                return Err(TooLong::OfClient);
            }
        }
        if self.asking >= limits::WAITING {
            self.forget_gone();
            if self.asking >= limits::WAITING {
                return Err(TooLong::OfAll);
            }
        }
        Ok(())
    }

    fn of_client(&self, client: IpAddr) -> usize {
        self.waiting.get(&client).map_or(0, VecDeque::len)
    }

    fn ask(&mut self, queue: &Queue, client: IpAddr) -> impl Future<Output = Result<Place, TooLong>> + use<> {
        let (sender, receiver) = oneshot::channel();
        let waiting = self.waiting.entry(client).or_default();
        if waiting.is_empty() {
            self.turns.push_back(client);
        }
        waiting.push_back(sender);
        self.asking += 1;
        self.give(queue);
        // The queue lives as long as its senders, so that none goes without a word.
        async move { receiver.await.map_err(|_| TooLong::OfAll) }
    }

    fn give(&mut self, queue: &Queue) {
        while self.free > 0 {
            let Some(client) = self.next() else { return };
            if self.give_to(queue, client) {
                self.turns.push_back(client);
            }
        }
    }

    /// Of the clients that may have a place more, the one for whom the least work was done; of several the one that waits longest.
    /// Every second time the one that waits longest, so that none waits for ever behind new ones.
    fn next(&mut self) -> Option<IpAddr> {
        let may = |client: &IpAddr| self.at_work.get(client).copied().unwrap_or_default() < self.share;
        let turns = self.turns.iter().enumerate().filter(|(_, client)| may(client));
        self.given = self.given.wrapping_add(1);
        let (place, _) = if self.given.is_multiple_of(2) {
            turns.min_by_key(|(place, _)| *place)
        } else {
            turns.min_by_key(|(_, client)| self.used.of(client))
        }?;
        self.turns.remove(place)
    }

    /// Gives a place to the first request of `client` whose caller is still there. True where more of them wait.
    fn give_to(&mut self, queue: &Queue, client: IpAddr) -> bool {
        let Some(waiting) = self.waiting.get_mut(&client) else {
            return false;
        };
        while let Some(sender) = waiting.pop_front() {
            self.asking = self.asking.saturating_sub(1);
            let place = Place {
                queue: queue.clone(),
                client,
                is_taken: true,
                spent: Duration::ZERO,
            };
            match sender.send(place) {
                Ok(()) => {
                    self.free = self.free.saturating_sub(1);
                    *self.at_work.entry(client).or_default() += 1;
                    break;
                }
                Err(mut unused) => unused.is_taken = false,
            }
        }
        let has_more = !waiting.is_empty();
        if !has_more {
            self.waiting.remove(&client);
        }
        has_more
    }

    fn forget_gone(&mut self) {
        for waiting in self.waiting.values_mut() {
            waiting.retain(|sender| !sender.is_closed());
        }
        self.waiting.retain(|_, waiting| !waiting.is_empty());
        let waiting = &self.waiting;
        self.turns.retain(|client| waiting.contains_key(client));
        self.asking = waiting.values().map(VecDeque::len).sum();
    }
}

impl Used {
    fn of(&self, client: &IpAddr) -> Duration {
        self.of.get(client).copied().unwrap_or_default()
    }

    fn add(&mut self, client: IpAddr, spent: Duration) {
        if spent.is_zero() {
            return;
        }
        *self.of.entry(client).or_default() += spent;
        self.since_halved += spent;
        if self.since_halved >= HALVED_AFTER {
            self.since_halved = Duration::ZERO;
            self.of.retain(|_, used| {
                *used /= 2;
                *used >= FORGOTTEN
            });
        }
    }
}

impl Place {
    pub(super) fn note(&mut self, spent: Duration) {
        self.spent += spent;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_taken {
            return;
        }
        let mut inner = self.queue.lock();
        inner.free += 1;
        inner.used.add(self.client, self.spent);
        if let Some(at_work) = inner.at_work.get_mut(&self.client) {
            *at_work -= 1;
            if *at_work == 0 {
                inner.at_work.remove(&self.client);
            }
        }
        inner.give(&self.queue);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt as _;

    use super::*;

    fn client(number: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, number])
    }

    #[tokio::test]
    async fn clients_take_turns_and_one_place_is_left_to_others() {
        let queue = Queue::of(1);
        let first = queue.place(client(1)).await.unwrap();
        let mut second_of_flood = pin!(queue.place(client(1)));
        let mut third_of_flood = pin!(queue.place(client(1)));
        assert!(second_of_flood.as_mut().now_or_never().is_none());
        assert!(third_of_flood.as_mut().now_or_never().is_none());
        let other = queue.place(client(2)).now_or_never().unwrap().unwrap();
        let mut another = pin!(queue.place(client(3)));
        assert!(another.as_mut().now_or_never().is_none());
        drop(other);
        let another = another
            .as_mut()
            .now_or_never()
            .expect("its turn, not the flood's");
        drop(first);
        let second = second_of_flood.as_mut().now_or_never().unwrap();
        assert!(third_of_flood.as_mut().now_or_never().is_none());
        drop((another, second));
        assert!(third_of_flood.as_mut().now_or_never().is_some());
    }

    #[tokio::test]
    async fn the_client_for_whom_the_least_was_done_is_next() {
        let queue = Queue::of(1);
        for number in 1..=9 {
            let mut place = queue.place(client(number)).await.unwrap();
            place.note(Duration::from_millis(10));
        }
        let held = (queue.place(client(10)).await, queue.place(client(11)).await);
        let mut heavy: Vec<_> = (1..=9)
            .map(|number| Box::pin(queue.place(client(number))))
            .collect();
        assert!(heavy.iter_mut().all(|asked| asked.now_or_never().is_none()));
        let mut light = pin!(queue.place(client(12)));
        assert!(light.as_mut().now_or_never().is_none());
        drop(held.0);
        let light = light.now_or_never().expect("before all that were there first");
        assert!(heavy.iter_mut().all(|asked| asked.now_or_never().is_none()));
        drop((light, held.1));
        assert!(
            heavy[0].as_mut().now_or_never().is_some(),
            "the one that waits longest"
        );
    }

    #[test]
    fn what_was_done_fades_with_the_work_of_others() {
        let mut used = Used::default();
        used.add(client(1), Duration::from_millis(3));
        used.add(client(2), HALVED_AFTER);
        assert_eq!(used.of(&client(1)), Duration::from_micros(1_500));
        used.add(client(2), HALVED_AFTER);
        assert_eq!(used.of(&client(1)), Duration::ZERO);
        assert!(used.of(&client(2)) > HALVED_AFTER / 2 && used.of.len() == 1);
    }

    #[tokio::test]
    async fn a_caller_who_went_away_gets_no_place() {
        let queue = Queue::of(1);
        let held = queue.place(client(1)).await.unwrap();
        {
            let mut gone = pin!(queue.place(client(1)));
            assert!(gone.as_mut().now_or_never().is_none());
        }
        let mut next = pin!(queue.place(client(1)));
        assert!(next.as_mut().now_or_never().is_none());
        drop(held);
        assert!(next.as_mut().now_or_never().is_some());
        let given = {
            let held = queue.place(client(1)).await.unwrap();
            let mut given = Box::pin(queue.place(client(1)));
            assert!(given.as_mut().now_or_never().is_none());
            drop(held);
            given
        };
        drop(given);
        assert!(queue.place(client(1)).now_or_never().is_some(), "it came back");
        let inner = queue.lock();
        assert_eq!((inner.free, inner.asking), (2, 0));
        assert!(inner.at_work.is_empty() && inner.waiting.is_empty() && inner.turns.is_empty());
    }

    #[tokio::test]
    async fn a_queue_that_is_too_long_refuses_what_is_new() {
        let queue = Queue::of(1);
        let _held = queue.place(client(1)).await.unwrap();
        let mut waiting: Vec<_> = (0..limits::WAITING_OF_CLIENT)
            .map(|_| Box::pin(queue.place(client(1))))
            .collect();
        assert!(waiting.iter_mut().all(|asked| asked.now_or_never().is_none()));
        let refused = queue.place(client(1)).now_or_never().unwrap();
        assert_eq!(refused.unwrap_err(), TooLong::OfClient);
        assert!(queue.another_place(client(1)).now_or_never().is_none());
        assert!(queue.place(client(2)).now_or_never().unwrap().is_ok());
        waiting.truncate(1);
        assert!(queue.place(client(1)).now_or_never().is_none(), "those went away");
    }
}
