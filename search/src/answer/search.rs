//! One page of hits.

use kb_core::ids::Seq;

use super::cursor;
use super::facets::FacetFilter;
use super::highlight::Highlighter;
use super::request::{KnowledgeStamp, SearchAnswer, SearchHit, SearchRequest};
use crate::DEFAULT_LIMIT;
use crate::error::{MAX_LIMIT, SearchError};
use crate::index::SearchIndex;
use crate::query::{ParsedQuery, parse};
use crate::rank::{CandidateSet, top_k};

impl SearchIndex {
    /// One page of hits. `seq` is the state of the knowledge that this index shows.
    pub fn search(&self, request: &SearchRequest, seq: Seq) -> Result<SearchAnswer, SearchError> {
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(SearchError::Limit(limit));
        }
        let offset = cursor::offset(request, seq)?;
        let snapshot = self.snapshot()?;
        let (query, candidates) = if request.text.trim().is_empty() {
            (ParsedQuery::default(), CandidateSet::all(snapshot))
        } else {
            let query = parse(snapshot, &request.text, request.is_typing)?;
            let candidates = CandidateSet::find(snapshot, &query, &request.first)?;
            (query, candidates)
        };
        let filter = FacetFilter::new(&snapshot.facets, &request.filters)?;
        let (facets, documents) = filter.apply(snapshot, candidates.documents);
        let total = documents.len();
        let end = offset.saturating_add(limit);
        let best = top_k(snapshot, &query, &request.first, documents, end)?;

        let mut highlighter = Highlighter::new(&query);
        let page = best.into_iter().skip(offset).filter_map(|(score, address)| {
            let document = snapshot.document(address)?;
            Some(SearchHit {
                id: document.id.clone(),
                title: document.title.clone(),
                title_zh: document.title_zh.clone(),
                signature: document.signature.clone(),
                signature_zh: document.signature_zh.clone(),
                score,
                highlights: highlighter.highlights(document),
            })
        });
        Ok(SearchAnswer {
            hits: page.collect(),
            total,
            near: candidates.is_near && total > 0,
            unknown: query.unknown,
            read_as: query.corrections,
            facets,
            next_cursor: (end < total).then(|| cursor::make(request, seq, end)),
            kb: KnowledgeStamp { seq },
        })
    }
}
