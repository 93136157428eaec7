//! Collects every hit with its score. The knowledge base has thousands of records, not billions: seeing all hits
//! gives exact totals, exact facets and an order that does not depend on how the index is cut into segments.

use std::sync::Arc;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::ColumnValues;
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use super::index::Slot;

/// Gives `(score, slot)` of every hit, in no particular order.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoredSlots;

/// The same for one segment.
pub(super) struct SegmentSlots {
    slots: Arc<dyn ColumnValues<u64>>,
    found: Vec<(Score, Slot)>,
}

impl Collector for ScoredSlots {
    type Fruit = Vec<(Score, Slot)>;
    type Child = SegmentSlots;

    fn for_segment(&self, _: SegmentOrdinal, segment: &SegmentReader) -> tantivy::Result<SegmentSlots> {
        let slots = segment.fast_fields().u64("slot")?.first_or_default_col(0);
        Ok(SegmentSlots {
            slots,
            found: Vec::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, segments: Vec<Self::Fruit>) -> tantivy::Result<Self::Fruit> {
        Ok(segments.into_iter().flatten().collect())
    }
}

impl SegmentCollector for SegmentSlots {
    type Fruit = Vec<(Score, Slot)>;

    fn collect(&mut self, document: DocId, score: Score) {
        self.found.push((score, self.slots.get_val(document)));
    }

    fn harvest(self) -> Self::Fruit {
        self.found
    }
}
