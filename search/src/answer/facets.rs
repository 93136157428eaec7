//! How many hits each further choice would leave.

use std::sync::Arc;

use kb_core::near;
use kb_core::record::VerificationTier;
use serde::Serialize;
use utoipa::ToSchema;

use super::request::Filters;
use crate::error::SearchError;
use crate::index::{Facet, FacetValues, Snapshot, ValueNumber};
use crate::rank::Coverage;

const MAX_VALUES: usize = 50;

/// Values with counts, by facet. A facet that is chosen already shows what its other values would give.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Facets {
    /// Domains.
    pub domain: Vec<FacetValue>,
    /// Categories.
    pub category: Vec<FacetValue>,
    /// Tags.
    pub tag: Vec<FacetValue>,
    /// Verification tiers.
    pub tier: Vec<FacetValue>,
    /// Languages.
    pub locale: Vec<FacetValue>,
}

/// One value of a facet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FacetValue {
    /// The value.
    pub value: String,
    /// Hits that have it.
    pub count: usize,
}

fn number_of(values: &FacetValues, facet: Facet, value: &str) -> Result<Option<ValueNumber>, SearchError> {
    let number = values.number_of(facet, value);
    // Without records every value is as good as another, and a tier may have none.
    let is_tier = || serde_json::from_value::<VerificationTier>(value.into()).is_ok();
    if number.is_some() || values.values().is_empty() || (facet == Facet::Tier && is_tier()) {
        return Ok(number);
    }
    Err(SearchError::UnknownValue {
        filter: facet.name(),
        value: value.to_owned(),
        choices: near::choices(value, &values.of_facet(facet)),
    })
}

pub(super) struct FacetFilter<'a> {
    values: &'a FacetValues,
    /// `None` where no document ever had the value.
    chosen: Vec<(Facet, Option<ValueNumber>)>,
}

impl<'a> FacetFilter<'a> {
    /// Refuses a value that no record ever had, for it is misspelt.
    pub(super) fn new(values: &'a FacetValues, filters: &Filters) -> Result<Self, SearchError> {
        let chosen = Facet::ALL.into_iter().filter_map(|facet| {
            let value = filters.of(facet)?;
            Some(number_of(values, facet, value).map(|number| (facet, number)))
        });
        Ok(Self {
            chosen: chosen.collect::<Result<_, _>>()?,
            values,
        })
    }

    /// Counts the facets of these documents, and leaves those that pass the filter.
    pub(super) fn apply(&self, snapshot: &Snapshot, mut documents: Coverage) -> (Facets, Coverage) {
        let mut hits = vec![0_usize; self.values.combinations()];
        for (_, address) in &documents {
            if let Some(count) = hits.get_mut(snapshot.combination(*address) as usize) {
                *count += 1;
            }
        }
        let facets = self.count(&hits);
        if !self.chosen.is_empty() {
            documents.retain(|(_, address)| {
                let values = self.values.of_combination(snapshot.combination(*address));
                self.refusing(values).next().is_none()
            });
        }
        (facets, documents)
    }

    /// The chosen facets that a document with these values does not have.
    fn refusing(&self, values: &[ValueNumber]) -> impl Iterator<Item = Facet> {
        let refusing = self.chosen.iter().filter(|(_, chosen)| {
            let chosen = chosen.as_ref();
            chosen.is_none_or(|chosen| !values.contains(chosen))
        });
        refusing.map(|(facet, _)| *facet)
    }

    /// Counts of all values, from each combination's hits; of a facet over documents that pass every other chosen facet.
    fn count(&self, hits: &[usize]) -> Facets {
        let mut counts = vec![0_usize; self.values.values().len()];
        for (combination, hits) in (0..).zip(hits).filter(|(_, hits)| **hits > 0) {
            let values = self.values.of_combination(combination);
            let mut refusing = self.refusing(values);
            let (first, second) = (refusing.next(), refusing.next());
            if second.is_some() {
                continue;
            }
            for number in values {
                let facet = self.values.values().get_index(*number as usize);
                let is_counted = first.is_none() || first == facet.map(|(facet, _)| *facet);
                if let Some(count) = counts.get_mut(*number as usize).filter(|_| is_counted) {
                    *count += hits;
                }
            }
        }
        let mut by_facet: [Vec<(&Arc<str>, usize)>; Facet::ALL.len()] = std::array::from_fn(|_| Vec::new());
        for ((facet, value), count) in self.values.values().iter().zip(counts) {
            if let Some(values) = by_facet.get_mut(*facet as usize).filter(|_| count > 0) {
                values.push((value, count));
            }
        }
        let [domain, category, tag, tier, locale] = by_facet.map(commonest);
        Facets {
            domain,
            category,
            tag,
            tier,
            locale,
        }
    }
}

/// The values that most hits have, by their counts.
fn commonest(mut values: Vec<(&Arc<str>, usize)>) -> Vec<FacetValue> {
    values.sort_unstable_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then_with(|| a.cmp(b)));
    values.truncate(MAX_VALUES);
    let listed = values.into_iter().map(|(value, count)| FacetValue {
        value: value.to_string(),
        count,
    });
    listed.collect()
}
