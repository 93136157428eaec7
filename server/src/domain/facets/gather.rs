//! What is kept of all nodes, read a page at a time and held in columns: of the figures of a series the middle one of each node.

use std::collections::BTreeMap;

use super::told::DRIVER_BRANCH;
use crate::store::{FacetStore, NodeFacets, StoreError};

/// Nodes that are looked at; of a larger fleet the first by id.
const MOST_NODES: usize = 20_000;
/// Nodes that are read at once.
const PAGE: usize = 100;
/// The label that says which rack a node is in.
const RACK: &str = "rack";

/// A node, its texts as numbers.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) model: usize,
    pub(super) rack: Option<usize>,
    pub(super) branch: Option<usize>,
    /// Model and rack together.
    pub(super) stratum: usize,
}

/// All nodes of one kind. Nodes are told by their place.
#[derive(Debug, Default)]
pub struct Fleet {
    pub(super) nodes: Vec<Node>,
    /// By facet and value: who has it.
    pub(super) holders: BTreeMap<String, BTreeMap<String, Vec<usize>>>,
    /// By name: on whom it is open.
    pub(super) findings: BTreeMap<String, Vec<usize>>,
    /// By series and model: what nodes measured.
    pub(super) series: BTreeMap<String, BTreeMap<usize, Vec<(usize, f32)>>>,
    /// There are more nodes than are looked at.
    pub(super) are_more: bool,
    texts: BTreeMap<String, usize>,
    strata: BTreeMap<(usize, Option<usize>), usize>,
}

impl Fleet {
    /// Reads what is kept of nodes, simulated or not.
    pub async fn read(store: &dyn FacetStore, simulated: bool) -> Result<Self, StoreError> {
        let mut fleet = Self::default();
        let mut after = None;
        while fleet.nodes.len() < MOST_NODES {
            let asked = PAGE.min(MOST_NODES - fleet.nodes.len());
            let limit = u32::try_from(asked).unwrap_or(u32::MAX);
            let page = store.facets(simulated, after.as_ref(), limit).await?;
            let is_last = page.len() < asked;
            after = page.last().map(|node| node.node.clone());
            for node in page {
                fleet.add(node);
            }
            if is_last {
                return Ok(fleet);
            }
        }
        fleet.are_more = !store.facets(simulated, after.as_ref(), 1).await?.is_empty();
        Ok(fleet)
    }

    pub(super) fn add(&mut self, node: NodeFacets) {
        let at = self.nodes.len();
        let model = self.number(&node.model);
        let rack = node.labels.get(RACK).map(|rack| self.number(rack));
        let branch = node.facets.get(DRIVER_BRANCH).map(|branch| self.number(branch));
        let next = self.strata.len();
        let stratum = *self.strata.entry((model, rack)).or_insert(next);
        self.nodes.push(Node {
            model,
            rack,
            branch,
            stratum,
        });
        for (facet, value) in node.facets {
            let of_facet = self.holders.entry(facet).or_default();
            of_facet.entry(value).or_default().push(at);
        }
        for name in node.findings {
            self.findings.entry(name).or_default().push(at);
        }
        for series in node.series {
            let Some(median) = series.summary.median() else {
                continue;
            };
            let of_series = self.series.entry(series.key).or_default();
            #[expect(
                clippy::cast_possible_truncation,
                reason = "seven digits are more than a figure has"
            )]
            of_series.entry(model).or_default().push((at, median as f32));
        }
    }

    pub(super) fn strata(&self) -> usize {
        self.strata.len()
    }

    pub(super) fn without_rack(&self) -> usize {
        self.nodes.iter().filter(|node| node.rack.is_none()).count()
    }

    fn number(&mut self, text: &str) -> usize {
        if let Some(known) = self.texts.get(text) {
            return *known;
        }
        let next = self.texts.len();
        self.texts.insert(text.to_owned(), next);
        next
    }
}
