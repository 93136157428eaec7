//! Errors that a program caught and reported as a warning or less, by the level that its logger put before them.

use memchr::memmem;

use crate::error_words::Level;
use crate::matcher::RawHit;

/// As programs write keys and values.
const MILD_KEYS: [&[u8]; 4] = [b"level=warn", b"level=info", b"level=debug", b"levelname=WARN"];
const IMPORTS: [&[u8]; 2] = [b"ImportError: ", b"ModuleNotFoundError: "];

/// Whether the level before a message is below that of an error.
pub(super) fn is_mild(before: &[u8]) -> bool {
    let mut is_mild = MILD_KEYS.iter().any(|key| memmem::find(before, key).is_some());
    for word in before.split(|byte| !byte.is_ascii_alphanumeric()) {
        match Level::of(word) {
            Some(Level::Error) => return false,
            Some(Level::Warning | Level::Info) => is_mild = true,
            None => {}
        }
    }
    is_mild
}

/// Whether a hit stands in what a logger says, as no error, of a module that could not be imported: the program goes on without it.
pub(super) fn is_optional_import(text: &[u8], hit: &RawHit) -> bool {
    IMPORTS.iter().any(|word| {
        let at = memmem::find(text, word);
        at.is_some_and(|at| at < hit.span.end && text.get(..at).is_some_and(is_mild))
    })
}
