//! Full-text search over the published records, on tantivy. The matcher decides what a pasted error is; search suggests.
//!
//! Five rooms, each of which uses only those before it:
//!
//! ```text
//! analysis   text -> tokens
//! index      records -> tantivy index, snapshot of a generation
//! query      user's text -> terms, codes, phrases
//! rank       terms -> candidate set, top k
//! answer     page of hits, facets, highlights, cursor; candidates for a pasted text
//! ```
//!
//! [`Indexer`] follows the feed and gives a [`SearchIndex`] for each generation, which never changes. That of the first one is
//! built when it is asked for. Excerpts are plain text, never HTML.
#![forbid(unsafe_code)]

mod analysis;
mod answer;
mod error;
mod index;
mod query;
mod rank;

#[cfg(test)]
mod tests;

pub use answer::{
    Candidate, FacetValue, Facets, Filters, Highlight, KnowledgeStamp, SearchAnswer, SearchHit,
    SearchRequest, Segment,
};
pub use error::{MAX_LIMIT, SearchError};
pub use index::carried;
pub use index::{Edit, Indexer, PendingIndex, SearchDoc, SearchIndex, Slot, comparable_code};
pub use query::{Correction, is_message, recognised};

/// Hits of a page unless the caller says otherwise.
pub const DEFAULT_LIMIT: usize = 20;
