//! The model of time: what the clock of a process would show if the machine were real. Every process has its own,
//! in nanoseconds from its first call. The host's clock goes on with each call and when it waits for a stream; a
//! stream's with the work that it does; transfers queue for the ends of their links.

use crate::scenario::Speed;
use std::{
    collections::{HashMap, HashSet},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// What a call costs the host when it queues nothing.
const CALL_NS: u64 = 100;

/// The clock of the host, and how busy the links are.
#[derive(Default)]
pub(crate) struct Time {
    host: AtomicU64,
    links: Mutex<Links>,
}

#[derive(Default)]
struct Links {
    /// When each end is free.
    free: HashMap<End, u64>,
    /// Paths that are no longer cold.
    warm: HashSet<Path>,
}

/// The way of a transfer; GPUs by place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Path {
    /// Within host memory: no GPU is kept busy.
    Host,
    Local(usize),
    ToDevice(usize),
    ToHost(usize),
    Direct {
        from: usize,
        to: usize,
    },
    /// By way of the host.
    Staged {
        from: usize,
        to: usize,
    },
}

/// What one transfer at a time can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum End {
    Memory(usize),
    Out(usize),
    In(usize),
    ToDevice(usize),
    ToHost(usize),
}

impl Path {
    fn ends(self) -> Vec<End> {
        match self {
            Self::Host => Vec::new(),
            Self::Local(gpu) => vec![End::Memory(gpu)],
            Self::ToDevice(gpu) => vec![End::ToDevice(gpu)],
            Self::ToHost(gpu) => vec![End::ToHost(gpu)],
            Self::Direct { from, to } => vec![End::Out(from), End::In(to)],
            Self::Staged { from, to } => vec![End::ToHost(from), End::ToDevice(to)],
        }
    }

    /// GB/s, which are bytes a nanosecond.
    fn bandwidth(self, speed: &Speed) -> f64 {
        match self {
            Self::Host | Self::Local(_) => speed.local,
            Self::ToDevice(_) => speed.to_device,
            Self::ToHost(_) => speed.to_host,
            Self::Direct { from, to } => speed.between(from, to, true),
            Self::Staged { from, to } => speed.between(from, to, false),
        }
    }

    /// The least that a copy takes.
    fn least(self, speed: &Speed) -> u64 {
        match self {
            Self::Staged { .. } => speed.staged_copy_ns,
            _ => speed.copy_ns,
        }
    }
}

impl Time {
    pub(crate) fn now(&self) -> u64 {
        self.host.load(Ordering::Acquire)
    }

    /// A call by the host.
    pub(crate) fn call(&self, name: &str, speed: &Speed) {
        let queues = ["cuMemcpy", "cuMemset", "cuLaunch"]
            .iter()
            .any(|beginning| name.starts_with(beginning));
        let cost = if queues { speed.enqueue_ns } else { CALL_NS };
        self.host.fetch_add(cost, Ordering::AcqRel);
    }

    pub(crate) fn wait_until(&self, moment: u64) {
        self.host.fetch_max(moment, Ordering::AcqRel);
    }

    /// When a copy that may begin at `start` ends.
    pub(crate) fn copy(&self, speed: &Speed, path: Path, bytes: u64, start: u64) -> u64 {
        self.transfer(speed, path, bytes, path.least(speed), start)
    }

    /// When the bytes that a kernel moves from `start` on are moved.
    pub(crate) fn move_bytes(&self, speed: &Speed, path: Path, bytes: u64, start: u64) -> u64 {
        self.transfer(speed, path, bytes, 0, start)
    }

    #[allow(clippy::cast_precision_loss, reason = "2^53 bytes are more than any copy has")]
    fn transfer(&self, speed: &Speed, path: Path, bytes: u64, least: u64, start: u64) -> u64 {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = path.ends();
        let free = ends.iter().filter_map(|end| links.free.get(end).copied());
        let begin = free.fold(start, u64::max);
        let flowing = (bytes as f64 / path.bandwidth(speed)).round() as u64;
        let cold = if !ends.is_empty() && links.warm.insert(path) {
            speed.cold_ns
        } else {
            0
        };
        let end = begin + cold + flowing.max(least);
        links.free.extend(ends.into_iter().map(|of| (of, end)));
        end
    }
}

#[cfg(test)]
mod tests {
    use super::{Path, Time};
    use crate::scenario::Speed;

    const PUSH: Path = Path::Direct { from: 0, to: 1 };

    fn speed() -> Speed {
        Speed {
            cold_ns: 500,
            ..Speed::uniform(3, 100.0, 10.0)
        }
    }

    #[test]
    fn the_first_transfer_of_a_path_is_cold() {
        let (time, speed) = (Time::default(), speed());
        assert_eq!(time.copy(&speed, PUSH, 1_000_000, 0), 10_500);
        assert_eq!(time.copy(&speed, PUSH, 1_000_000, 10_500), 20_500);
        let other = Path::Direct { from: 1, to: 0 };
        assert_eq!(time.copy(&speed, other, 1_000_000, 20_500), 31_000);
    }

    #[test]
    fn transfers_queue_for_a_link_end_they_share() {
        let (time, speed) = (Time::default(), speed());
        let fan = Path::Direct { from: 0, to: 2 };
        let back = Path::Direct { from: 1, to: 0 };
        assert_eq!(time.copy(&speed, PUSH, 1_000_000, 0), 10_500);
        assert_eq!(time.copy(&speed, fan, 1_000_000, 0), 21_000, "behind the first");
        assert_eq!(time.copy(&speed, back, 1_000_000, 0), 10_500, "beside them");
    }

    #[test]
    fn the_way_round_is_slow_and_small_copies_take_their_least() {
        let (time, speed) = (Time::default(), speed());
        let staged = Path::Staged { from: 0, to: 1 };
        assert_eq!(time.copy(&speed, staged, 1_000_000, 0), 100_500);
        assert_eq!(
            time.copy(&speed, staged, 16, 100_500),
            100_500 + speed.staged_copy_ns
        );
        assert_eq!(time.move_bytes(&speed, PUSH, 16, 0), 500, "no copy, so no least");
    }
}
