//! Directed pairs, and which of them can be measured at the same time.

use std::collections::BTreeSet;

/// A directed pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::probe) struct Way {
    /// Where the bytes come from.
    pub(super) source: u32,
    /// Where they go.
    pub(super) destination: u32,
    /// Why nothing is measured there.
    pub(super) closed: Option<String>,
}

impl Way {
    /// One that can be used.
    pub(in crate::probe) fn open(source: u32, destination: u32) -> Self {
        Self {
            source,
            destination,
            closed: None,
        }
    }

    /// The same pair the other way.
    pub(super) fn back(&self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            closed: self.closed.clone(),
        }
    }
}

/// The open ones, in rounds in which no GPU is used twice; one a round where they must not run at the same time.
pub(super) fn rounds(ways: &[Way], at_once: bool) -> Vec<Vec<Way>> {
    let mut left: Vec<Way> = ways.iter().filter(|way| way.closed.is_none()).cloned().collect();
    if !at_once {
        return left.into_iter().map(|way| vec![way]).collect();
    }
    let mut rounds = Vec::new();
    while !left.is_empty() {
        let mut used = BTreeSet::new();
        let (round, later): (Vec<Way>, Vec<Way>) = left.into_iter().partition(|way| {
            let free = !used.contains(&way.source) && !used.contains(&way.destination);
            if free {
                used.extend([way.source, way.destination]);
            }
            free
        });
        rounds.push(round);
        left = later;
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(gpus: u32) -> Vec<Way> {
        let pairs = (0..gpus).flat_map(|a| (0..gpus).map(move |b| (a, b)));
        pairs
            .filter(|(a, b)| a != b)
            .map(|(a, b)| Way::open(a, b))
            .collect()
    }

    #[test]
    fn no_gpu_is_in_a_round_twice_and_no_way_is_lost() {
        for gpus in [2, 4, 8] {
            let ways = all(gpus);
            let rounds = rounds(&ways, true);
            assert_eq!(rounds.iter().map(Vec::len).sum::<usize>(), ways.len());
            for round in &rounds {
                let ends: BTreeSet<u32> = round
                    .iter()
                    .flat_map(|way| [way.source, way.destination])
                    .collect();
                assert_eq!(ends.len(), 2 * round.len(), "{round:?}");
            }
        }
        assert_eq!(
            rounds(&all(4), true).len(),
            6,
            "two of four pairs at a time, both directions"
        );
        assert_eq!(rounds(&all(4), false).len(), 12);
    }

    #[test]
    fn what_is_closed_is_in_no_round() {
        let closed = Way {
            closed: Some("refused".to_owned()),
            ..Way::open(0, 1)
        };
        assert!(rounds(&[closed], true).is_empty());
    }
}
