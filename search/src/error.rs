//! What search can refuse.

use kb_core::ids::Seq;
use kb_core::near;

pub const MAX_LIMIT: usize = 100;

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("limit is {0}, it must be between 1 and {MAX_LIMIT}")]
    Limit(usize),
    #[error("no record has the {filter} {}: {choices}", near::shown(.value))]
    UnknownValue {
        filter: &'static str,
        value: String,
        choices: String,
    },
    #[error("this cursor is not one that a search answer gave: leave it out to start at the first page")]
    CursorMalformed,
    #[error("this cursor belongs to another query: repeat the query that gave it, or leave it out")]
    CursorOfOtherQuery,
    #[error(
        "the records changed from seq {given} to {current} since the page before: start again without a cursor"
    )]
    CursorExpired { given: Seq, current: Seq },
    /// Building the index failed, which is a fault of ours. The follower of the feed builds another.
    #[error("there is no search index: building it failed")]
    NotBuilt,
    /// The engine failed, which is a fault of ours.
    #[error("the search index failed: {0}")]
    Index(#[from] tantivy::TantivyError),
}
