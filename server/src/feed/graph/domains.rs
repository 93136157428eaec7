//! The graph seen from afar: how many records each domain has, and how the domains are joined.

use std::collections::BTreeMap;
use std::sync::Arc;

use kb_core::transition::EdgeKind;

use super::{Graph, GraphEdge};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DomainMap {
    pub domains: Vec<DomainNode>,
    pub links: Vec<DomainLink>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainNode {
    pub name: String,
    pub records: usize,
    pub inner: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainLink {
    /// Domain of the earlier errors; of confused ones the first by name.
    pub from: String,
    pub to: String,
    /// True for what leads to what, false for what is taken for what.
    pub causal: bool,
    pub edges: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Between<'a> {
    pub from: &'a str,
    pub to: &'a str,
    pub causal: bool,
}

#[derive(Debug, Default)]
pub(super) struct Domains {
    map: DomainMap,
    /// By the names of the domains and whether they say what leads to what; by who states them.
    edges: BTreeMap<Link, Vec<Arc<GraphEdge>>>,
}

/// From, to, and whether it says what leads to what.
type Link = (String, String, bool);

impl Graph {
    /// How many records each domain has, and how the domains are joined: made when first asked for, kept with this graph.
    pub fn domains(&self) -> &DomainMap {
        &self.made_domains().map
    }

    pub fn between(&self, wanted: Between<'_>) -> impl Iterator<Item = &GraphEdge> {
        let link = (wanted.from.to_owned(), wanted.to.to_owned(), wanted.causal);
        let edges = self.made_domains().edges.get(&link);
        edges.into_iter().flatten().map(AsRef::as_ref)
    }

    fn made_domains(&self) -> &Domains {
        self.domains.get_or_init(|| self.make_domains())
    }

    fn make_domains(&self) -> Domains {
        let mut domains: BTreeMap<&str, DomainNode> = BTreeMap::new();
        let mut edges: BTreeMap<Link, Vec<Arc<GraphEdge>>> = BTreeMap::new();
        for (id, face) in &self.faces {
            let domain = domains.entry(&face.domain).or_insert_with(|| DomainNode {
                name: face.domain.clone(),
                records: 0,
                inner: 0,
            });
            domain.records += 1;
            for edge in self.stated_by(id) {
                let Some((from, to, causal)) = self.joined(edge) else {
                    continue;
                };
                domain.inner += usize::from(from == to);
                let link = (from.to_owned(), to.to_owned(), causal);
                edges.entry(link).or_default().push(Arc::clone(edge));
            }
        }
        let links = edges.iter().filter(|((from, to, _), _)| from != to);
        let links = links.map(|((from, to, causal), edges)| DomainLink {
            from: from.clone(),
            to: to.clone(),
            causal: *causal,
            edges: edges.len(),
        });
        let map = DomainMap {
            links: links.collect(),
            domains: domains.into_values().collect(),
        };
        Domains { map, edges }
    }

    /// The domains at an edge's ends, the earlier first, and whether it says what leads to what. `None`: the target is no record.
    fn joined(&self, edge: &GraphEdge) -> Option<(&str, &str, bool)> {
        let domain = |id| self.faces.get(id).map(|face| face.domain.as_str());
        let own = domain(&edge.from)?;
        let other = domain(edge.target()?)?;
        Some(match edge.kind {
            EdgeKind::LeadsTo => (own, other, true),
            EdgeKind::PrecededBy => (other, own, true),
            EdgeKind::FrequentlyConfusedWith => (own.min(other), own.max(other), false),
        })
    }
}
