//! The collectives that are measured, and what each moves: counts and bus bandwidth after nccl-tests' own page
//! (NVIDIA/nccl-tests, doc/PERFORMANCE.md), so that figures compare.

use serde::{Deserialize, Serialize};

/// Bytes of a number: all of it is done with 32-bit floats, as nccl-tests does.
pub(super) const NUMBER_BYTES: u64 = 4;
/// Parts of a buffer begin at multiples of so many numbers (16 bytes), as in nccl-tests.
const PART_NUMBERS: u64 = 4;

/// An operation over all ranks. The names are those of nccl-tests' programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Collective {
    /// The sum of everybody's numbers, for everybody.
    AllReduce,
    AllGather,
    /// A part of the sum for each.
    ReduceScatter,
    Broadcast,
    Reduce,
    /// A part of each one's numbers for each, by sends and receives of one group.
    Alltoall,
    /// Each rank's numbers, for the next one.
    Sendrecv,
}

impl Collective {
    pub(crate) const ALL: [Self; 7] = [
        Self::AllReduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::Broadcast,
        Self::Reduce,
        Self::Alltoall,
        Self::Sendrecv,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all_reduce",
            Self::AllGather => "all_gather",
            Self::ReduceScatter => "reduce_scatter",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Alltoall => "alltoall",
            Self::Sendrecv => "sendrecv",
        }
    }

    pub(super) fn call(self) -> &'static str {
        match self {
            Self::AllReduce => "ncclAllReduce",
            Self::AllGather => "ncclAllGather",
            Self::ReduceScatter => "ncclReduceScatter",
            Self::Broadcast => "ncclBroadcast",
            Self::Reduce => "ncclReduce",
            Self::Alltoall | Self::Sendrecv => "ncclSend",
        }
    }

    fn has_parts(self) -> bool {
        matches!(self, Self::AllGather | Self::ReduceScatter | Self::Alltoall)
    }

    /// Numbers of a part (of the whole where there are none) at a size of so many bytes.
    pub(crate) fn count(self, bytes: u64, ranks: u32) -> u64 {
        let numbers = bytes / NUMBER_BYTES;
        if self.has_parts() {
            numbers / u64::from(ranks.max(1)) / PART_NUMBERS * PART_NUMBERS
        } else {
            numbers
        }
    }

    /// Bytes that count as moved at a size: less than the size where it has no whole parts.
    pub(crate) fn bytes(self, bytes: u64, ranks: u32) -> u64 {
        let parts = if self.has_parts() { u64::from(ranks) } else { 1 };
        self.count(bytes, ranks) * parts * NUMBER_BYTES
    }

    pub(super) fn numbers(self, bytes: u64, ranks: u32) -> (u64, u64) {
        let count = self.count(bytes, ranks);
        let whole = count * u64::from(ranks);
        match self {
            Self::AllReduce | Self::Broadcast | Self::Reduce | Self::Sendrecv => (count, count),
            Self::AllGather => (count, whole),
            Self::ReduceScatter => (whole, count),
            Self::Alltoall => (whole, whole),
        }
    }

    pub(crate) fn received(self, bytes: u64, ranks: u32) -> u64 {
        self.numbers(bytes, ranks).1
    }

    /// Bus bandwidth as a share of bytes over time: what the slowest link carries, whatever the number of ranks.
    pub(crate) fn bus_factor(self, ranks: u32) -> f64 {
        let n = f64::from(ranks.max(1));
        match self {
            Self::AllReduce => 2.0 * (n - 1.0) / n,
            Self::AllGather | Self::ReduceScatter | Self::Alltoall => (n - 1.0) / n,
            Self::Broadcast | Self::Reduce | Self::Sendrecv => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Collective::{AllGather, AllReduce, Alltoall, Broadcast, Reduce, ReduceScatter, Sendrecv};

    /// Lines of nccl-tests on 2x H200: size, time in us, bus bandwidth.
    #[test]
    fn bus_bandwidth_is_that_of_nccl_tests() {
        for (of, ranks, bytes, time, bus) in [
            (AllReduce, 2, 536_870_912, 1717.21, 312.64),
            (Broadcast, 2, 536_870_912, 1483.31, 361.94),
        ] {
            let algorithm = f64::from(bytes) / time / 1e3;
            let found = algorithm * of.bus_factor(ranks);
            assert!((found - bus).abs() < 0.01, "{of:?}: {found}");
        }
    }

    #[test]
    fn factors_are_those_of_the_page() {
        let page = [
            (AllReduce, 6, 4),
            (AllGather, 3, 4),
            (ReduceScatter, 3, 4),
            (Alltoall, 3, 4),
            (Broadcast, 1, 1),
            (Reduce, 1, 1),
            (Sendrecv, 1, 1),
        ];
        for (of, part, whole) in page {
            let distance = of.bus_factor(4) - f64::from(part) / f64::from(whole);
            assert!(distance.abs() < 1e-12, "{of:?}");
        }
    }

    #[test]
    fn parts_are_whole_vectors() {
        assert_eq!(AllReduce.count(4096, 3), 1024);
        assert_eq!((AllGather.count(4096, 3), AllGather.bytes(4096, 3)), (340, 4080));
        assert_eq!(ReduceScatter.numbers(4096, 4), (1024, 256));
        assert_eq!(AllGather.numbers(4096, 4), (256, 1024));
        assert_eq!(Alltoall.numbers(4096, 4), (1024, 1024));
        assert_eq!(Sendrecv.numbers(4096, 4), (1024, 1024));
    }
}
