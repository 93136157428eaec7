//! How many hits each further choice would leave.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::document::SearchDoc;
use super::request::Filters;

/// Most values listed of one facet.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Facet {
    Domain,
    Category,
    Tag,
    Tier,
    Locale,
}

const ALL: [Facet; 5] = [
    Facet::Domain,
    Facet::Category,
    Facet::Tag,
    Facet::Tier,
    Facet::Locale,
];

impl Facet {
    fn chosen(self, filters: &Filters) -> Option<&str> {
        match self {
            Self::Domain => filters.domain.as_deref(),
            Self::Category => filters.category.as_deref(),
            Self::Tag => filters.tag.as_deref(),
            Self::Tier => filters.tier.as_deref(),
            Self::Locale => filters.locale.as_deref(),
        }
    }

    fn values(self, document: &SearchDoc) -> Vec<&str> {
        match self {
            Self::Domain => vec![&document.domain],
            Self::Category => vec![&document.category],
            Self::Tag => document.tags.iter().map(String::as_str).collect(),
            Self::Tier => vec![&document.tier],
            Self::Locale => vec![&document.locale],
        }
    }

    fn admits(self, document: &SearchDoc, filters: &Filters) -> bool {
        self.chosen(filters)
            .is_none_or(|wanted| self.values(document).contains(&wanted))
    }
}

/// Whether a record passes all filters.
pub(super) fn admits(document: &SearchDoc, filters: &Filters) -> bool {
    ALL.into_iter().all(|facet| facet.admits(document, filters))
}

/// Counts over all hits of the text, filtered by every facet but the one counted.
pub(super) fn count<'a>(hits: &(impl Iterator<Item = &'a SearchDoc> + Clone), filters: &Filters) -> Facets {
    let of = |facet: Facet| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let others = move |document: &&SearchDoc| {
            ALL.into_iter()
                .filter(|other| *other != facet)
                .all(|other| other.admits(document, filters))
        };
        for document in hits.clone().filter(others) {
            for value in facet.values(document) {
                *counts.entry(value).or_default() += 1;
            }
        }
        largest(counts)
    };
    Facets {
        domain: of(Facet::Domain),
        category: of(Facet::Category),
        tag: of(Facet::Tag),
        tier: of(Facet::Tier),
        locale: of(Facet::Locale),
    }
}

fn largest(counts: BTreeMap<&str, usize>) -> Vec<FacetValue> {
    let mut values: Vec<FacetValue> = counts
        .into_iter()
        .filter(|(value, _)| !value.is_empty())
        .map(|(value, count)| FacetValue {
            value: value.to_owned(),
            count,
        })
        .collect();
    values.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
    values.truncate(MAX_VALUES);
    values
}
