//! Which documents answer a query, and which come first. tantivy searches and scores; ours are the coverage of a query and
//! the order of equal scores.

mod candidate_set;
mod coverage;
mod relevance;
mod scored_documents;
mod statistics;
mod top_k;
mod weights;

pub(super) use candidate_set::CandidateSet;
pub(super) use coverage::{Coverage, covered};
pub(super) use top_k::top_k;
