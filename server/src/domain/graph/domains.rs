//! The graph seen from afar: how many records each domain has, and how the domains are joined.

use std::collections::BTreeMap;

use kb_core::transition::EdgeKind;

use crate::feed::{Generation, GraphEdge};

/// The domains and what joins them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DomainMap {
    /// By name.
    pub domains: Vec<DomainNode>,
    /// Between different domains, by their names.
    pub links: Vec<DomainLink>,
}

/// A domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainNode {
    /// Its name.
    pub name: String,
    /// Published records.
    pub records: usize,
    /// Edges between its own records.
    pub inner: usize,
}

/// What joins two domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainLink {
    /// Domain of the earlier errors; of confused ones the first by name.
    pub from: String,
    /// Domain of the later ones.
    pub to: String,
    /// True for what leads to what, false for what is taken for what.
    pub causal: bool,
    /// Statements.
    pub edges: usize,
}

/// Which edges between domains are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Between<'a> {
    /// Domain of the earlier errors.
    pub from: &'a str,
    /// Domain of the later ones.
    pub to: &'a str,
    /// True for what leads to what, false for what is taken for what.
    pub causal: bool,
}

/// The map.
pub fn domain_map(generation: &Generation) -> DomainMap {
    let mut domains: BTreeMap<&str, DomainNode> = BTreeMap::new();
    let mut links: BTreeMap<(&str, &str, bool), usize> = BTreeMap::new();
    for published in generation.records() {
        let name = published.record.document.domain.as_str();
        let domain = domains.entry(name).or_insert_with(|| DomainNode {
            name: name.to_owned(),
            records: 0,
            inner: 0,
        });
        domain.records += 1;
        for edge in generation.graph.edges_of(published.id(), &[]) {
            match joined(generation, edge) {
                Some((from, to, _)) if from == to => domain.inner += 1,
                Some(link) => *links.entry(link).or_default() += 1,
                None => {}
            }
        }
    }
    let link = |((from, to, causal), edges): ((&str, &str, bool), usize)| DomainLink {
        from: from.to_owned(),
        to: to.to_owned(),
        causal,
        edges,
    };
    DomainMap {
        domains: domains.into_values().collect(),
        links: links.into_iter().map(link).collect(),
    }
}

/// The edges between two domains, by who states them.
pub fn between<'a>(generation: &'a Generation, wanted: Between<'a>) -> impl Iterator<Item = &'a GraphEdge> {
    let edges = generation
        .graph
        .ids_after(None)
        .flat_map(|id| generation.graph.edges_of(id, &[]));
    edges.filter(move |edge| joined(generation, edge) == Some((wanted.from, wanted.to, wanted.causal)))
}

/// The domains at the ends of an edge, the earlier first, and whether it says what leads to what. `None` where the
/// target is no record.
fn joined<'a>(generation: &'a Generation, edge: &GraphEdge) -> Option<(&'a str, &'a str, bool)> {
    let domain = |id| {
        let published = generation.record(id)?;
        Some(published.record.document.domain.as_str())
    };
    let own = domain(&edge.from)?;
    let other = domain(edge.target()?)?;
    Some(match edge.kind {
        EdgeKind::LeadsTo => (own, other, true),
        EdgeKind::PrecededBy => (other, own, true),
        EdgeKind::FrequentlyConfusedWith => (own.min(other), own.max(other), false),
    })
}
