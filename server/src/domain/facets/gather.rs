//! What is kept of all nodes, read a page at a time and held in columns: of the figures of a series the middle one of each node.

use std::collections::BTreeMap;

use kb_core::ids::NodeId;

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

/// Reads what is kept of nodes, a page at a time: whoever reads does something else between.
#[derive(Debug)]
pub struct Pages {
    simulated: bool,
    after: Option<NodeId>,
    nodes: usize,
    are_over: bool,
}

impl Pages {
    /// Of nodes that are simulated, or of real ones.
    pub fn of(simulated: bool) -> Self {
        Self {
            simulated,
            after: None,
            nodes: 0,
            are_over: false,
        }
    }

    /// The next nodes, by id; nothing behind the last, and behind those that are looked at.
    pub async fn next(&mut self, store: &dyn FacetStore) -> Result<Option<Vec<NodeFacets>>, StoreError> {
        if self.are_over {
            return Ok(None);
        }
        let limit = u32::try_from(PAGE).unwrap_or(u32::MAX);
        let page = store.facets(self.simulated, self.after.as_ref(), limit).await?;
        self.nodes += page.len();
        // One that is too many says that there are more.
        self.are_over = page.len() < PAGE || self.nodes > MOST_NODES;
        self.after = page.last().map(|node| node.node.clone());
        Ok(Some(page))
    }
}

impl Fleet {
    /// These nodes with those that are in it already.
    #[must_use]
    pub fn with(mut self, nodes: Vec<NodeFacets>) -> Self {
        for node in nodes {
            self.add(node);
        }
        self
    }

    fn add(&mut self, node: NodeFacets) {
        let at = self.nodes.len();
        if at >= MOST_NODES {
            self.are_more = true;
            return;
        }
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
