//! What sets affected nodes apart from others: said as association, never as cause. No action follows from it.
//!
//! ```text
//! report taken in -> told     versions and settings, kept by node
//! fleet asked     -> affected what is wrong with nodes: open findings, tests in which they are slower than their like
//!                 -> exact    how likely it is by chance, within racks and models
//! ```

mod affected;
mod exact;
mod told;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use affected::Affected;
pub use told::told;

use crate::store::{FacetStore, NodeFacets, StoreError};
use exact::{Factorials, Stratum, chance};

/// Nodes that are looked at; of a larger fleet the first by id.
const MOST_NODES: u32 = 20_000;
/// Affected nodes that must have the facet, and racks that they must be of.
const LEAST_NODES: u32 = 5;
const LEAST_RACKS: usize = 2;
/// Chance of a false association among all that were tried together.
const CHANCE: f64 = 0.01;
/// So many times as often as others must nodes with the facet be affected.
const TIMES: f64 = 2.0;
/// Associations that are told at most.
const MOST: usize = 100;
/// The label that says which rack a node is in.
const RACK: &str = "rack";

/// A facet that affected nodes have far more often than others.
#[derive(Debug, Clone, PartialEq)]
pub struct Association {
    pub facet: String,
    pub value: String,
    pub affected: Affected,
    /// Affected nodes with the facet, of all with it.
    pub with: (u32, u32),
    /// The same of nodes of the same models without it.
    pub without: (u32, u32),
    pub racks: u32,
    /// Of as much or more by chance, times the number of tries; at most 1.
    pub chance: f64,
}

/// All nodes of one kind, looked at together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facets {
    pub nodes: u32,
    /// Pairs of facet and affliction that were tried.
    pub tries: u32,
    /// The least likely by chance first.
    pub associations: Vec<Association>,
}

/// Reads what is kept of all nodes, simulated or not, and looks for associations.
pub async fn facets(store: &dyn FacetStore, simulated: bool) -> Result<Facets, StoreError> {
    let nodes = store.facets(simulated, MOST_NODES).await?;
    let work = tokio::task::spawn_blocking(move || of_nodes(&nodes));
    work.await
        .map_err(|_| StoreError::Unavailable("the facets could not be computed".to_owned()))
}

fn of_nodes(nodes: &[NodeFacets]) -> Facets {
    let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let factorials = Factorials::up_to(count);
    let mut holders: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        for (name, value) in &node.facets {
            holders.entry((name, value)).or_default().push(at);
        }
    }
    // A facet that all have sets nobody apart.
    holders.retain(|_, held| held.len() >= LEAST_NODES as usize && held.len() < nodes.len());
    let (mut tries, mut found) = (0_u32, Vec::new());
    for (affliction, afflicted) in affected::of(nodes) {
        let afflicted: BTreeSet<usize> = afflicted.into_iter().collect();
        for ((facet, value), held) in &holders {
            tries = tries.saturating_add(1);
            let Some(told) = tried(nodes, &afflicted, held, &factorials) else {
                continue;
            };
            found.push(Association {
                facet: (*facet).to_owned(),
                value: (*value).to_owned(),
                affected: affliction.clone(),
                ..told
            });
        }
    }
    for one in &mut found {
        one.chance = (one.chance * f64::from(tries)).min(1.0);
    }
    found.retain(|one| one.chance < CHANCE);
    found.sort_by(|one, other| one.chance.total_cmp(&other.chance));
    found.truncate(MOST);
    Facets {
        nodes: count,
        tries,
        associations: found,
    }
}

/// Nothing where too few affected nodes have the facet, or others are affected nearly as often.
fn tried(
    nodes: &[NodeFacets],
    afflicted: &BTreeSet<usize>,
    held: &[usize],
    factorials: &Factorials,
) -> Option<Association> {
    let both: Vec<usize> = held.iter().copied().filter(|at| afflicted.contains(at)).collect();
    let racks: BTreeSet<&str> = both.iter().filter_map(|at| rack(nodes.get(*at)?)).collect();
    let both_count = u32::try_from(both.len()).unwrap_or(u32::MAX);
    if both_count < LEAST_NODES || racks.len() < LEAST_RACKS {
        return None;
    }
    let models: BTreeSet<&str> = held
        .iter()
        .filter_map(|at| Some(nodes.get(*at)?.model.as_str()))
        .collect();
    let held: BTreeSet<usize> = held.iter().copied().collect();
    let mut strata: BTreeMap<(&str, Option<&str>), Stratum> = BTreeMap::new();
    for (at, node) in nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| models.contains(node.model.as_str()))
    {
        let stratum = strata.entry((&node.model, rack(node))).or_default();
        let (is_affected, has) = (afflicted.contains(&at), held.contains(&at));
        stratum.nodes += 1;
        stratum.affected += u32::from(is_affected);
        stratum.with_facet += u32::from(has);
        stratum.both += u32::from(is_affected && has);
    }
    let strata: Vec<Stratum> = strata.into_values().collect();
    let sum = |of: &dyn Fn(&Stratum) -> u32| strata.iter().map(of).sum::<u32>();
    let with = (both_count, sum(&|one| one.with_facet));
    let without = (
        sum(&|one| one.affected) - both_count,
        sum(&|one| one.nodes) - with.1,
    );
    // By products: nobody without the facet may be affected, or nobody may be without it.
    let (more, less) = (
        f64::from(with.0) * f64::from(without.1),
        f64::from(without.0) * f64::from(with.1),
    );
    if more < TIMES * less || without.1 == 0 {
        return None;
    }
    Some(Association {
        facet: String::new(),
        value: String::new(),
        affected: Affected::Finding(String::new()),
        with,
        without,
        racks: u32::try_from(racks.len()).unwrap_or(u32::MAX),
        chance: chance(&strata, factorials),
    })
}

fn rack(node: &NodeFacets) -> Option<&str> {
    node.labels.get(RACK).map(String::as_str)
}
