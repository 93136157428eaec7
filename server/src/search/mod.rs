//! Full-text search over the published records. The matcher decides what a pasted error is; search suggests.
//!
//! [`IndexKeeper`] follows the feed and gives a [`SearchIndex`] for each generation, which never changes. Any text is
//! a query. What is found comes back as plain pieces of text, never as HTML.
//!
//! ```text
//! index      one writer; segments    view      a generation's index, by numbers of documents
//! contents   what a segment keeps    words     unpacked lists of words
//! weighed    what words count        kept      both, for the next query
//! sought     what a text asks for    coverage  who says enough of it
//! ranking    which come first        tally     what each gets for it
//! phrase     words beside each other facets    what further choices would leave
//! ```

mod candidates;
mod chosen;
mod concepts;
mod contents;
mod coverage;
mod cursor;
mod cut;
mod document;
mod error;
mod facets;
mod highlight;
mod index;
mod inflections;
mod kept;
mod lists;
mod marks;
mod named;
mod numbers;
mod openings;
mod page;
mod phrase;
mod query;
mod ranked;
mod ranking;
mod request;
mod schema;
mod segments;
mod sought;
mod stop_words;
mod tally;
mod terms;
mod tokenizer;
mod typos;
mod view;
mod weighed;
mod words;

#[cfg(test)]
mod tests;

use kb_core::ids::Seq;

use facets::Choice;
use marks::Marker;

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
        self.search_among(request, seq, ranking::MANY)
    }

    /// As [`Self::search`], where so many hits are too many to score each.
    fn search_among(
        &self,
        request: &SearchRequest,
        seq: Seq,
        many: usize,
    ) -> Result<SearchAnswer, SearchError> {
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(SearchError::Limit(limit));
        }
        let offset = cursor::offset(request, seq)?;
        let mut found = query::run(self, &request.text)?;
        let choice = Choice::new(&self.view.values, &request.filters);
        let mut ranking = found.rank(&self.view, many)?;
        let facets = choice.count(self.view.faces(ranking.numbers()), ranking.len());
        if !choice.is_open() {
            ranking.keep(|number| choice.admits(self.view.face(number)));
        }
        let total = ranking.len();
        let end = offset.saturating_add(limit);
        let page = page::best(&self.view, ranking.best(end)?, end);

        let needles = found.question.needles.iter();
        let marker = Marker::new(needles.flat_map(|needle| &needle.words));
        let page = page.iter().skip(offset).map(|(score, indexed)| SearchHit {
            id: indexed.document.id.clone(),
            signature: indexed.document.signature.clone(),
            signature_zh: indexed.document.signature_zh.clone(),
            score: *score,
            highlights: highlight::highlights(&indexed.document, &marker),
        });
        Ok(SearchAnswer {
            hits: page.collect(),
            total,
            near: found.near && total > 0,
            unknown: found.unknown,
            read_as: found.read_as,
            facets,
            next_cursor: (end < total).then(|| cursor::make(request, seq, end)),
            kb: KnowledgeStamp { seq },
        })
    }

    /// Lets go of what is kept for the next query: another generation is asked from now on.
    pub fn retire(&self) {
        self.view.weighed.close();
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
