//! What quick and full mode measure, and how large and how often.

use kb_core::report::Gpu;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BenchOptions {
    pub(crate) full: bool,
    pub(crate) bytes: Option<u64>,
}

impl BenchOptions {
    /// Bytes of the largest copies, where the GPUs have room for them.
    pub(crate) fn largest(self) -> u64 {
        let default = if self.full { 512 << 20 } else { 256 << 20 };
        self.bytes.unwrap_or(default)
    }
}

/// Sizes of the sweep; those above the largest copy are left out.
pub(in crate::probe) const SWEEP: [u64; 7] = [
    4 << 10,
    64 << 10,
    1 << 20,
    16 << 20,
    64 << 20,
    256 << 20,
    512 << 20,
];
/// Bytes of a copy whose latency is measured, and how many are timed together: as p2pBandwidthLatencyTest.
pub(super) const LATENCY_BYTES: u64 = 16;
pub(super) const LATENCY_COPIES: u32 = 100;
/// Copies in front of those that count: as many as nvbandwidth in the first sample of a cell. The others follow within
/// a millisecond or two, with everything warm but the links, which one copy wakes.
const WARM_UPS: [u32; 2] = [4, 1];
/// Copies through the host, which take ten times as long, those in front of them, and their size: what they need of each
/// other does not show beyond some megabytes, and they cannot run beside each other.
pub(super) const STAGED_COPIES: u32 = 2;
pub(super) const STAGED_WARM_UPS: [u32; 2] = [1, 1];
const STAGED_BYTES: u64 = 128 << 20;
/// Bytes that a load of a chase moves.
pub(super) const LOAD_BYTES: u64 = 8;

pub(super) const HOPS_UNDER_LOAD: u32 = 4000;
/// Copies of the load: at 2 us a hop and 400 GB/s the first outlast it with warm-up; where they do not, it is
/// measured again with the second.
pub(super) const COPIES_OF_LOAD: [u32; 2] = [24, 192];
/// Copies of a sweep's small sizes: the events' clock ticks in half microseconds.
const COPIES_OF_SMALL: u32 = 64;
const SMALL: u64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::probe) struct Mode {
    pub(super) full: bool,
    /// Bytes of the largest copies between GPUs.
    pub(in crate::probe) bytes: u64,
    /// The same of copies that are staged through the host.
    pub(super) staged_bytes: u64,
    /// The same with page-locked host memory, and with ordinary memory.
    pub(super) pinned_bytes: u64,
    pub(super) pageable_bytes: u64,
    pub(super) copies: u32,
    /// The same with host memory, which is slower.
    pub(super) host_copies: u32,
    pub(super) samples: u32,
    pub(super) hops: u32,
}

impl Mode {
    /// Within what the smallest GPU can spare: the ladder holds three quarters of its memory, the bench two buffers.
    pub(in crate::probe) fn of(chosen: BenchOptions, gpus: &[Gpu]) -> Self {
        let smallest = gpus.iter().filter_map(|gpu| gpu.memory_bytes.value).min();
        let spare = smallest.map_or(u64::MAX, |bytes| (bytes / 32).next_multiple_of(2 << 20));
        let bytes = chosen.largest().min(spare);
        Self {
            full: chosen.full,
            bytes,
            staged_bytes: bytes.min(STAGED_BYTES),
            pinned_bytes: bytes.min(256 << 20),
            pageable_bytes: bytes.min(64 << 20),
            copies: 8,
            host_copies: 4,
            samples: if chosen.full { 5 } else { 3 },
            hops: if chosen.full { 60_000 } else { 40_000 },
        }
    }

    pub(super) fn copies_of(self, bytes: u64) -> u32 {
        if bytes < SMALL {
            COPIES_OF_SMALL
        } else {
            self.copies
        }
    }

    /// Copies in front of those that count, at a size: of small ones as many in each sample, since they cost nothing.
    pub(super) fn warm_ups_of(bytes: u64) -> [u32; 2] {
        let [first, others] = WARM_UPS;
        [first, if bytes < SMALL { first } else { others }]
    }

    /// A share of the largest copy for each of so many that use one buffer at the same time, in whole vectors.
    pub(super) fn share(self, of: usize) -> u64 {
        let of = u64::try_from(of).unwrap_or(u64::MAX).max(1);
        (self.bytes / of / 4096 * 4096).max(16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fit_into_the_buffer() {
        let mode = Mode::of(
            BenchOptions {
                full: true,
                bytes: None,
            },
            &[],
        );
        assert_eq!((mode.bytes, mode.samples), (512 << 20, 5));
        for of in [1, 3, 7] {
            let share = mode.share(of);
            assert!(
                share * of as u64 <= mode.bytes && share.is_multiple_of(4096),
                "{of}: {share}"
            );
        }
    }
}
