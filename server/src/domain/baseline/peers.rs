//! The other nodes of a report's cohort.

use std::collections::BTreeMap;

use kb_core::baseline::{Cohort, Figure, Group, Summary};
use kb_core::ids::NodeId;

use crate::store::{BaselineStore, NodeBaseline, StoreError};

/// Nodes that are read at most: those that measured last. More of them move no median by what could be seen.
pub(super) const MOST_NODES: u32 = 128;

/// In the names of tests with peer access.
const PEER_ACCESS: &str = ".p2p/";

/// Groups of what other nodes measured, by series.
#[derive(Debug, Default)]
pub(super) struct Peers {
    /// Other nodes of the cohort.
    pub(super) nodes: u32,
    /// Those of them whose GPUs reach each other directly.
    pub(super) reach: u32,
    groups: BTreeMap<String, Group>,
}

impl Peers {
    pub(super) async fn of(
        store: &dyn BaselineStore,
        cohort: &Cohort,
        node: &NodeId,
        figures: &[Figure],
    ) -> Result<Self, StoreError> {
        // One more, as the node itself may be among them.
        let nodes = store.baselines(cohort, MOST_NODES + 1).await?;
        Ok(Self::among(&nodes, node, figures))
    }

    /// The same of nodes that were read already.
    pub(super) fn among(nodes: &[NodeBaseline], node: &NodeId, figures: &[Figure]) -> Self {
        let others = nodes.iter().filter(|other| other.node != *node);
        let nodes: Vec<&NodeBaseline> = others.take(MOST_NODES as usize).collect();
        let mut summaries: BTreeMap<String, Vec<&Summary>> = figures
            .iter()
            .map(|figure| (figure.series.key(), Vec::new()))
            .collect();
        let with_peer_access =
            |other: &&&NodeBaseline| other.series.iter().any(|series| series.key.contains(PEER_ACCESS));
        let reach = nodes.iter().filter(with_peer_access).count();
        for series in nodes.iter().flat_map(|node| &node.series) {
            if let Some(asked) = summaries.get_mut(&series.key) {
                asked.push(&series.summary);
            }
        }
        let groups = summaries.into_iter();
        Self {
            nodes: u32::try_from(nodes.len()).unwrap_or(u32::MAX),
            reach: u32::try_from(reach).unwrap_or(u32::MAX),
            groups: groups
                .filter_map(|(key, summaries)| Some((key, Group::of_nodes(summaries)?)))
                .collect(),
        }
    }

    pub(super) fn group(&self, figure: &Figure) -> Option<Group> {
        self.groups.get(&figure.series.key()).copied()
    }
}
