//! What is wrong with nodes: an open finding, or a test in which they are slower than other nodes of their model.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::baseline::{Group, spreads_worse};

use super::gather::Node;

/// Findings that are looked at, and tests; those of the most nodes first.
const MOST: usize = 64;
pub(super) const LEAST_NODES: usize = 5;
/// From so many spreads on a node counts as slower. Lower than the bound for a single outlier (5): a single node may be this slow by
/// chance, and the exact test decides whether nodes with the facet are slow more often than chance explains.
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
pub(super) fn of(
    findings: BTreeMap<String, Vec<usize>>,
    slower: BTreeMap<String, Vec<usize>>,
) -> Vec<(Affected, Vec<usize>)> {
    let mut found = most(findings, Affected::Finding);
    found.extend(most(slower, Affected::Slower));
    found
}

fn most(
    found: BTreeMap<String, Vec<usize>>,
    named: impl Fn(String) -> Affected,
) -> Vec<(Affected, Vec<usize>)> {
    let mut found: Vec<_> = found
        .into_iter()
        .map(|(name, nodes)| (named(name), nodes))
        .collect();
    found.retain(|(_, nodes)| nodes.len() >= LEAST_NODES);
    found.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    found.truncate(MOST);
    found
}

/// Nodes that are slower in a series than those of their model with other driver branches, or, where these are too few, than all others
/// of their model. `measured`: what nodes of one model measured.
pub(super) fn slower(key: &str, measured: &[(usize, f32)], nodes: &[Node]) -> Vec<usize> {
    let branch = |at: usize| nodes.get(at).and_then(|node| node.branch);
    let mut sorted: Vec<(Option<usize>, usize, f64)> = measured
        .iter()
        .map(|(at, value)| (branch(*at), *at, f64::from(*value)))
        .collect();
    sorted.sort_by(|(.., one), (.., other)| one.total_cmp(other));
    let branches: BTreeSet<Option<usize>> = sorted.iter().map(|(branch, ..)| *branch).collect();
    let mut found = Vec::new();
    for own in branches {
        let others = sorted.iter().filter(|(branch, ..)| *branch != own);
        let mut figures: Vec<f64> = others.map(|(.., value)| *value).collect();
        if figures.len() < LEAST_NODES {
            figures = sorted.iter().map(|(.., value)| *value).collect();
        }
        let Some(group) = Group::of_sorted(&figures).filter(|_| figures.len() >= LEAST_NODES) else {
            continue;
        };
        let members = sorted.iter().filter(|(branch, ..)| *branch == own);
        let is_slower =
            |value: f64| spreads_worse(key, value, group).is_some_and(|spreads| spreads >= SPREADS);
        found.extend(
            members
                .filter(|(.., value)| is_slower(*value))
                .map(|(_, at, _)| *at),
        );
    }
    found
}
