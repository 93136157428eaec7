//! A query that matches listed documents, each with a score of its own. It restricts scoring to the candidate set.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::index::SegmentId;
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocAddress, DocId, DocSet, Score, Searcher, SegmentReader, TERMINATED};

type ScoredDocuments = Arc<[(DocId, Score)]>;

/// Documents by segment, ascending.
#[derive(Debug, Clone)]
pub(super) struct DocumentListQuery {
    by_segment: Arc<HashMap<SegmentId, ScoredDocuments>>,
}

impl DocumentListQuery {
    pub(super) fn new(searcher: &Searcher, documents: impl IntoIterator<Item = (Score, DocAddress)>) -> Self {
        let mut lists: Vec<Vec<(DocId, Score)>> = vec![Vec::new(); searcher.segment_readers().len()];
        for (score, address) in documents {
            if let Some(list) = lists.get_mut(address.segment_ord as usize) {
                list.push((address.doc_id, score));
            }
        }
        let segments = searcher.segment_readers().iter();
        let by_segment = segments.zip(lists).map(|(segment, mut list)| {
            list.sort_unstable_by_key(|(document, _)| *document);
            (segment.segment_id(), list.into())
        });
        Self {
            by_segment: Arc::new(by_segment.collect()),
        }
    }
}

impl Query for DocumentListQuery {
    fn weight(&self, _scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for DocumentListQuery {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let Some(list) = self.by_segment.get(&segment.segment_id()) else {
            return Ok(Box::new(EmptyScorer));
        };
        Ok(Box::new(DocumentList {
            documents: Arc::clone(list),
            boost,
            at: 0,
        }))
    }

    fn explain(&self, _segment: &SegmentReader, _document: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("document list", 0.0))
    }
}

struct DocumentList {
    documents: ScoredDocuments,
    boost: Score,
    at: usize,
}

impl DocSet for DocumentList {
    fn advance(&mut self) -> DocId {
        self.at += 1;
        self.doc()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        let rest = self.documents.get(self.at..).unwrap_or_default();
        self.at += rest.partition_point(|(document, _)| *document < target);
        self.doc()
    }

    fn doc(&self) -> DocId {
        self.documents
            .get(self.at)
            .map_or(TERMINATED, |(document, _)| *document)
    }

    fn size_hint(&self) -> u32 {
        u32::try_from(self.documents.len()).unwrap_or(u32::MAX)
    }
}

impl Scorer for DocumentList {
    fn score(&mut self) -> Score {
        let score = self.documents.get(self.at).map_or(0.0, |(_, score)| *score);
        self.boost * score
    }
}
