//! Rung 4, atomics: a kernel of the initiator adds to counters of the owner, in steps that are one for the whole
//! system, and leaves beside each counter what every addition found. The owner looks whether all of them counted.

use std::ops::Range;

use kb_core::report::Mismatch;

use super::check::{Between, expose};
use super::outcome::{Stop, access, before, not_supported};
use super::place::expected;
use crate::gpu::Pattern;

/// Words of a window that are used: the counter, and what the additions found.
const WORDS: usize = 256;

pub(super) fn run(pair: &Between<'_>) -> Result<Option<Mismatch>, Stop> {
    let kernels = pair.initiator.kernels().map_err(before)?;
    if let Some(error) = kernels.without_atomics() {
        return Err(not_supported(error));
    }
    let zones = pair.owner.zones().map_err(before)?;
    expose(pair.owner, zones, pair.pattern).map_err(before)?;
    let target = zones.data.first_words(WORDS);
    let addend = addend_of(pair.pattern.seed);
    let stream = &pair.initiator.stream;
    kernels
        .add(stream, target, addend)
        .and_then(|()| stream.wait("cuLaunchKernel", pair.limit))
        .map_err(access)?;

    let found = pair.owner.stream.download(target, pair.limit).map_err(access)?;
    // What stood there before, by the order in which the owner filled the whole windows.
    let complement = Pattern {
        complement: true,
        ..pair.pattern
    };
    let start_of = |window: usize| expected(complement, (window * zones.data.words) as u64);
    let mut first = None;
    let mut words = 0;
    let mut untouched = true;
    for (window, found) in found.chunks(target.words).enumerate() {
        let before = start_of(window);
        untouched &= found.first() == Some(&before);
        let wrong = wrong_words(found, before, addend);
        if let Some(at) = wrong.first {
            first = first.or(Some((window * target.words + at) as u64));
        }
        words += wrong.count;
    }
    Ok(first.map(|word| Mismatch {
        first_offset: target.offset_of(word),
        words,
        in_guard: false,
        untouched,
        writer_sees_it: None,
    }))
}

/// Odd, so that each sum of so many additions is another number.
fn addend_of(seed: u64) -> u32 {
    u32::try_from(seed & u64::from(u32::MAX)).unwrap_or(0) | 1
}

struct WrongWords {
    first: Option<usize>,
    count: u64,
}

/// Checks the counter and what the additions found: each raised the counter, and each found another sum on the way.
fn wrong_words(found: &[u32], before: u32, addend: u32) -> WrongWords {
    let (counter, olds) = found
        .split_first()
        .map_or((0, found), |(first, rest)| (*first, rest));
    let additions = u32::try_from(olds.len()).unwrap_or(u32::MAX);
    let sum = |count: u32| before.wrapping_add(addend.wrapping_mul(count));
    let mut missing: std::collections::BTreeSet<u32> = steps(additions).map(sum).collect();
    let mut wrong = Vec::new();
    if counter != sum(additions) {
        wrong.push(0);
    }
    for (at, old) in (1_usize..).zip(olds) {
        if !missing.remove(old) {
            wrong.push(at);
        }
    }
    WrongWords {
        first: wrong.first().copied(),
        count: wrong.len() as u64,
    }
}

fn steps(additions: u32) -> Range<u32> {
    0..additions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(before: u32, addend: u32) -> Vec<u32> {
        let sum = |count: u32| before.wrapping_add(addend.wrapping_mul(count));
        // In any order.
        [sum(4), sum(2), sum(0), sum(3), sum(1)].to_vec()
    }

    #[test]
    fn additions_in_any_order_are_right() {
        let found = right(u32::MAX - 3, 0x8000_0001);
        assert_eq!(wrong_words(&found, u32::MAX - 3, 0x8000_0001).first, None);
    }

    #[test]
    fn a_lost_addition_and_one_that_found_what_another_did_are_wrong() {
        let mut lost = right(7, 3);
        lost[0] -= 3;
        let wrong = wrong_words(&lost, 7, 3);
        assert_eq!((wrong.first, wrong.count), (Some(0), 1));
        let mut twice = right(7, 3);
        twice[4] = twice[1];
        let wrong = wrong_words(&twice, 7, 3);
        assert_eq!((wrong.first, wrong.count), (Some(4), 1));
    }
}
