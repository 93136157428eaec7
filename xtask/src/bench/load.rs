//! The generator: one thread that sends each request when it is due, on whichever connection has waited longest, and
//! reads answers as they come. A request that finds no free connection waits for one: its time counts from when it was
//! due. One thread that waits in the kernel takes less from the server, on the same processors, than one a connection.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::bench::client::{Connection, header};

pub(in crate::bench) struct Load<'a> {
    pub(in crate::bench) address: SocketAddr,
    /// Sent in turn, from the first again after the last.
    pub(in crate::bench) requests: &'a [Vec<u8>],
    /// Requests a second.
    pub(in crate::bench) rate: f64,
    pub(in crate::bench) seconds: f64,
    pub(in crate::bench) connections: usize,
    pub(in crate::bench) explained: bool,
}

#[derive(Default)]
pub(in crate::bench) struct Times {
    latencies: Vec<Duration>,
    lateness: Vec<Duration>,
    pub(in crate::bench) explained: usize,
    /// Answers that are no success.
    pub(in crate::bench) failed: usize,
}

/// Time until the first request is due: all connections are open by then.
const LEAD: Duration = Duration::from_millis(100);
/// A server that answers nothing for so long is given up.
const PATIENCE: Duration = Duration::from_secs(10);

struct Lanes {
    connections: Vec<Connection>,
    /// When the request under way was due; absent where there is none.
    due: Vec<Option<Instant>>,
    /// Those without a request, the longest idle first, so that all take turns.
    idle: VecDeque<usize>,
}

impl Load<'_> {
    pub(in crate::bench) fn run(&self) -> Result<Times> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of requests"
        )]
        let total = (self.rate * self.seconds) as usize;
        let mut lanes = Lanes::open(self.address, self.connections)?;
        let mut times = Times::default();
        let start = Instant::now() + LEAD;
        let due = |number: usize| {
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52 requests")]
            let place = number as f64;
            start + Duration::from_secs_f64(place / self.rate)
        };
        let mut requests = self.requests.iter().cycle().take(total);
        let mut sent = 0;
        while times.latencies.len() < total {
            let mut now = Instant::now();
            while sent < total
                && due(sent) <= now
                && let Some(lane) = lanes.idle.pop_front()
                && let Some(request) = requests.next()
            {
                times.lateness.push(now - due(sent));
                lanes.send(lane, request, due(sent))?;
                sent += 1;
                now = Instant::now();
            }
            let is_sending = sent < total && !lanes.idle.is_empty();
            let until = if is_sending { due(sent) } else { now + PATIENCE };
            let ready = lanes.wait(until.saturating_duration_since(now))?;
            ensure!(
                is_sending || !ready.is_empty(),
                "the server answered nothing for {} s",
                PATIENCE.as_secs()
            );
            for lane in ready {
                lanes.read(lane, self.explained, &mut times)?;
            }
        }
        Ok(times)
    }
}

impl Lanes {
    fn open(address: SocketAddr, count: usize) -> Result<Self> {
        let connections = (0..count).map(|_| Connection::open(address));
        Ok(Self {
            connections: connections.collect::<Result<_>>()?,
            due: vec![None; count],
            idle: (0..count).collect(),
        })
    }

    fn send(&mut self, lane: usize, request: &[u8], due: Instant) -> Result<()> {
        if let (Some(connection), Some(slot)) = (self.connections.get_mut(lane), self.due.get_mut(lane)) {
            connection.send(request)?;
            *slot = Some(due);
        }
        Ok(())
    }

    /// The connections on which something has come, after at most `patience`.
    fn wait(&self, patience: Duration) -> Result<Vec<usize>> {
        let busy = self.due.iter().enumerate().filter(|(_, due)| due.is_some());
        let (places, mut waited): (Vec<usize>, Vec<PollFd<'_>>) = busy
            .filter_map(|(lane, _)| Some((lane, PollFd::new(self.connections.get(lane)?, PollFlags::IN))))
            .unzip();
        match poll(&mut waited, Some(&Timespec::try_from(patience)?)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = places.into_iter().zip(&waited);
        let ready = ready.filter(|(_, waited)| !waited.revents().is_empty());
        Ok(ready.map(|(lane, _)| lane).collect())
    }

    /// Reads what has come, and notes the answer when it is whole.
    fn read(&mut self, lane: usize, explained: bool, times: &mut Times) -> Result<()> {
        let (Some(connection), Some(slot)) = (self.connections.get_mut(lane), self.due.get_mut(lane)) else {
            return Ok(());
        };
        if !connection.receive()? {
            return Ok(());
        }
        times.latencies.extend(slot.take().map(|due| due.elapsed()));
        let answer = connection.answer()?;
        times.failed += usize::from(!(200..300).contains(&answer.status));
        let matches = header(answer.head, "peerless-matches");
        times.explained += usize::from(explained && matches.is_some_and(|count| count != "0"));
        self.idle.push_back(lane);
        Ok(())
    }
}

impl Times {
    pub(in crate::bench) fn sort(&mut self) {
        self.latencies.sort_unstable();
        self.lateness.sort_unstable();
    }

    pub(in crate::bench) fn answers(&self) -> usize {
        self.latencies.len()
    }

    /// Of requests that were sent otherwise.
    #[cfg(feature = "evaluation")]
    pub(in crate::bench) fn of(latencies: Vec<Duration>, failed: usize) -> Self {
        let mut times = Self {
            latencies,
            failed,
            ..Self::default()
        };
        times.sort();
        times
    }

    #[cfg(feature = "evaluation")]
    pub(in crate::bench) fn sum(&self) -> Duration {
        self.latencies.iter().sum()
    }

    /// Latency that this share of all requests does not exceed. Sorted before.
    pub(in crate::bench) fn latency(&self, share: f64) -> Duration {
        at(&self.latencies, share)
    }

    pub(in crate::bench) fn lateness(&self, share: f64) -> Duration {
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
