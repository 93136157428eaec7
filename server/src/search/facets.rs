//! How many hits each further choice would leave.

use std::collections::HashMap;
use std::sync::Arc;

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

/// Number of a face: the values of a document, all together. Many documents have the same.
pub(super) type FaceNumber = u32;

/// All values and faces that documents ever had, numbered as they came: what is counted over every hit of every query is
/// numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    names: Vec<(Facet, Arc<str>)>,
    numbers: HashMap<(Facet, Arc<str>), ValueNumber>,
    faces: Vec<Arc<[ValueNumber]>>,
    face_numbers: HashMap<Arc<[ValueNumber]>, FaceNumber>,
}

impl Values {
    /// The face of a document; new values, and a new face, are taken in.
    pub(super) fn number(self: &mut Arc<Self>, document: &SearchDoc) -> FaceNumber {
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
        match self.face_numbers.get(found.as_slice()) {
            Some(number) => *number,
            None => Arc::make_mut(self).take_in_face(found.into()),
        }
    }

    fn take_in(&mut self, key: (Facet, Arc<str>)) -> ValueNumber {
        let number = number(self.names.len());
        self.names.push(key.clone());
        self.numbers.insert(key, number);
        number
    }

    fn take_in_face(&mut self, face: Arc<[ValueNumber]>) -> FaceNumber {
        let number = number(self.faces.len());
        self.faces.push(Arc::clone(&face));
        self.face_numbers.insert(face, number);
        number
    }

    fn facet(&self, number: ValueNumber) -> Option<Facet> {
        self.names.get(number as usize).map(|(facet, _)| *facet)
    }

    /// The values of a face, each once.
    fn of_face(&self, number: FaceNumber) -> &[ValueNumber] {
        self.faces.get(number as usize).map_or(&[], |values| values)
    }

    /// The distinct faces of so many documents, each with how many have it.
    fn faces_of(
        &self,
        documents: impl Iterator<Item = FaceNumber>,
        count: usize,
    ) -> Vec<(FaceNumber, usize)> {
        if count < self.faces.len() / FEW {
            let mut documents: Vec<FaceNumber> = documents.collect();
            documents.sort_unstable();
            let same = documents.chunk_by(|one, other| one == other);
            let counted = same.filter_map(|same| Some((*same.first()?, same.len())));
            return counted.collect();
        }
        let mut counts = vec![0_usize; self.faces.len()];
        for face in documents {
            if let Some(count) = counts.get_mut(face as usize) {
                *count += 1;
            }
        }
        (0..).zip(counts).filter(|(_, count)| *count > 0).collect()
    }
}

/// One in so many is few: sorting those is quicker than going over all.
const FEW: usize = 16;

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
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

    /// Whether a record with this face passes all filters.
    pub(super) fn admits(&self, face: FaceNumber) -> bool {
        self.refused_by(self.values.of_face(face)).next().is_none()
    }

    /// Whether every record passes.
    pub(super) fn is_open(&self) -> bool {
        self.chosen.is_empty()
    }

    fn refused_by(&self, document: &[ValueNumber]) -> impl Iterator<Item = Facet> {
        let refused = self.chosen.iter().filter(|(_, wanted)| {
            let wanted = wanted.as_ref();
            wanted.is_none_or(|wanted| !document.contains(wanted))
        });
        refused.map(|(facet, _)| *facet)
    }

    /// Counts over all hits of the text, so many, by their faces, filtered by every facet but the one counted.
    pub(super) fn count(&self, hits: impl Iterator<Item = FaceNumber>, total: usize) -> Facets {
        let mut counts = vec![0_usize; self.values.names.len()];
        for (face, hits) in self.values.faces_of(hits, total) {
            let values = self.values.of_face(face);
            let mut refused = self.refused_by(values);
            let (first, second) = (refused.next(), refused.next());
            if second.is_some() {
                continue;
            }
            for number in values {
                let is_counted = first.is_none() || first == self.values.facet(*number);
                if let Some(count) = counts.get_mut(*number as usize).filter(|_| is_counted) {
                    *count += hits;
                }
            }
        }
        let mut found: [Vec<(&Arc<str>, usize)>; Facet::ALL.len()] = std::array::from_fn(|_| Vec::new());
        for ((facet, value), count) in self.values.names.iter().zip(counts) {
            if let Some(values) = found.get_mut(*facet as usize).filter(|_| count > 0) {
                values.push((value, count));
            }
        }
        let [domain, category, tag, tier, locale] = found.map(commonest);
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
    let better = |(a, a_count): &(&Arc<str>, usize), (b, b_count): &(&Arc<str>, usize)| {
        b_count.cmp(a_count).then_with(|| a.cmp(b))
    };
    if values.len() > MAX_VALUES {
        values.select_nth_unstable_by(MAX_VALUES, better);
        values.truncate(MAX_VALUES);
    }
    values.sort_unstable_by(better);
    let listed = values.into_iter().map(|(value, count)| FacetValue {
        value: value.to_string(),
        count,
    });
    listed.collect()
}
