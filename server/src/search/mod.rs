//! Full-text search over the published records. The matcher decides what a pasted error is; search suggests.
//!
//! [`IndexKeeper`] follows the feed and gives a [`SearchIndex`] for each generation, which never changes. Any text is
//! a query. What is found comes back as plain pieces of text, never as HTML.

mod candidates;
mod collect;
mod concepts;
mod cursor;
mod document;
mod error;
mod facets;
mod highlight;
mod index;
mod inflections;
mod named;
mod query;
mod request;
mod schema;
mod segments;
mod sought;
mod stop_words;
mod terms;
mod tokenizer;
mod typos;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;

use kb_core::ids::Seq;

pub use candidates::Candidate;
pub use document::{SearchDoc, comparable_code};
pub use error::{MAX_LIMIT, SearchError};
pub use facets::{FacetValue, Facets};
pub use highlight::{Highlight, Segment};
pub use index::{IndexKeeper, SearchIndex, Slot};
pub use request::{Filters, KnowledgeStamp, SearchAnswer, SearchHit, SearchRequest};
pub use sought::ReadAs;

/// Hits of a page unless the caller says otherwise.
pub const DEFAULT_LIMIT: usize = 20;

impl SearchIndex {
    /// One page of hits. `seq` is the state of the knowledge that this index shows.
    pub fn search(&self, request: &SearchRequest, seq: Seq) -> Result<SearchAnswer, SearchError> {
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(SearchError::Limit(limit));
        }
        let offset = cursor::offset(request, seq)?;
        let found = query::run(self, &request.text)?;
        let mut hits: Vec<(f32, &Arc<SearchDoc>)> = found
            .slots
            .iter()
            .filter_map(|(score, slot)| Some((*score, self.documents.get(slot)?)))
            .collect();
        let facets = facets::count(
            &hits.iter().map(|(_, document)| document.as_ref()),
            &request.filters,
        );
        hits.retain(|(_, document)| facets::admits(document, &request.filters));
        hits.sort_by(|(a_score, a), (b_score, b)| b_score.total_cmp(a_score).then_with(|| a.id.cmp(&b.id)));

        let sought: HashSet<&str> = found
            .needles
            .iter()
            .flat_map(|needle| needle.words.iter().map(String::as_str))
            .collect();
        let page = hits
            .iter()
            .skip(offset)
            .take(limit)
            .map(|(score, document)| SearchHit {
                id: document.id.clone(),
                signature: document.signature.clone(),
                signature_zh: document.signature_zh.clone(),
                score: *score,
                highlights: highlight::highlights(document, &sought),
            });
        let end = offset.saturating_add(limit);
        Ok(SearchAnswer {
            hits: page.collect(),
            total: hits.len(),
            near: found.near && !hits.is_empty(),
            unknown: found.unknown,
            read_as: found.read_as,
            facets,
            next_cursor: (end < hits.len()).then(|| cursor::make(request, seq, end)),
            kb: KnowledgeStamp { seq },
        })
    }

    /// The score of something that explains this share of a line and that no search found, on the scale of
    /// [`Candidate::score`].
    pub fn unnamed_score(share: f32) -> f32 {
        candidates::unnamed(share)
    }

    /// Records that a pasted text may be about, best first. For texts in which the matcher found nothing.
    pub fn candidates(&self, text: &str, limit: usize) -> Result<Vec<Candidate>, SearchError> {
        candidates::candidates(self, text, limit)
    }
}
