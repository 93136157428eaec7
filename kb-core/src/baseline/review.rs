//! All figures of a report with all that they are held against.

use std::collections::BTreeMap;

use super::compare::{Compared, Standing};
use super::figure::Figure;
use super::group::Group;
use super::link::gpu;
use crate::report::{GpuIndex, Report};

/// A figure and what it was held against.
#[derive(Debug, Clone, PartialEq)]
pub struct Reviewed {
    /// The figure.
    pub figure: Figure,
    /// The node's other figures of its series.
    pub in_node: Compared,
    /// Other nodes of its cohort.
    pub peers: Compared,
    /// The same figure of the node's last good run.
    pub own: Compared,
    /// Published figures.
    pub reference: Compared,
}

impl Reviewed {
    /// The worst of all. A reference counts only where there are no peers: they are closer.
    pub fn standing(&self) -> Standing {
        if self.figure.disturbed {
            return Standing::NotCompared;
        }
        let near = self.in_node.standing().max(self.own.standing());
        match self.peers.standing() {
            Standing::NotCompared => near.max(self.reference.standing()),
            peers => near.max(peers),
        }
    }
}

/// Groups of a node's own figures, by series and models of the ends. Figures of GPUs that others used are left out.
pub fn in_node(report: &Report, figures: &[Figure]) -> BTreeMap<String, Group> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for figure in figures.iter().filter(|figure| !figure.disturbed) {
        values.entry(key(report, figure)).or_default().push(figure.value);
    }
    let groups = values.into_iter();
    groups
        .filter_map(|(key, values)| Some((key, Group::of(&values)?)))
        .collect()
}

/// Holds every figure against the node's others; `outside` says what else there is: peers, own last run, reference.
pub fn review(
    report: &Report,
    figures: Vec<Figure>,
    outside: impl Fn(&Figure) -> (Compared, Compared, Compared),
) -> Vec<Reviewed> {
    let groups = in_node(report, &figures);
    let each = figures.into_iter();
    each.map(|figure| {
        let group = groups.get(&key(report, &figure)).copied();
        let (peers, own, reference) = outside(&figure);
        Reviewed {
            in_node: Compared::in_node(&figure, group),
            peers,
            own,
            reference,
            figure,
        }
    })
    .collect()
}

/// Series and models of the ends: a node may have GPUs of several models.
fn key(report: &Report, figure: &Figure) -> String {
    let model = |index: Option<GpuIndex>| {
        let gpu = index.and_then(|index| gpu(report, index));
        gpu.and_then(|gpu| gpu.name.value.as_deref()).unwrap_or_default()
    };
    format!(
        "{}\n{}\n{}",
        figure.series.key(),
        model(figure.source),
        model(figure.destination)
    )
}
