//! The nonce pattern: the same function as in `kernels.ptx`.

/// Odd constant of `SplitMix64`, the golden ratio in 64 bits (Steele, Lea, Flood: Fast splittable PRNGs, OOPSLA 2014).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB)
}

pub(crate) fn word(seed: u64, index: u64) -> u32 {
    let mixed = mix(seed.wrapping_add(index.wrapping_mul(GOLDEN)));
    u32::try_from(mixed >> 32).unwrap_or(u32::MAX)
}

/// What a pattern is for. Another value of any field is another pattern, so that data left by an earlier check, by
/// the other direction or by another run never passes for this one's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nonce {
    pub(crate) run: u64,
    /// Whose context or kernel accesses the other's memory.
    pub(crate) initiator: u32,
    pub(crate) owner: u32,
    pub(crate) rung: u32,
    /// Which of its checks, and which of the patterns of that.
    pub(crate) check: u32,
    pub(crate) attempt: u32,
}

impl Nonce {
    pub(crate) fn seed(self) -> u64 {
        let pair = (u64::from(self.initiator) << 32) | u64::from(self.owner);
        let step = (u64::from(self.rung) << 48) | (u64::from(self.check) << 32) | u64::from(self.attempt);
        let mut seed = mix(self.run.wrapping_add(GOLDEN));
        for part in [pair, step] {
            seed = mix(seed ^ part.wrapping_add(GOLDEN));
        }
        seed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn words_are_those_of_splitmix64() {
        // First outputs for seed 1234567 as published for SplitMix64 start from state + golden ratio, that is our
        // index 1; the last xor-shift of the generator leaves the upper half unchanged but for its top bits.
        let published = [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973];
        for (index, expected) in (1_u64..).zip(published) {
            let before_last_shift = expected ^ (expected >> 31) ^ (expected >> 62);
            assert_eq!(u64::from(word(1_234_567, index)), before_last_shift >> 32);
        }
    }

    #[test]
    fn every_part_of_the_nonce_changes_the_seed() {
        let mut seeds = BTreeSet::new();
        let mut made = 0;
        for run in [0, 1] {
            for (initiator, owner) in [(0, 1), (1, 0), (0, 2)] {
                for (rung, check) in [(3, 1), (3, 2), (4, 1), (5, 7)] {
                    for attempt in 0..2 {
                        let nonce = Nonce {
                            run,
                            initiator,
                            owner,
                            rung,
                            check,
                            attempt,
                        };
                        seeds.insert(nonce.seed());
                        made += 1;
                    }
                }
            }
        }
        assert_eq!(seeds.len(), made);
    }

    #[test]
    fn neighbouring_words_differ() {
        let words: BTreeSet<u32> = (0..1000).map(|index| word(42, index)).collect();
        assert!(words.len() > 990);
    }
}
