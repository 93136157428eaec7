//! The looking for associations, in steps that are short each: a series, then a pair of facet and affliction.

use std::collections::{BTreeMap, BTreeSet};

use super::affected::{self, Affected};
use super::exact::{Factorials, Stratum, chance};
use super::gather::{Fleet, Node};
use super::{Association, Facets};

/// Affected nodes that must have the facet, and racks that they must be of.
const LEAST_NODES: usize = affected::LEAST_NODES;
const LEAST_RACKS: usize = 2;
/// Facets with their values that are looked at, those that the most nodes have first.
const MOST_VALUES: usize = 1_000;
/// Chance of a false association among all that were tried together.
const CHANCE: f64 = 0.01;
/// So many times as often as others must nodes with the facet be affected.
const TIMES: f64 = 2.0;
/// A facet is named for a slower test only where at least one in so many nodes with the facet is slower. The figures of some tests have long
/// tails, so that a few nodes more of one driver branch are slower by chance.
const ONE_IN: u32 = 3;
/// Associations that are told at most.
const MOST: usize = 100;

/// What is left to do.
pub struct Work {
    nodes: Vec<Node>,
    strata: usize,
    series: std::vec::IntoIter<(String, Vec<(usize, f32)>)>,
    slower: BTreeMap<String, Vec<usize>>,
    findings: BTreeMap<String, Vec<usize>>,
    holders: Vec<Holders>,
    factorials: Factorials,
    /// Afflictions, once all series were looked at; a mark for each node.
    afflictions: Option<Vec<(Affected, Vec<bool>)>>,
    /// The next pair: affliction and facet.
    next: (usize, usize),
    told: Facets,
}

/// Nodes with a facet.
struct Holders {
    facet: String,
    value: String,
    nodes: Vec<usize>,
}

impl Work {
    pub fn new(fleet: Fleet) -> Self {
        let without_rack = count(fleet.without_rack());
        let (strata, all) = (fleet.strata(), fleet.nodes.len());
        let each = fleet.holders.into_iter();
        let each = each.flat_map(|(facet, values)| {
            values.into_iter().map(move |(value, nodes)| Holders {
                facet: facet.clone(),
                value,
                nodes,
            })
        });
        // A facet that all have sets nobody apart.
        let mut holders: Vec<Holders> = each
            .filter(|held| held.nodes.len() >= LEAST_NODES && held.nodes.len() < all)
            .collect();
        holders.sort_by_key(|held| std::cmp::Reverse(held.nodes.len()));
        holders.truncate(MOST_VALUES);
        let series = fleet.series.into_iter();
        let series: Vec<_> = series
            .flat_map(|(key, models)| models.into_values().map(move |measured| (key.clone(), measured)))
            .collect();
        Self {
            strata,
            series: series.into_iter(),
            slower: BTreeMap::new(),
            findings: fleet.findings,
            holders,
            factorials: Factorials::up_to(count(all)),
            afflictions: None,
            next: (0, 0),
            told: Facets {
                nodes: count(all),
                are_more: fleet.are_more,
                without_rack,
                ..Facets::default()
            },
            nodes: fleet.nodes,
        }
    }

    /// Does the next step; the last gives what was found.
    pub fn step(&mut self) -> Option<Facets> {
        if let Some((key, measured)) = self.series.next() {
            let slower = affected::slower(&key, &measured, &self.nodes);
            self.slower.entry(key).or_default().extend(slower);
            return None;
        }
        let afflictions = self.afflictions.get_or_insert_with(|| {
            let all = self.nodes.len();
            let (findings, slower) = (
                std::mem::take(&mut self.findings),
                std::mem::take(&mut self.slower),
            );
            let each = affected::of(findings, slower).into_iter();
            each.map(|(affliction, nodes)| (affliction, marks(&nodes, all)))
                .collect()
        });
        let Some((affliction, afflicted)) = afflictions.get(self.next.0) else {
            return Some(self.concluded());
        };
        let Some(held) = self.holders.get(self.next.1) else {
            self.next = (self.next.0 + 1, 0);
            return None;
        };
        self.next.1 += 1;
        self.told.tries = self.told.tries.saturating_add(1);
        let tried = Tried {
            nodes: &self.nodes,
            strata: self.strata,
            afflicted,
            held: &held.nodes,
            least: match affliction {
                Affected::Finding(_) => None,
                Affected::Slower(_) => Some(ONE_IN),
            },
        };
        if let Some(told) = tried.told(&self.factorials) {
            self.told.associations.push(Association {
                facet: held.facet.clone(),
                value: held.value.clone(),
                affected: affliction.clone(),
                ..told
            });
        }
        None
    }

    fn concluded(&mut self) -> Facets {
        let mut told = std::mem::take(&mut self.told);
        for one in &mut told.associations {
            one.chance = (one.chance * f64::from(told.tries)).min(1.0);
        }
        told.associations.retain(|one| one.chance < CHANCE);
        told.associations
            .sort_by(|one, other| one.chance.total_cmp(&other.chance));
        told.associations.truncate(MOST);
        told
    }
}

/// A facet and an affliction.
struct Tried<'a> {
    nodes: &'a [Node],
    strata: usize,
    afflicted: &'a [bool],
    held: &'a [usize],
    /// One in so many nodes with the facet has to be affected.
    least: Option<u32>,
}

impl Tried<'_> {
    /// Nothing where too few affected nodes have the facet, or others are affected nearly as often.
    fn told(&self, factorials: &Factorials) -> Option<Association> {
        let both = self.held.iter().filter(|at| is_marked(self.afflicted, **at));
        let both: Vec<&Node> = both.filter_map(|at| self.nodes.get(*at)).collect();
        if both.len() < LEAST_NODES {
            return None;
        }
        let racks: BTreeSet<usize> = both.iter().filter_map(|node| node.rack).collect();
        if racks.len() < LEAST_RACKS {
            return None;
        }
        let strata = self.counted();
        let sum = |of: &dyn Fn(&Stratum) -> u32| strata.iter().map(of).sum::<u32>();
        let with = (count(both.len()), sum(&|one| one.with_facet));
        let without = (
            sum(&|one| one.affected).saturating_sub(with.0),
            sum(&|one| one.nodes).saturating_sub(with.1),
        );
        // By products: nobody without the facet may be affected, or nobody may be without it.
        let (more, less) = (
            f64::from(with.0) * f64::from(without.1),
            f64::from(without.0) * f64::from(with.1),
        );
        let are_few = self
            .least
            .is_some_and(|one_in| with.0.saturating_mul(one_in) < with.1);
        if more < TIMES * less || without.1 == 0 || are_few {
            return None;
        }
        Some(Association {
            facet: String::new(),
            value: String::new(),
            affected: Affected::Finding(String::new()),
            with,
            without,
            racks: count(racks.len()),
            chance: chance(&strata, factorials),
        })
    }

    /// Nodes of the models that have the facet, by model and rack.
    fn counted(&self) -> Vec<Stratum> {
        let has = marks(self.held, self.nodes.len());
        let held = self.held.iter().filter_map(|at| self.nodes.get(*at));
        let models: BTreeSet<usize> = held.map(|node| node.model).collect();
        let mut strata = vec![Stratum::default(); self.strata];
        for (at, node) in self.nodes.iter().enumerate() {
            let Some(stratum) = strata
                .get_mut(node.stratum)
                .filter(|_| models.contains(&node.model))
            else {
                continue;
            };
            let (is_affected, has) = (is_marked(self.afflicted, at), is_marked(&has, at));
            stratum.nodes += 1;
            stratum.affected += u32::from(is_affected);
            stratum.with_facet += u32::from(has);
            stratum.both += u32::from(is_affected && has);
        }
        strata
    }
}

fn marks(nodes: &[usize], all: usize) -> Vec<bool> {
    let mut marks = vec![false; all];
    for at in nodes {
        if let Some(mark) = marks.get_mut(*at) {
            *mark = true;
        }
    }
    marks
}

fn is_marked(marks: &[bool], at: usize) -> bool {
    marks.get(at).copied().unwrap_or(false)
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
