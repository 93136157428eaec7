//! What the pairs of a run that are joined alike reach, read once for all of them.

use serde_json::Value;

use super::speed::{median, timing};
use crate::report::{GpuIndex, Pair, Report, fact_name};

/// Fewest other directed pairs that make a comparison.
const LEAST_PEERS: usize = 2;

pub(super) struct Peers<'a>(Vec<Peer<'a>>);

struct Peer<'a> {
    ends: (GpuIndex, GpuIndex),
    kind: Kind<'a>,
    /// GB/s of its directions that were timed, with peer access; none where another process has one of its GPUs.
    reached: Vec<f64>,
}

/// What two pairs must have in common to be compared: models, links, and without a link the place in the tree.
#[derive(PartialEq)]
struct Kind<'a> {
    models: (Option<&'a str>, Option<&'a str>),
    nvlinks: Option<u32>,
    nvswitch: Option<bool>,
    place: Option<(Option<&'a str>, Option<&'a Value>)>,
}

impl<'a> Peers<'a> {
    pub(super) fn of(report: &'a Report) -> Self {
        let peer = |pair: &'a Pair| {
            let directions = [(pair.a, pair.b), (pair.b, pair.a)];
            let is_alone = ![pair.a, pair.b].into_iter().any(|gpu| is_shared(report, gpu));
            let timed = directions.into_iter().filter(|_| is_alone);
            Peer {
                ends: (pair.a, pair.b),
                kind: Kind::of(report, pair),
                reached: timed
                    .filter_map(|(from, to)| Some(timing(report, from, to, true)?.median))
                    .collect(),
            }
        };
        Self(report.pairs.iter().map(peer).collect())
    }

    /// The median, in GB/s, of the directions of all other pairs that are joined like this one, and how many they are.
    pub(super) fn usual(&self, pair: &Pair) -> Option<(f64, usize)> {
        let ends = (pair.a, pair.b);
        let kind = &self.0.iter().find(|peer| peer.ends == ends)?.kind;
        let alike = self
            .0
            .iter()
            .filter(|peer| peer.ends != ends && peer.kind == *kind);
        let reached: Vec<f64> = alike.flat_map(|peer| &peer.reached).copied().collect();
        let peers = reached.len();
        (peers >= LEAST_PEERS)
            .then(|| median(reached))?
            .map(|usual| (usual, peers))
    }
}

impl<'a> Kind<'a> {
    fn of(report: &'a Report, pair: &'a Pair) -> Self {
        let name = |index: GpuIndex| {
            let gpu = report.gpus.get(usize::try_from(index).ok()?)?;
            gpu.name.value.as_deref()
        };
        let (a, b) = (name(pair.a), name(pair.b));
        let linked = pair.nvlinks.value.is_some_and(|links| links > 0);
        let place = (!linked).then(|| {
            let bridge = pair.facts.get(fact_name::PCIE_COMMON_BRIDGE);
            (
                pair.common_ancestor.value.as_deref(),
                bridge.and_then(|fact| fact.value.as_ref()),
            )
        });
        Self {
            models: (a.min(b), a.max(b)),
            nvlinks: pair.nvlinks.value,
            nvswitch: pair.nvswitch.value,
            place,
        }
    }
}

fn is_shared(report: &Report, index: GpuIndex) -> bool {
    let gpu = usize::try_from(index)
        .ok()
        .and_then(|index| report.gpus.get(index));
    let shared = gpu.and_then(|gpu| gpu.facts.get(fact_name::SHARED)?.value.as_ref()?.as_bool());
    shared == Some(true)
}
