//! Facet values as numbers. Each document has the number of its combination of values.

use std::collections::HashMap;
use std::sync::Arc;

use super::document::SearchDoc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::search) enum Facet {
    Domain,
    Category,
    Tag,
    Tier,
    Locale,
}

impl Facet {
    pub(in crate::search) const ALL: [Self; 5] =
        [Self::Domain, Self::Category, Self::Tag, Self::Tier, Self::Locale];

    pub(in crate::search) fn name(self) -> &'static str {
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

/// Number of one value of one facet.
pub(in crate::search) type ValueNumber = u32;

/// Number of a combination: all facet values of a document. Many documents share one.
pub(in crate::search) type CombinationNumber = u32;

type Value = (Facet, Arc<str>);

/// All values and combinations that documents ever had. They are only added to, so that the numbers of documents stay right.
#[derive(Debug, Clone, Default)]
pub(in crate::search) struct FacetValues {
    values: Vec<Value>,
    value_numbers: HashMap<Value, ValueNumber>,
    combinations: Vec<Arc<[ValueNumber]>>,
    combination_numbers: HashMap<Arc<[ValueNumber]>, CombinationNumber>,
}

impl FacetValues {
    /// The combination of a document; new values and combinations are added.
    pub(super) fn combination_of(self: &mut Arc<Self>, document: &SearchDoc) -> CombinationNumber {
        let mut combination: Vec<ValueNumber> = Vec::new();
        for facet in Facet::ALL {
            for text in facet.values(document).iter().filter(|text| !text.is_empty()) {
                let value = (facet, Arc::from(text.as_str()));
                let number = match self.value_numbers.get(&value) {
                    Some(number) => *number,
                    None => Arc::make_mut(self).add_value(value),
                };
                if !combination.contains(&number) {
                    combination.push(number);
                }
            }
        }
        match self.combination_numbers.get(combination.as_slice()) {
            Some(number) => *number,
            None => Arc::make_mut(self).add_combination(combination.into()),
        }
    }

    fn add_value(&mut self, value: Value) -> ValueNumber {
        let number = as_number(self.values.len());
        self.values.push(value.clone());
        self.value_numbers.insert(value, number);
        number
    }

    fn add_combination(&mut self, combination: Arc<[ValueNumber]>) -> CombinationNumber {
        let number = as_number(self.combinations.len());
        self.combinations.push(Arc::clone(&combination));
        self.combination_numbers.insert(combination, number);
        number
    }

    pub(in crate::search) fn values(&self) -> &[Value] {
        &self.values
    }

    /// The values of a facet, in the order of the alphabet.
    pub(in crate::search) fn of_facet(&self, facet: Facet) -> Vec<&str> {
        let values = self.values.iter().filter(|(of, _)| *of == facet);
        let mut values: Vec<&str> = values.map(|(_, value)| value.as_ref()).collect();
        values.sort_unstable();
        values
    }

    pub(in crate::search) fn number_of(&self, facet: Facet, value: &str) -> Option<ValueNumber> {
        self.value_numbers.get(&(facet, Arc::from(value))).copied()
    }

    /// The values of a combination, each once.
    pub(in crate::search) fn of_combination(&self, number: CombinationNumber) -> &[ValueNumber] {
        self.combinations
            .get(number as usize)
            .map_or(&[], |values| values)
    }

    pub(in crate::search) fn combinations(&self) -> usize {
        self.combinations.len()
    }
}

fn as_number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
