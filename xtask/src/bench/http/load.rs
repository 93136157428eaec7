//! The generator. Threads take the next request in turn, wait until it is due, send it and read the answer. A thread that
//! comes too late sends at once: the time counts from when the request was due.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use crate::bench::client::{Connection, header};

/// What to send.
pub(super) struct Load<'a> {
    pub(super) address: SocketAddr,
    /// Sent in turn, from the first again after the last.
    pub(super) requests: &'a [Vec<u8>],
    /// Requests a second.
    pub(super) rate: f64,
    pub(super) seconds: f64,
    pub(super) connections: usize,
    /// Count answers that name a match.
    pub(super) explained: bool,
}

/// What came of it.
#[derive(Default)]
pub(super) struct Times {
    /// From due to answered.
    latencies: Vec<Duration>,
    /// From due to sent.
    lateness: Vec<Duration>,
    /// Answers that name a match.
    pub(super) explained: usize,
    /// Answers of another status than 200.
    pub(super) failed: usize,
}

/// Time until the first request is due: all threads wait by then.
const LEAD: Duration = Duration::from_millis(100);

impl Load<'_> {
    pub(super) fn run(&self) -> Result<Times> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of requests"
        )]
        let total = (self.rate * self.seconds) as usize;
        let next = AtomicUsize::new(0);
        let start = Instant::now() + LEAD;
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.connections)
                .map(|_| scope.spawn(|| self.send(&next, total, start)))
                .collect();
            let mut all = Times::default();
            for thread in threads {
                let part = thread.join().map_err(|_| anyhow!("a sender panicked"))??;
                all.latencies.extend(part.latencies);
                all.lateness.extend(part.lateness);
                all.explained += part.explained;
                all.failed += part.failed;
            }
            Ok(all)
        })
    }

    fn send(&self, next: &AtomicUsize, total: usize, start: Instant) -> Result<Times> {
        let mut connection = Connection::open(self.address)?;
        let mut times = Times::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(request) = self.requests.get(number % self.requests.len().max(1)) else {
                return Ok(times);
            };
            if number >= total {
                return Ok(times);
            }
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52 requests")]
            let due = start + Duration::from_secs_f64(number as f64 / self.rate);
            thread::sleep(due.saturating_duration_since(Instant::now()));
            times.lateness.push(due.elapsed());
            let answer = connection.exchange(request)?;
            times.latencies.push(due.elapsed());
            times.failed += usize::from(answer.status != 200);
            let matches = header(answer.head, "peerless-matches");
            times.explained += usize::from(self.explained && matches.is_some_and(|count| count != "0"));
        }
    }
}

impl Times {
    pub(super) fn sort(&mut self) {
        self.latencies.sort_unstable();
        self.lateness.sort_unstable();
    }

    pub(super) fn answers(&self) -> usize {
        self.latencies.len()
    }

    /// Latency that this share of all requests does not exceed. Sorted before.
    pub(super) fn latency(&self, share: f64) -> Duration {
        at(&self.latencies, share)
    }

    /// The same of being sent late.
    pub(super) fn lateness(&self, share: f64) -> Duration {
        at(&self.lateness, share)
    }
}

fn at(sorted: &[Duration], share: f64) -> Duration {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place among some thousands"
    )]
    let place = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or_default()
}
