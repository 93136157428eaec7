//! A text that is a whole message: its records are those that the matcher recognises in it.

use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::matcher::Matcher;
use kb_core::scanner::ScanOptions;

/// Fewer words are no message, unless a colon stands among them: `out of memory` means any of its records.
const MIN_MESSAGE_WORDS: usize = 4;
/// Most records of a message that stand before what its words find.
const MAX_RECOGNISED: usize = 3;

/// Whether a text is a message rather than words to search for.
pub fn is_message(text: &str) -> bool {
    text.split_whitespace().count() >= MIN_MESSAGE_WORDS || text.contains(": ")
}

/// The records that the matcher recognises in a message, which stand before what its words find; none of other texts.
pub fn recognised(matcher: &Arc<Matcher>, text: &str) -> Vec<RecordId> {
    if !is_message(text) {
        return Vec::new();
    }
    let mut scanner = Arc::clone(matcher).scanner(ScanOptions::default());
    scanner.feed(text.as_bytes());
    let found = scanner.finish().matches.into_iter();
    found.map(|found| found.id).take(MAX_RECOGNISED).collect()
}
