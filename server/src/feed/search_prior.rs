//! The prior of a record, a factor of its search score whatever is asked: how general the record is.
//!
//! A short query ("out of memory") fits the general record of an error and those of single programs alike. The general one
//! is what many records lead to, come before or are confused with, and what many sample lines were collected for.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kb_core::ids::RecordId;

use super::published::PublishedRecord;

/// Weights of the logarithms of edges and of samples, tuned on collected queries.
const EDGES: f32 = 0.30;
const SAMPLES: f32 = 0.16;

/// The factors of one generation that are above 1.
pub(super) struct SearchPrior(HashMap<RecordId, f32>);

impl SearchPrior {
    pub(super) fn new(records: &BTreeMap<RecordId, Arc<PublishedRecord>>) -> Self {
        let mut edges: HashMap<&RecordId, u16> = HashMap::new();
        for published in records.values() {
            for to in published.edges.iter().filter_map(|edge| edge.to.as_ref()) {
                let count = edges.entry(to).or_default();
                *count = count.saturating_add(1);
            }
        }
        let factors = records.iter().filter_map(|(id, published)| {
            let edges = edges.get(id).copied().unwrap_or_default();
            let samples = published.record.annex.examples.len();
            let samples = u16::try_from(samples).unwrap_or(u16::MAX);
            let factor = 1.0 + EDGES * f32::from(edges).ln_1p() + SAMPLES * f32::from(samples).ln_1p();
            (factor > 1.0).then(|| (id.clone(), factor))
        });
        Self(factors.collect())
    }

    pub(super) fn of(&self, id: &RecordId) -> f32 {
        self.0.get(id).copied().unwrap_or(1.0)
    }
}
