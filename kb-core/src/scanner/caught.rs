//! Errors that a program caught and reported as a warning or less, by the level that its logger put before them.

use memchr::memmem;

use crate::matcher::RawHit;

const MILD: [&[u8]; 6] = [b"WARNING", b"WARN", b"INFO", b"DEBUG", b"NOTICE", b"TRACE"];
const SEVERE: [&[u8]; 4] = [b"ERROR", b"CRITICAL", b"FATAL", b"E"];
/// As programs write keys and values.
const MILD_KEYS: [&[u8]; 4] = [b"level=warn", b"level=info", b"level=debug", b"levelname=WARN"];
const IMPORTS: [&[u8]; 2] = [b"ImportError: ", b"ModuleNotFoundError: "];

/// Whether the level before a message is below that of an error. glog writes `W0710` and `I0710`.
pub(super) fn is_mild(before: &[u8]) -> bool {
    let glog = |word: &[u8]| matches!(word, [b'W' | b'I', digits @ ..] if digits.len() == 4 && digits.iter().all(u8::is_ascii_digit));
    let mut is_mild = MILD_KEYS.iter().any(|key| memmem::find(before, key).is_some());
    for word in before.split(|byte| !byte.is_ascii_alphanumeric()) {
        if SEVERE.contains(&word) {
            return false;
        }
        is_mild |= glog(word) || MILD.contains(&word);
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
