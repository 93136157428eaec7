//! Searching the published records.

use crate::feed::Generation;
use peerless_search::{DEFAULT_LIMIT, SearchAnswer, SearchError, SearchRequest, recognised};

/// What a search costs, as bytes of a text that takes as long to match: per query byte, per excerpt, per so many records.
const BYTES_PER_QUERY_BYTE: usize = 16;
const BYTES_PER_HIT: usize = 32;
const RECORDS_PER_BYTE: usize = 4;

/// How much work a search is, in bytes of matched text: three words over 1,800 records take half a millisecond on two cores.
pub fn work(generation: &Generation, request: &SearchRequest) -> usize {
    if generation.index.is_built() {
        let hits = request.limit.unwrap_or(DEFAULT_LIMIT);
        request.text.len() * BYTES_PER_QUERY_BYTE + hits * BYTES_PER_HIT + generation.len() / RECORDS_PER_BYTE
    } else {
        usize::MAX
    }
}

/// One page of hits, with the state of the knowledge that gave it. Where the text is a message that the matcher
/// recognises, its records stand first.
///
/// This computes; call it off the async threads where many searches run at once.
pub fn search(generation: &Generation, request: &SearchRequest) -> Result<SearchAnswer, SearchError> {
    let mut request = request.clone();
    if request.first.is_empty() {
        request.first = recognised(&generation.matcher, &request.text);
    }
    generation.index.search(&request, generation.seq)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::evaluation::shipped;

    #[test]
    fn a_short_query_is_as_much_work_as_a_short_text() {
        assert!(!shipped().index.is_empty(), "it is built now");
        let asked = |text: String| SearchRequest {
            text,
            ..SearchRequest::default()
        };
        let few_words = asked("cuda out of memory".to_owned());
        assert!((1..2 << 10).contains(&work(shipped(), &few_words)));
        let line = asked("cuda out of memory ".repeat(10));
        assert!(work(shipped(), &line) > 2 << 10);
    }
}
