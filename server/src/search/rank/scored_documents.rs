//! The collector of all searches: every document with its score.

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::{DocAddress, DocId, Score, SegmentOrdinal, SegmentReader};

/// Collects documents whose score is at least this.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoredDocuments {
    pub(super) at_least: Score,
}

#[derive(Debug)]
pub(super) struct ScoredInSegment {
    at_least: Score,
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
            at_least: self.at_least,
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
        if score >= self.at_least {
            self.found.push((score, DocAddress::new(self.segment, document)));
        }
    }

    fn harvest(self) -> Self::Fruit {
        self.found
    }
}
