//! Directed pairs, and which of them can be measured at the same time.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::probe) struct Way {
    pub(super) source: u32,
    pub(super) destination: u32,
    pub(super) closed: Option<String>,
}

impl Way {
    pub(in crate::probe) fn open(source: u32, destination: u32) -> Self {
        Self {
            source,
            destination,
            closed: None,
        }
    }

    pub(super) fn back(&self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            closed: self.closed.clone(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    Nobody,
    /// Ways that share no GPU with it.
    Others,
    OthersAndBack,
}

/// The open ones, in rounds of those that run at the same time. Of n GPUs that all have ways to each other there are
/// n - 1 rounds of pairs (n where it is odd), the fewest there can be, and twice as many of single directions: their
/// number grows as the GPUs do, and not as the pairs.
pub(super) fn rounds(ways: &[Way], beside: Beside) -> Vec<Vec<Way>> {
    let open = ways.iter().filter(|way| way.closed.is_none()).cloned();
    if beside == Beside::Nobody {
        return open.map(|way| vec![way]).collect();
    }
    let open: Vec<Way> = open.collect();
    let gpus: BTreeSet<u32> = open
        .iter()
        .flat_map(|way| [way.source, way.destination])
        .collect();
    let seats: BTreeMap<u32, usize> = gpus.into_iter().zip(0..).collect();
    let mut rounds: BTreeMap<(usize, bool), Vec<Way>> = BTreeMap::new();
    for way in open {
        let seat = |gpu: u32| seats.get(&gpu).copied().unwrap_or(0);
        let (from, to) = (seat(way.source), seat(way.destination));
        let back = beside == Beside::Others && from > to;
        let round = day(from, to, seats.len());
        rounds.entry((round, back)).or_default().push(way);
    }
    rounds.into_values().collect()
}

/// On which day two of so many players meet in a tournament in which all play every day: the circle method, which
/// colours the edges of a complete graph. The last player of an even number sits in the middle of the circle.
fn day(a: usize, b: usize, players: usize) -> usize {
    let circle = if players.is_multiple_of(2) {
        players.saturating_sub(1)
    } else {
        players
    };
    let (low, high) = (a.min(b), a.max(b));
    let other = if high == circle { low } else { high };
    (low + other) % circle.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(gpus: &[u32]) -> Vec<Way> {
        let pairs = gpus.iter().flat_map(|a| gpus.iter().map(move |b| (*a, *b)));
        pairs
            .filter(|(a, b)| a != b)
            .map(|(a, b)| Way::open(a, b))
            .collect()
    }

    #[test]
    fn rounds_grow_as_the_gpus_do() {
        for gpus in 2..=16_u32 {
            let ways = all(&(0..gpus).collect::<Vec<_>>());
            let pairs: Vec<Way> = ways
                .iter()
                .filter(|way| way.source < way.destination)
                .cloned()
                .collect();
            let fewest = (gpus - 1 + gpus % 2) as usize;
            for (ways, beside, expected) in [
                (&pairs, Beside::Others, fewest),
                (&ways, Beside::Others, 2 * fewest),
                (&ways, Beside::OthersAndBack, fewest),
                (&ways, Beside::Nobody, ways.len()),
            ] {
                let rounds = rounds(ways, beside);
                assert_eq!(rounds.len(), expected, "{gpus} GPUs, {beside:?}");
                assert_eq!(rounds.iter().map(Vec::len).sum::<usize>(), ways.len());
            }
        }
    }

    #[test]
    fn no_gpu_is_in_a_round_twice() {
        for gpus in 2..=9_u32 {
            let ways = all(&(0..gpus).collect::<Vec<_>>());
            for round in rounds(&ways, Beside::Others) {
                let ends = round.iter().flat_map(|way| [way.source, way.destination]);
                let ends: BTreeSet<u32> = ends.collect();
                assert_eq!(ends.len(), 2 * round.len(), "{round:?}");
            }
            for round in rounds(&ways, Beside::OthersAndBack) {
                let sources: BTreeSet<u32> = round.iter().map(|way| way.source).collect();
                assert_eq!(sources.len(), round.len(), "{round:?}");
                assert!(
                    round.iter().all(|way| round.contains(&way.back())),
                    "its own way back and no other: {round:?}"
                );
            }
        }
    }

    #[test]
    fn gpus_that_are_left_out_cost_no_rounds() {
        let ways = all(&[0, 5, 6, 7]);
        assert_eq!(rounds(&ways, Beside::Others).len(), 6);
    }

    #[test]
    fn what_is_closed_is_in_no_round() {
        let closed = Way {
            closed: Some("refused".to_owned()),
            ..Way::open(0, 1)
        };
        assert!(rounds(&[closed], Beside::Others).is_empty());
    }
}
