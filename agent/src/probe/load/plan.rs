//! How much of each kind of work a step has: so much that all kinds take about as long, and never so much that the queue of a
//! stream is full, for then the host would wait for work that waits for the host.

use std::collections::{BTreeMap, BTreeSet};

use crate::worker::protocol::{LoadOf, LoadStep, LoadedGpu, Took};

/// Seconds of one launch of the compute kernel: short enough that nothing else waits long for the GPU.
const LAUNCH: f64 = 0.008;
/// Seconds of a step's work.
const WORK: f64 = 0.5;
/// The most pieces of a kind in a step: the bench queued as many behind a closed gate; streams take about a thousand.
const MOST: u32 = 192;
/// Rounds of the first launch, which only tells how long one takes.
const FIRST_ROUNDS: u32 = 1024;
const MOST_ROUNDS: u32 = 1 << 20;
/// Steps after which the rounds of a launch are planned anew: in the first one the clocks may still be those of an idle GPU.
const PLANNED_STEPS: u64 = 2;
/// Rounds, and pieces of each kind in a step, where steps are as short as tests need them.
const SHORT_ROUNDS: u32 = 2;
const SHORT_PIECES: u32 = 2;
/// Bytes of the largest buffer that is made use of.
const MOST_BYTES: u64 = 512 << 20;

pub(super) struct Plan {
    of: Vec<LoadOf>,
    bytes: u64,
    is_short: bool,
    steps: u64,
}

impl Plan {
    pub(super) fn new(gpus: &[u32], proven: &BTreeSet<(u32, u32)>, buffer: u64, is_short: bool) -> Self {
        let peers = peers(gpus, proven);
        let of = |gpu: &u32| LoadOf {
            gpu: *gpu,
            launches: 1,
            rounds: if is_short { SHORT_ROUNDS } else { FIRST_ROUNDS },
            from_host: 1,
            to_host: 1,
            peer: peers.get(gpu).copied(),
            to_peer: u32::from(peers.contains_key(gpu)),
        };
        Self {
            of: gpus.iter().map(of).collect(),
            bytes: buffer.min(MOST_BYTES) / 2,
            is_short,
            steps: 0,
        }
    }

    pub(super) fn gpus(&self) -> Vec<u32> {
        self.of.iter().map(|of| of.gpu).collect()
    }

    /// Directions that must be enabled, initiator first.
    pub(super) fn access(&self) -> Vec<(u32, u32)> {
        self.of.iter().filter_map(|of| Some((of.gpu, of.peer?))).collect()
    }

    pub(super) fn step(&self, sample: bool, is_first: bool, limit_ms: u64) -> LoadStep {
        LoadStep {
            gpus: self.of.clone(),
            bytes: self.bytes,
            host_bytes: self.bytes / 2,
            compare_host: !is_first,
            sample,
            limit_ms,
        }
    }

    /// Plans the next step by what the last one took.
    pub(super) fn learn(&mut self, gpus: &[LoadedGpu]) {
        let is_planned = self.steps < PLANNED_STEPS;
        self.steps += 1;
        if self.is_short {
            for of in &mut self.of {
                (of.launches, of.from_host, of.to_host) = (SHORT_PIECES, SHORT_PIECES, SHORT_PIECES);
                of.to_peer = of.to_peer.min(1) * SHORT_PIECES;
            }
            return;
        }
        for of in &mut self.of {
            let Some(did) = gpus.iter().find(|gpu| gpu.gpu == of.gpu) else {
                continue;
            };
            let mut seconds = did.launch.seconds;
            if is_planned && seconds > 0.0 {
                // Each GPU its own: a fast one beside a slow one would be idle most of the time.
                let before = f64::from(of.rounds);
                of.rounds = rounded(before * LAUNCH / seconds, MOST_ROUNDS);
                seconds *= f64::from(of.rounds) / before;
            }
            of.launches = pieces(seconds).unwrap_or(of.launches);
            of.from_host = next(did.from_host, of.from_host);
            of.to_host = next(did.to_host, of.to_host);
            of.to_peer = next(did.to_peer, of.to_peer);
        }
    }
}

fn next(took: Took, before: u32) -> u32 {
    pieces(took.seconds).unwrap_or(before)
}

/// How many pieces fill a step; nothing where it is not known how long one takes.
fn pieces(seconds: f64) -> Option<u32> {
    (seconds > 0.0 && seconds.is_finite()).then(|| rounded(WORK / seconds, MOST))
}

fn rounded(number: f64, most: u32) -> u32 {
    let number = number.clamp(1.0, f64::from(most)).round();
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and a number of 32 bits"
    )]
    let number = number as u32;
    number
}

/// To which GPU each sends: in a ring where every step of it is proven, else the first that is free.
fn peers(gpus: &[u32], proven: &BTreeSet<(u32, u32)>) -> BTreeMap<u32, u32> {
    let mut peers = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for (place, gpu) in gpus.iter().enumerate() {
        let behind = gpus.iter().skip(place + 1).chain(gpus.iter().take(place));
        let mut free = behind.filter(|other| proven.contains(&(*gpu, **other)) && !taken.contains(*other));
        if let Some(other) = free.next() {
            peers.insert(*gpu, *other);
            taken.insert(*other);
        }
    }
    peers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(gpus: u32) -> BTreeSet<(u32, u32)> {
        let pairs = (0..gpus).flat_map(|a| (0..gpus).map(move |b| (a, b)));
        pairs.filter(|(a, b)| a != b).collect()
    }

    fn did(gpu: u32, launch: f64, copy: f64) -> LoadedGpu {
        let took = |seconds| Took { times: 1, seconds };
        LoadedGpu {
            gpu,
            operations: 1.0,
            launch: took(launch),
            from_host: took(copy),
            to_host: took(copy),
            to_peer: Took::default(),
            checks: 1,
        }
    }

    #[test]
    fn gpus_send_in_a_ring_and_nobody_gets_from_two() {
        let ring = peers(&[0, 1, 2, 3], &all(4));
        assert_eq!(
            ring.into_iter().collect::<Vec<_>>(),
            [(0, 1), (1, 2), (2, 3), (3, 0)]
        );
        assert!(peers(&[0, 1], &BTreeSet::new()).is_empty());
        let one_pair = BTreeSet::from([(0, 2), (2, 0)]);
        assert_eq!(
            peers(&[0, 1, 2], &one_pair).into_iter().collect::<Vec<_>>(),
            [(0, 2), (2, 0)]
        );
    }

    #[test]
    fn a_step_is_filled_and_no_queue_is() {
        let mut plan = Plan::new(&[0, 1], &all(2), 256 << 20, false);
        plan.learn(&[did(0, 0.0001, 0.001), did(1, 0.0002, 0.01)]);
        // Launches of both take 8 ms from now on.
        let rounds = |plan: &Plan| plan.of.iter().map(|of| of.rounds).collect::<Vec<_>>();
        let launches = |plan: &Plan| plan.of.iter().map(|of| of.launches).collect::<Vec<_>>();
        assert_eq!(
            (rounds(&plan), launches(&plan)),
            (vec![81_920, 40_960], vec![63, 63])
        );
        assert_eq!(
            plan.of.iter().map(|of| of.from_host).collect::<Vec<_>>(),
            [MOST, 50]
        );
        // The first launch was that of a GPU with low clocks; rounds are planned once more, and then they stay.
        plan.learn(&[did(0, 0.004, 0.001), did(1, 0.008, 0.01)]);
        assert_eq!(
            (rounds(&plan), launches(&plan)),
            (vec![163_840, 40_960], vec![63, 63])
        );
        plan.learn(&[did(0, 0.004, 0.001), did(1, 0.008, 0.01)]);
        assert_eq!(
            (rounds(&plan), launches(&plan)),
            (vec![163_840, 40_960], vec![125, 63])
        );
    }

    /// A GPU for the display, a hundred times slower: the other one is loaded all the same.
    #[test]
    fn a_slow_gpu_leaves_no_other_idle() {
        let mut plan = Plan::new(&[0, 1], &all(2), 256 << 20, false);
        plan.learn(&[did(0, 0.0001, 0.001), did(1, 0.01, 0.01)]);
        for of in &plan.of {
            assert!((60..=65).contains(&of.launches), "{}", of.launches);
        }
    }

    #[test]
    fn copies_are_as_large_as_half_of_what_a_buffer_holds() {
        let plan = Plan::new(&[0, 1], &all(2), 256 << 20, false);
        let step = plan.step(true, false, 1000);
        assert_eq!((step.bytes, step.host_bytes), (128 << 20, 64 << 20));
    }
}
