//! The BM25 statistics of one query.

use std::collections::HashMap;

use tantivy::Term;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;

use crate::index::Snapshot;
use crate::query::ParsedQuery;

/// The snapshot's statistics. Document frequencies of the query's tokens are known: BM25 asks each once for every field.
pub(super) struct QueryStatistics<'a> {
    snapshot: &'a Snapshot,
    documents: HashMap<&'a str, u64>,
}

impl<'a> QueryStatistics<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, query: &'a ParsedQuery) -> Self {
        let tokens = query.terms.iter().flat_map(|term| &term.tokens);
        let documents = tokens.map(|token| (token.text.as_str(), token.documents));
        Self {
            snapshot,
            documents: documents.collect(),
        }
    }
}

impl Bm25StatisticsProvider for QueryStatistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        self.snapshot.total_num_tokens(field)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.snapshot.total_num_docs()
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let token = term.value().as_str().and_then(|token| self.documents.get(token));
        match token {
            Some(documents) if self.snapshot.is_scored_text(term.field()) => Ok(*documents),
            _ => self.snapshot.doc_freq(term),
        }
    }
}
