//! What is wrong with nodes: an open finding, or a test in which they are slower than other nodes of their model.

use std::collections::BTreeMap;

use kb_core::baseline::{Group, Summary, spreads_worse};

use super::told::DRIVER_BRANCH;
use crate::store::NodeFacets;

/// Afflictions that are looked at, those of the most nodes first.
const MOST: usize = 64;
const LEAST_NODES: usize = 5;
/// From so many spreads on a node counts as slower. It is less than what makes an outlier of one node: what is chance of one is none of
/// many that have a facet, and the test decides which of the two it is.
const SPREADS: f64 = 2.0;

/// Something that is wrong with a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Affected {
    /// Name of the finding: its record, else `rule:` and the rule.
    Finding(String),
    /// A test, as a series is named.
    Slower(String),
}

/// Each affliction with the nodes that have it, by place.
pub(super) fn of(nodes: &[NodeFacets]) -> Vec<(Affected, Vec<usize>)> {
    let mut found: BTreeMap<Affected, Vec<usize>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        for name in &node.findings {
            found.entry(Affected::Finding(name.clone())).or_default().push(at);
        }
    }
    for (series, slower) in slower(nodes) {
        found.insert(Affected::Slower(series.to_owned()), slower);
    }
    let mut found: Vec<(Affected, Vec<usize>)> = found.into_iter().collect();
    found.retain(|(_, nodes)| nodes.len() >= LEAST_NODES);
    found.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    found.truncate(MOST);
    found
}

/// By series and place: nodes that are slower than those of their model with other driver branches, or, where these are too few, than
/// all others of their model.
fn slower(nodes: &[NodeFacets]) -> BTreeMap<&str, Vec<usize>> {
    let mut measured: BTreeMap<(&str, &str), Vec<(usize, &Summary)>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        for series in &node.series {
            let of_model = measured.entry((&node.model, &series.key)).or_default();
            of_model.push((at, &series.summary));
        }
    }
    let branch = |at: usize| nodes.get(at).and_then(|node| node.facets.get(DRIVER_BRANCH));
    let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for ((_, key), of_model) in &measured {
        let mut branches: BTreeMap<Option<&String>, Vec<(usize, &Summary)>> = BTreeMap::new();
        for (at, summary) in of_model {
            branches.entry(branch(*at)).or_default().push((*at, summary));
        }
        for (own, members) in &branches {
            let others = branches.iter().filter(|(other, _)| *other != own);
            let others: Vec<&Summary> = others
                .flat_map(|(_, of)| of.iter().map(|(_, summary)| *summary))
                .collect();
            let like = if others.len() >= LEAST_NODES {
                Group::of_nodes(others)
            } else {
                Group::of_nodes(of_model.iter().map(|(_, summary)| *summary))
            };
            let Some(group) = like.filter(|group| group.nodes as usize >= LEAST_NODES) else {
                continue;
            };
            let is_slower = |(_, summary): &&(usize, &Summary)| {
                spreads_worse(key, summary, group).is_some_and(|spreads| spreads >= SPREADS)
            };
            let slower = members.iter().filter(is_slower).map(|(at, _)| *at);
            found.entry(*key).or_default().extend(slower);
        }
    }
    found
}
