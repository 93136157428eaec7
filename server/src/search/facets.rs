//! How many hits each further choice would leave.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

use super::document::SearchDoc;
use super::request::Filters;
use super::view::Number;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Facet {
    Domain,
    Category,
    Tag,
    Tier,
    Locale,
}

impl Facet {
    const ALL: [Self; 5] = [Self::Domain, Self::Category, Self::Tag, Self::Tier, Self::Locale];

    fn chosen(self, filters: &Filters) -> Option<&str> {
        match self {
            Self::Domain => filters.domain.as_deref(),
            Self::Category => filters.category.as_deref(),
            Self::Tag => filters.tag.as_deref(),
            Self::Tier => filters.tier.as_deref(),
            Self::Locale => filters.locale.as_deref(),
        }
    }

    fn values(self, document: &SearchDoc) -> &[String] {
        match self {
            Self::Domain => std::slice::from_ref(&document.domain),
            Self::Category => std::slice::from_ref(&document.category),
            Self::Tag => &document.tags,
            Self::Tier => std::slice::from_ref(&document.tier),
            Self::Locale => std::slice::from_ref(&document.locale),
        }
    }
}

/// Number of a value among those of all facets.
pub(super) type ValueNumber = u32;

/// All values that documents ever had, numbered as they came: what is counted over every hit of every query is numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    names: Vec<(Facet, Arc<str>)>,
    numbers: HashMap<(Facet, Arc<str>), ValueNumber>,
}

/// The values of one document, each once.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbered(Box<[ValueNumber]>);

impl Values {
    /// The values of a document, new ones taken in.
    pub(super) fn number(self: &mut Arc<Self>, document: &SearchDoc) -> Numbered {
        let mut found: Vec<ValueNumber> = Vec::new();
        for facet in Facet::ALL {
            for value in facet.values(document).iter().filter(|value| !value.is_empty()) {
                let key = (facet, Arc::from(value.as_str()));
                let number = match self.numbers.get(&key) {
                    Some(number) => *number,
                    None => Arc::make_mut(self).take_in(key),
                };
                if !found.contains(&number) {
                    found.push(number);
                }
            }
        }
        Numbered(found.into())
    }

    fn take_in(&mut self, key: (Facet, Arc<str>)) -> ValueNumber {
        let number = ValueNumber::try_from(self.names.len()).unwrap_or(ValueNumber::MAX);
        self.names.push(key.clone());
        self.numbers.insert(key, number);
        number
    }

    fn facet(&self, number: ValueNumber) -> Option<Facet> {
        self.names.get(number as usize).map(|(facet, _)| *facet)
    }
}

/// The values of all documents, one after the other: what is counted over thousands of hits is read in one go.
#[derive(Debug)]
pub(super) struct Columns {
    /// Where the values of each document begin, and where the last one's end.
    starts: Vec<u32>,
    values: Vec<ValueNumber>,
}

impl Columns {
    /// Of the documents by number; nothing of those that are not there.
    pub(super) fn new<'d>(documents: impl Iterator<Item = Option<&'d Numbered>>) -> Self {
        let mut columns = Self {
            starts: vec![0],
            values: Vec::new(),
        };
        for document in documents {
            if let Some(Numbered(values)) = document {
                columns.values.extend_from_slice(values);
            }
            let end = u32::try_from(columns.values.len()).unwrap_or(u32::MAX);
            columns.starts.push(end);
        }
        columns
    }

    /// The values of one document.
    pub(super) fn of(&self, number: Number) -> &[ValueNumber] {
        let place = number as usize;
        let range = (|| Some(*self.starts.get(place)? as usize..*self.starts.get(place + 1)? as usize))();
        range.and_then(|range| self.values.get(range)).unwrap_or_default()
    }
}

/// Filters over numbered values.
pub(super) struct Choice<'a> {
    values: &'a Values,
    /// The facets that are chosen; `None` where no document has such a value.
    chosen: Vec<(Facet, Option<ValueNumber>)>,
}

impl<'a> Choice<'a> {
    pub(super) fn new(values: &'a Values, filters: &Filters) -> Self {
        let chosen = Facet::ALL.into_iter().filter_map(|facet| {
            let wanted = facet.chosen(filters)?;
            let number = values.numbers.get(&(facet, Arc::from(wanted)));
            Some((facet, number.copied()))
        });
        Self {
            chosen: chosen.collect(),
            values,
        }
    }

    /// Whether a record passes all filters.
    pub(super) fn admits(&self, document: &[ValueNumber]) -> bool {
        self.refused_by(document).next().is_none()
    }

    fn refused_by(&self, document: &[ValueNumber]) -> impl Iterator<Item = Facet> {
        let refused = self.chosen.iter().filter(|(_, wanted)| {
            let wanted = wanted.as_ref();
            wanted.is_none_or(|wanted| !document.contains(wanted))
        });
        refused.map(|(facet, _)| *facet)
    }

    /// Counts over all hits of the text, filtered by every facet but the one counted.
    pub(super) fn count<'d>(&self, hits: impl Iterator<Item = &'d [ValueNumber]>) -> Facets {
        let mut counts = vec![0_usize; self.values.names.len()];
        for document in hits {
            let mut refused = self.refused_by(document);
            let (first, second) = (refused.next(), refused.next());
            if second.is_some() {
                continue;
            }
            for number in document {
                let is_counted = first.is_none() || first == self.values.facet(*number);
                if let Some(count) = counts.get_mut(*number as usize).filter(|_| is_counted) {
                    *count += 1;
                }
            }
        }
        let of = |wanted: Facet| {
            let counted = self.values.names.iter().zip(&counts);
            let mut values: Vec<FacetValue> = counted
                .filter(|((facet, _), count)| *facet == wanted && **count > 0)
                .map(|((_, value), count)| FacetValue {
                    value: value.to_string(),
                    count: *count,
                })
                .collect();
            values.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
            values.truncate(MAX_VALUES);
            values
        };
        Facets {
            domain: of(Facet::Domain),
            category: of(Facet::Category),
            tag: of(Facet::Tag),
            tier: of(Facet::Tier),
            locale: of(Facet::Locale),
        }
    }
}
