//! What ranks send, and what each must have received: small whole numbers, so that sums of floats are exact.

use crate::gpu::Collective;

/// Period of a rank's numbers. A prime, so that a misplaced piece shows: pieces are multiples of powers of two.
pub(super) const PERIOD: u64 = 65_521;

/// Number `index` of what a rank sends: 1 to 251.
pub(super) fn sent(rank: u32, index: u64) -> f32 {
    let number = ((index % PERIOD) * 31 + u64::from(rank) * 17) % 251 + 1;
    // Below 2^8: no rounding, nor in the sum of any number of ranks below 2^16.
    f32::from(u8::try_from(number).unwrap_or(u8::MAX))
}

/// Number `index` of what a rank has then; `None` where it receives nothing.
pub(super) fn expected(collective: Collective, rank: u32, ranks: u32, count: u64, index: u64) -> Option<f32> {
    let sum = |index: u64| (0..ranks).map(|other| sent(other, index)).sum();
    let count = count.max(1);
    let of_part = || u32::try_from(index / count).unwrap_or(u32::MAX);
    Some(match collective {
        Collective::AllReduce => sum(index),
        Collective::AllGather => sent(of_part(), index % count),
        Collective::ReduceScatter => sum(u64::from(rank) * count + index),
        Collective::Broadcast => sent(0, index),
        Collective::Reduce if rank == 0 => sum(index),
        Collective::Reduce => return None,
        Collective::Alltoall => sent(of_part(), u64::from(rank) * count + index % count),
        Collective::Sendrecv => sent((rank + ranks.max(1) - 1) % ranks.max(1), index),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definitions of NCCL's user guide (collective operations), written out for three ranks of four numbers.
    #[test]
    fn what_is_expected_is_what_the_collectives_are_defined_as() {
        let all = |collective, rank, numbers| -> Vec<Option<f32>> {
            (0..numbers)
                .map(|index| expected(collective, rank, 3, 4, index))
                .collect()
        };
        let given: Vec<Vec<f32>> = (0..3)
            .map(|rank| (0..12).map(|index| sent(rank, index)).collect())
            .collect();
        let sums: Vec<Option<f32>> = (0..12)
            .map(|at| Some(given[0][at] + given[1][at] + given[2][at]))
            .collect();
        assert_eq!(all(Collective::AllReduce, 1, 4), sums[..4]);
        assert_eq!(all(Collective::ReduceScatter, 2, 4), sums[8..]);
        assert_eq!(all(Collective::Reduce, 0, 4), sums[..4]);
        assert_eq!(all(Collective::Reduce, 1, 4), [None; 4]);
        let of = |rank: usize, from: usize| given[rank][from..from + 4].iter().copied().map(Some);
        let joined: Vec<Option<f32>> = (0..3).flat_map(|rank| of(rank, 0)).collect();
        assert_eq!(all(Collective::AllGather, 1, 12), joined);
        let turned: Vec<Option<f32>> = (0..3).flat_map(|rank| of(rank, 4)).collect();
        assert_eq!(all(Collective::Alltoall, 1, 12), turned);
        assert_eq!(all(Collective::Broadcast, 2, 4), of(0, 0).collect::<Vec<_>>());
        assert_eq!(all(Collective::Sendrecv, 0, 4), of(2, 0).collect::<Vec<_>>());
    }

    #[test]
    fn ranks_and_places_differ() {
        let first = sent(0, 0).to_bits();
        assert_ne!(first, sent(1, 0).to_bits());
        assert_ne!(first, sent(0, 1).to_bits());
        assert_ne!(first, sent(0, 1 << 16).to_bits(), "a power of two is no period");
    }
}
