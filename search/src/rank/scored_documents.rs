//! The collector of all searches: every document with its score.

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::{DocAddress, DocId, Score, SegmentOrdinal, SegmentReader};

/// Collects all documents, in the order of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoredDocuments;

#[derive(Debug)]
pub(super) struct ScoredInSegment {
    segment: SegmentOrdinal,
    found: Vec<(Score, DocAddress)>,
}

impl Collector for ScoredDocuments {
    type Fruit = Vec<(Score, DocAddress)>;
    type Child = ScoredInSegment;

    fn for_segment(
        &self,
        segment: SegmentOrdinal,
        _reader: &SegmentReader,
    ) -> tantivy::Result<ScoredInSegment> {
        Ok(ScoredInSegment {
            segment,
            found: Vec::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, segments: Vec<Self::Fruit>) -> tantivy::Result<Self::Fruit> {
        Ok(segments.concat())
    }
}

impl SegmentCollector for ScoredInSegment {
    type Fruit = Vec<(Score, DocAddress)>;

    fn collect(&mut self, document: DocId, score: Score) {
        self.found.push((score, DocAddress::new(self.segment, document)));
    }

    fn harvest(self) -> Self::Fruit {
        self.found
    }
}
