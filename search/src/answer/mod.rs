//! The answer of a search: hits with highlights, counts of facets, the cursor of the next page, and candidates for a text.

mod candidates;
mod cursor;
mod excerpt;
mod facets;
mod highlight;
mod request;
mod search;

pub use candidates::Candidate;
pub use facets::{FacetValue, Facets};
pub use highlight::{Highlight, Segment};
pub use request::{Filters, KnowledgeStamp, SearchAnswer, SearchHit, SearchRequest};
