//! Searching the published records.

use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::scanner::ScanOptions;

use crate::feed::Generation;
use crate::search::{SearchAnswer, SearchError, SearchRequest};

/// Fewer words are no message, unless a colon stands among them: `out of memory` means any of its records.
const MIN_MESSAGE_WORDS: usize = 4;
/// Most records of a message that stand before what its words find.
const MAX_RECOGNISED: usize = 3;

/// One page of hits, with the state of the knowledge that gave it. Where the text is a message that the matcher
/// recognises, its records stand first.
///
/// This computes; call it off the async threads where many searches run at once.
pub fn search(generation: &Generation, request: &SearchRequest) -> Result<SearchAnswer, SearchError> {
    let mut request = request.clone();
    if request.first.is_empty() {
        request.first = recognised(generation, &request.text);
    }
    generation.index.search(&request, generation.seq)
}

fn recognised(generation: &Generation, text: &str) -> Vec<RecordId> {
    if text.split_whitespace().count() < MIN_MESSAGE_WORDS && !text.contains(": ") {
        return Vec::new();
    }
    let mut scanner = Arc::clone(&generation.matcher).scanner(ScanOptions::default());
    scanner.feed(text.as_bytes());
    let matches = scanner.finish().matches.into_iter();
    matches.map(|found| found.id).take(MAX_RECOGNISED).collect()
}
