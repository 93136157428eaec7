//! Whether a line looks like an error: the words that tell of one, and those that tell of none.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Beginnings of words that tell of an error.
const ERRORS: [&str; 36] = [
    "error",
    "fail",
    "fatal",
    "fault",
    "panic",
    "exception",
    "abort",
    "xid",
    "timed out",
    "timeout",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unable",
    "refused",
    "denied",
    "lost",
    "corrupt",
    "invalid",
    "illegal",
    "segfault",
    "killed",
    "assert",
    "nvrm:",
    "not found",
    "no such",
    "out of memory",
    "mismatch",
    "unsupported",
    "not supported",
    "uncorrectable",
    "hung",
    "undefined",
    // A cell of nvidia-smi, and a result of AMD's RVS.
    "err!",
    "pass: false",
];
/// The same words where they tell of none.
const NONE: [&str; 9] = [
    "no error",
    "0 errors",
    "0 failures",
    "without error",
    "errors: 0",
    "errors=0",
    "error=0",
    "no fault",
    "failed=0",
];

static ERROR_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| words(&ERRORS));
static NONE_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| words(&NONE));

fn words(list: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        // Whole logs are read by it.
        .kind(Some(AhoCorasickKind::DFA))
        .build(list)
        .ok()
}

/// Where the first word that may tell of an error begins, in bytes. Only [`looks_like_error`] says whether its line does.
pub(crate) fn find_error_word(text: &[u8]) -> Option<usize> {
    let errors = ERROR_WORDS.as_ref()?;
    let mut found = errors.find_iter(text).map(|found| found.start());
    found.find(|at| {
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        // `m` ends the sign that sets a colour.
        before.is_none_or(|before| !before.is_ascii_alphanumeric() || *before == b'm')
            || text.get(*at).is_some_and(u8::is_ascii_uppercase)
    })
}

/// Whether a line may tell of an error: it has such a word at the beginning of one of its own, or as an exception's name ends.
pub fn looks_like_error(line: &str) -> bool {
    let (Some(errors), Some(none)) = (ERROR_WORDS.as_ref(), NONE_WORDS.as_ref()) else {
        return false;
    };
    let begins = |at: usize| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let here = line.get(at..).and_then(|rest| rest.chars().next());
        // `RuntimeError`, `CUDA_ERROR_UNKNOWN`, `cudaErrorUnknown`.
        before.is_none_or(|before| !before.is_alphanumeric()) || here.is_some_and(char::is_uppercase)
    };
    // Not the end of a number: `10 errors`, `00.0 errors`.
    let is_none = |at: usize| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|before| !before.is_alphanumeric() && before != '.')
    };
    errors.find_iter(line).any(|found| begins(found.start()))
        && !none.find_iter(line).any(|found| is_none(found.start()))
}
