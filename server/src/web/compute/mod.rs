//! Where a request's computing is done: on a few threads of a pool, for which clients queue fairly, so that the threads that
//! serve have time for `/healthz` and for what is cheap.
//!
//! Handing work to another thread and waiting for it costs more than a short text does, and on a busy machine far more. How
//! long a text takes is known afterwards: a line costs a few microseconds, or some hundred where many patterns run on it. So
//! the bound for work at once is one of size, and low: a message of a few lines, not a screenful of them. And a thread does
//! not go on with such work before it has served for as long as the last piece took.

mod queue;

use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpMessage as _, HttpRequest};

pub use queue::Queue;
use queue::{Place, TooLong};

use super::error::{Code, Problem};
use super::limits;
use super::session::visitor;
use crate::domain::work_time::spent;

/// Up to this many bytes are worked on where they were read.
pub(super) const AT_ONCE: usize = 2 << 10;
/// Processor time after which work of many steps lets others have their turn.
const SLICE: Duration = Duration::from_millis(10);
/// For work whose input is no text but all the knowledge: more than is done at once.
pub(super) const ALL_RECORDS: usize = usize::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotComputed {
    /// The work panicked, which is a fault of ours.
    #[error("computing the answer panicked")]
    Panicked,
    #[error(
        "{} requests of this address wait already: ask again when some are answered",
        limits::WAITING_OF_CLIENT
    )]
    TooManyOfClient,
    #[error("{} requests wait already: ask again", limits::WAITING)]
    TooMany,
}

/// Seconds after which a refused caller may ask again.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("1");

impl From<NotComputed> for Problem {
    fn from(error: NotComputed) -> Self {
        let code = match error {
            NotComputed::Panicked => return Self::internal(&error),
            NotComputed::TooManyOfClient => Code::RateLimited,
            NotComputed::TooMany => Code::Unavailable,
        };
        Self::new(code, error.to_string()).with_header(header::RETRY_AFTER, ASK_AGAIN)
    }
}

impl From<TooLong> for NotComputed {
    fn from(error: TooLong) -> Self {
        match error {
            TooLong::OfClient => Self::TooManyOfClient,
            TooLong::OfAll => Self::TooMany,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Desk {
    queue: Queue,
    client: IpAddr,
    /// Whether short work is done at once.
    has_short_work: bool,
}

impl Desk {
    /// While there is no search index, work may wait for it, however short it is.
    pub(super) fn new(queue: &Queue, client: Option<IpAddr>, has_index: bool) -> Self {
        Self {
            queue: queue.clone(),
            client: client.unwrap_or(Ipv4Addr::UNSPECIFIED.into()),
            has_short_work: has_index,
        }
    }

    pub(super) fn of(request: &HttpRequest) -> Self {
        let given = request.extensions().get::<Self>().cloned();
        given.unwrap_or_else(Self::of_one)
    }

    pub(super) fn client(&self) -> IpAddr {
        self.client
    }

    pub fn of_one() -> Self {
        Self {
            queue: Queue::default(),
            client: Ipv4Addr::LOCALHOST.into(),
            has_short_work: true,
        }
    }

    /// Does `work` over `bytes` of input: at once, or on a thread of the pool. It is not begun once the caller has gone.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotComputed> {
        if self.is_done_at_once(bytes) {
            return self.at_once(work);
        }
        in_pool(self.queue.place(self.client).await?, work).await
    }

    /// As [`Self::compute`], for work of many steps, of which the last gives the answer: after each [`SLICE`] it waits for its
    /// turn again, so that what is short does not wait behind it. Where the caller goes away, it ends with the slice.
    pub(super) async fn in_turns<T: Send + 'static>(
        &self,
        bytes: usize,
        step: impl FnMut() -> Option<T> + Send + 'static,
    ) -> Result<T, NotComputed> {
        let mut slice = self.compute(bytes, move || slice_of(step)).await?;
        loop {
            match slice {
                Ok(done) => return Ok(done),
                Err(step) => slice = self.go_on(ALL_RECORDS, move || slice_of(step)).await?,
            }
        }
    }

    /// As [`Self::compute`], for the next piece of work that is begun: it waits as long as it must.
    pub(super) async fn go_on<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotComputed> {
        if self.is_done_at_once(bytes) {
            return self.at_once(work);
        }
        in_pool(self.queue.another_place(self.client).await?, work).await
    }
}

impl Desk {
    fn is_done_at_once(&self, bytes: usize) -> bool {
        self.has_short_work && bytes <= AT_ONCE && has_served()
    }

    fn at_once<T>(&self, work: impl FnOnce() -> T) -> Result<T, NotComputed> {
        let began = spent();
        let done = at_once(work);
        self.queue.note(self.client, spent().saturating_sub(began));
        done
    }
}

fn slice_of<T, S: FnMut() -> Option<T>>(mut step: S) -> Result<T, S> {
    let slice = Slice::begin();
    loop {
        if let Some(done) = step() {
            return Ok(done);
        }
        if slice.is_over() {
            return Err(step);
        }
    }
}

/// A slice of a thread's processor time.
pub(super) struct Slice(Duration);

impl Slice {
    pub(super) fn begin() -> Self {
        Self(spent())
    }

    pub(super) fn is_over(&self) -> bool {
        spent().saturating_sub(self.0) >= SLICE
    }
}

thread_local! {
    static SERVES_UNTIL: Cell<Option<Instant>> = const { Cell::new(None) };
}

fn has_served() -> bool {
    SERVES_UNTIL
        .get()
        .is_none_or(|serves_until| serves_until <= Instant::now())
}

fn at_once<T>(work: impl FnOnce() -> T) -> Result<T, NotComputed> {
    let began = Instant::now();
    // What the work held is dropped with it: nobody sees it half done.
    let done = catch_unwind(AssertUnwindSafe(work)).map_err(|_| NotComputed::Panicked);
    let ended = Instant::now();
    SERVES_UNTIL.set(ended.checked_add(ended.duration_since(began)));
    done
}

async fn in_pool<T: Send + 'static>(
    place: Place,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotComputed> {
    // The place goes with the work, whose thread goes on where the caller goes away.
    let visitor = visitor::current();
    let held = move || {
        let mut place = place;
        let began = spent();
        let done = visitor::with(visitor, work);
        place.note(spent().saturating_sub(began));
        done
    };
    // The pool only fails when the work panicked or the server goes down.
    tokio::task::spawn_blocking(held)
        .await
        .map_err(|_| NotComputed::Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn short_work_stays_on_its_thread_and_a_panic_is_an_answer() {
        let desk = Desk::of_one();
        let here = std::thread::current().id();
        let place = || std::thread::current().id();
        assert_eq!(desk.compute(AT_ONCE, place).await, Ok(here));
        assert_ne!(desk.compute(AT_ONCE + 1, place).await, Ok(here));
        let without_index = Desk::new(&Queue::default(), None, false);
        assert_ne!(without_index.compute(1, place).await, Ok(here));
        for bytes in [AT_ONCE, AT_ONCE + 1] {
            let fails = move || assert_eq!(bytes, 0);
            assert_eq!(desk.compute(bytes, fails).await, Err(NotComputed::Panicked));
        }
    }

    #[tokio::test]
    async fn a_thread_that_has_worked_serves_before_it_works_again() {
        let desk = Desk::of_one();
        let here = std::thread::current().id();
        let slow = || std::thread::sleep(Duration::from_secs(2));
        assert_eq!(desk.compute(AT_ONCE, slow).await, Ok(()));
        let place = || std::thread::current().id();
        assert_ne!(desk.compute(AT_ONCE, place).await, Ok(here));
    }

    #[tokio::test]
    async fn long_work_lets_short_work_have_its_turn() {
        let desk = |number| Desk {
            queue: Queue::of(1),
            client: IpAddr::from([192, 0, 2, number]),
            has_short_work: true,
        };
        let (long, mut short) = (desk(1), desk(2));
        short.queue = long.queue.clone();
        let _other_place = long.queue.place(IpAddr::from([192, 0, 2, 3])).await.unwrap();
        let mut steps = 0;
        let work = move || {
            std::hint::black_box((0..100_000_u32).fold(0_u32, |sum, next| sum ^ next.rotate_left(3)));
            steps += 1;
            (steps == 300).then_some("long")
        };
        let long = async { long.in_turns(ALL_RECORDS, work).await };
        let short = async { short.compute(ALL_RECORDS, || "short").await };
        tokio::pin!(long, short);
        tokio::select! {
            biased;
            first = &mut long => panic!("{first:?} first"),
            second = &mut short => assert_eq!(second, Ok("short")),
        }
        assert_eq!(long.await, Ok("long"));
    }

    #[tokio::test]
    async fn a_place_is_free_again_after_a_panic() {
        let desk = Desk {
            queue: Queue::of(1),
            client: Ipv4Addr::LOCALHOST.into(),
            has_short_work: true,
        };
        for _ in 0..3 {
            let fails = || assert!(std::hint::black_box(false));
            assert_eq!(desk.compute(ALL_RECORDS, fails).await, Err(NotComputed::Panicked));
        }
        assert_eq!(desk.compute(ALL_RECORDS, || 1).await, Ok(1));
    }
}
