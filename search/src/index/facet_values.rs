//! Facet values as numbers. Each document has the number of its combination of values.

use std::sync::Arc;

use indexmap::IndexSet;

use super::document::SearchDoc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Facet {
    Domain,
    Category,
    Tag,
    Tier,
    Locale,
}

impl Facet {
    pub(crate) const ALL: [Self; 5] = [Self::Domain, Self::Category, Self::Tag, Self::Tier, Self::Locale];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Domain => "domain",
            Self::Category => "category",
            Self::Tag => "tag",
            Self::Tier => "tier",
            Self::Locale => "locale",
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

pub(crate) type ValueNumber = u32;

/// Number of a combination: all facet values of a document. Many documents share one.
pub(crate) type CombinationNumber = u32;

type Value = (Facet, Arc<str>);

/// All values and combinations that documents ever had. They are only added to, so that the numbers of documents stay right.
#[derive(Debug, Clone, Default)]
pub(crate) struct FacetValues {
    values: IndexSet<Value>,
    combinations: IndexSet<Arc<[ValueNumber]>>,
}

impl FacetValues {
    /// The combination of a document; new values and combinations are added.
    pub(super) fn combination_of(self: &mut Arc<Self>, document: &SearchDoc) -> CombinationNumber {
        let mut combination: Vec<ValueNumber> = Vec::new();
        for facet in Facet::ALL {
            for text in facet.values(document).iter().filter(|text| !text.is_empty()) {
                let value = (facet, Arc::from(text.as_str()));
                let known = self.values.get_index_of(&value);
                let number =
                    as_number(known.unwrap_or_else(|| Arc::make_mut(self).values.insert_full(value).0));
                if !combination.contains(&number) {
                    combination.push(number);
                }
            }
        }
        let known = self.combinations.get_index_of(combination.as_slice());
        as_number(known.unwrap_or_else(|| {
            let combinations = &mut Arc::make_mut(self).combinations;
            combinations.insert_full(combination.into()).0
        }))
    }

    pub(crate) fn values(&self) -> &IndexSet<Value> {
        &self.values
    }

    /// The values of a facet, in the order of the alphabet.
    pub(crate) fn of_facet(&self, facet: Facet) -> Vec<&str> {
        let values = self.values.iter().filter(|(of, _)| *of == facet);
        let mut values: Vec<&str> = values.map(|(_, value)| value.as_ref()).collect();
        values.sort_unstable();
        values
    }

    pub(crate) fn number_of(&self, facet: Facet, value: &str) -> Option<ValueNumber> {
        self.values
            .get_index_of(&(facet, Arc::from(value)))
            .map(as_number)
    }

    pub(crate) fn of_combination(&self, number: CombinationNumber) -> &[ValueNumber] {
        self.combinations
            .get_index(number as usize)
            .map_or(&[], |values| values)
    }

    pub(crate) fn combinations(&self) -> usize {
        self.combinations.len()
    }
}

fn as_number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
