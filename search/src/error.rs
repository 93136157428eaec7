//! What search can refuse.

use kb_core::ids::Seq;
use kb_core::near;

pub const MAX_LIMIT: usize = 100;

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The caller asked for no hits, or for more than a page holds.
    #[error("limit is {0}, it must be between 1 and {MAX_LIMIT}")]
    Limit(usize),
    /// A filter has a value that no record has.
    #[error("no record has the {filter} {}: {choices}", near::shown(.value))]
    UnknownValue {
        filter: &'static str,
        value: String,
        choices: String,
    },
    #[error("this cursor is not one that a search answer gave: leave it out to start at the first page")]
    CursorMalformed,
    /// A cursor of another query or other filters.
    #[error("this cursor belongs to another query: repeat the query that gave it, or leave it out")]
    CursorOfOtherQuery,
    /// The knowledge changed since the page before.
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
