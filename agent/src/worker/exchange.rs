//! Rung 5: a kernel on each of two GPUs, both running, exchange numbers through each other's memory, as NCCL's do.
//! Copies and stores that are looked at afterwards pass on mappings on which this hangs.

use std::time::Duration;

use kb_core::report::Mismatch;

use crate::gpu::{Observed, Side, Windows};

use super::check::Between;
use super::outcome::{Stop, access, before};
use super::protocol::{CallFailure, CheckResult};

/// Most rounds; as many as a window has words where that is less.
const MOST_ROUNDS: u32 = 1024;
/// The kernels give up after this part of the time that a step has.
const SHARE_OF_LIMIT: u32 = 8;
/// Words of a window that are used: the number of the round, and a value.
const WORDS: usize = 2;

pub(super) fn run(pair: &Between<'_>) -> Result<Option<Mismatch>, Stop> {
    let (initiator, owner) = (pair.initiator, pair.owner);
    let zones = [initiator.data().map_err(before)?, owner.data().map_err(before)?];
    let [at_initiator, at_owner] = zones.map(|windows| windows.first_words(WORDS));
    for (place, windows) in [(initiator, at_initiator), (owner, at_owner)] {
        place.stream.set(windows, 0).map_err(before)?;
        place
            .stream
            .wait("cuMemsetD32Async", pair.limit)
            .map_err(before)?;
    }
    let rounds = u32::try_from(zones[1].words).map_or(MOST_ROUNDS, |words| words.min(MOST_ROUNDS));
    let [to_owner, to_initiator] = seeds(pair.pattern.seed);
    let limit = pair.limit / SHARE_OF_LIMIT;
    let sides = [
        (initiator, at_initiator, at_owner, to_owner, to_initiator),
        (owner, at_owner, at_initiator, to_initiator, to_owner),
    ];
    let launched = sides.map(|(place, own, peer, seed_out, seed_in)| {
        let side = Side {
            own,
            peer,
            rounds,
            seed_out,
            seed_in,
            limit,
        };
        let kernels = place.kernels().map_err(before)?;
        kernels.exchange(&place.stream, side).map_err(access)
    });
    // Both sides are waited for in any case: one that still runs would store into the windows of the next check.
    let observed = [initiator, owner].map(|place| {
        let kernels = place.kernels().map_err(before)?;
        kernels.observed(&place.stream, pair.limit).map_err(access)
    });
    let [initiators_launch, owners_launch] = launched;
    initiators_launch.and(owners_launch)?;
    let [by_initiator, by_owner] = observed;
    let (by_initiator, by_owner) = (by_initiator?, by_owner?);
    judge(by_owner, by_initiator, rounds, limit, at_owner)
}

fn seeds(seed: u64) -> [u32; 2] {
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(0);
    [half(seed), half(seed >> 32)]
}

/// What the owner observed of the initiator's stores. Of two sides that both starve, the one behind was let down by
/// the other's stores: it had not got the round that the other one had.
fn judge(
    by_owner: Observed,
    by_initiator: Observed,
    rounds: u32,
    limit: Duration,
    at_owner: Windows<'_>,
) -> Result<Option<Mismatch>, Stop> {
    let wrong = |round: u32, words: u32| Mismatch {
        // The window of that round.
        first_offset: at_owner.offset_of(u64::from(round % at_owner.count.max(1)) * WORDS as u64),
        words: u64::from(words),
        in_guard: false,
        untouched: false,
        writer_sees_it: None,
    };
    if by_owner.wrong > 0 {
        return Ok(Some(wrong(by_owner.first_wrong, by_owner.wrong)));
    }
    if by_owner.rounds >= rounds {
        return Ok(None);
    }
    let awaited = by_owner.rounds + 1;
    let stood_before = awaited.saturating_sub(at_owner.count);
    if by_owner.last != stood_before {
        return Ok(Some(wrong(awaited, 1)));
    }
    let seconds = limit.as_secs_f64();
    let done = by_owner.rounds;
    if done > by_initiator.rounds {
        return Err(Stop::Settled(CheckResult::Unprepared {
            failure: told(format!(
                "after {done} of {rounds} rounds the stores the other way did not arrive, so these were not waited for"
            )),
        }));
    }
    Err(Stop::Settled(CheckResult::Hang {
        failure: told(format!(
            "two kernels that both run exchange numbers: round {awaited} of {rounds} had not come through after \
             {seconds} s, when the kernels gave up by their own clocks"
        )),
    }))
}

fn told(message: String) -> CallFailure {
    CallFailure {
        call: "cuLaunchKernel".to_owned(),
        code: None,
        code_name: None,
        message,
        reason_code: None,
        // Both kernels have ended by themselves.
        poisoned: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Span;

    fn seen(rounds: u32, last: u32) -> Observed {
        Observed {
            rounds,
            last,
            wrong: 0,
            first_wrong: 0,
        }
    }

    fn judged(by_owner: Observed, by_initiator: Observed) -> CheckResult {
        let windows = Span::of_nothing(1 << 20).windows(0, 4096, 16, 8).unwrap();
        super::super::outcome::result(judge(by_owner, by_initiator, 64, Duration::from_secs(1), windows))
    }

    #[test]
    fn all_rounds_with_the_right_values_pass() {
        assert!(matches!(judged(seen(64, 0), seen(64, 0)), CheckResult::Pass));
    }

    #[test]
    fn the_side_that_is_behind_was_let_down() {
        // The owner waits for round 20, whose window holds round 4 still; the initiator has got round 20.
        let CheckResult::Hang { failure } = judged(seen(19, 4), seen(20, 5)) else {
            panic!()
        };
        assert!(failure.message.contains("round 20 of 64"), "{}", failure.message);
        assert!(!failure.poisoned);
        assert!(matches!(
            judged(seen(20, 5), seen(19, 4)),
            CheckResult::Unprepared { .. }
        ));
        assert!(matches!(judged(seen(0, 0), seen(0, 0)), CheckResult::Hang { .. }));
    }

    #[test]
    fn a_wrong_value_or_number_is_wrong_data_and_no_hang() {
        let value = Observed {
            wrong: 3,
            first_wrong: 17,
            ..seen(64, 0)
        };
        let CheckResult::Wrong { mismatch } = judged(value, seen(64, 0)) else {
            panic!()
        };
        assert_eq!((mismatch.first_offset, mismatch.words), (4096, 3));
        let CheckResult::Wrong { mismatch } = judged(seen(1, 0x8000_0002), seen(2, 0)) else {
            panic!()
        };
        assert_eq!(mismatch.first_offset, 2 * 4096);
    }
}
