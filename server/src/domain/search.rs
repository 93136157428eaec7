//! Searching the published records.

use crate::feed::Generation;
use crate::search::{SearchAnswer, SearchError, SearchRequest};

/// One page of hits, with the state of the knowledge that gave it.
///
/// This computes; call it off the async threads where many searches run at once.
pub fn search(generation: &Generation, request: &SearchRequest) -> Result<SearchAnswer, SearchError> {
    generation.index.search(request, generation.seq)
}
