//! Where words that may tell of an error stand in a text.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::languages::FOREIGN;
use super::messages::MESSAGES;
use super::phrases::STATES;
use super::script::Script;
use super::states::When;
use super::{ERRORS, fold, is_hump};

/// A text is looked at in parts of so many bytes, and of what is left of the last line.
const PART_BYTES: usize = 4096;

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A word of an error in English.
    Error,
    /// The phrase of a state.
    State(When),
    /// A word of an error in another language, looked for in folded letters (see [`fold`]).
    Foreign(Script),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: Kind,
}

struct Words {
    automaton: AhoCorasick,
    /// Of each word.
    kinds: Vec<Kind>,
}

/// The words in ASCII: whole logs are read by them.
static ASCII: LazyLock<Option<Words>> = LazyLock::new(|| {
    let errors = ERRORS.into_iter().map(|word| (word, Kind::Error));
    let words = errors.chain(states(true)).chain(foreign(true));
    Words::new(words, AhoCorasickKind::DFA)
});

/// The other words. As a DFA they would take megabytes, and few lines are read by them.
static WIDE: LazyLock<Option<Words>> = LazyLock::new(|| {
    let words = states(false).chain(foreign(false));
    Words::new(words, AhoCorasickKind::ContiguousNFA)
});

fn states(is_ascii: bool) -> impl Iterator<Item = (&'static str, Kind)> {
    let states = STATES.into_iter();
    let states = states.filter(move |(phrase, _)| phrase.is_ascii() == is_ascii);
    states.map(|(phrase, when)| (phrase, Kind::State(when)))
}

fn foreign(is_ascii: bool) -> impl Iterator<Item = (&'static str, Kind)> {
    let words = FOREIGN.into_iter().chain(MESSAGES);
    let words = words.filter(move |(word, _)| word.is_ascii() == is_ascii);
    words.map(|(word, script)| (word, Kind::Foreign(script)))
}

impl Words {
    fn new(words: impl Iterator<Item = (&'static str, Kind)>, kind: AhoCorasickKind) -> Option<Self> {
        let (words, kinds): (Vec<&str>, Vec<Kind>) = words.unzip();
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(kind))
            .build(words)
            .ok()?;
        Some(Self { automaton, kinds })
    }

    fn find(&self, text: &[u8]) -> impl Iterator<Item = Found> {
        self.automaton.find_iter(text).filter_map(move |found| {
            Some(Found {
                from: found.start(),
                to: found.end(),
                kind: *self.kinds.get(found.pattern().as_usize())?,
            })
        })
    }
}

/// The words in ASCII, in order.
pub(super) fn ascii(text: &[u8]) -> impl Iterator<Item = Found> {
    let words = ASCII.as_ref().into_iter();
    words.flat_map(move |words| words.find(text))
}

/// The other words, in order.
pub(super) fn wide(text: &[u8]) -> impl Iterator<Item = Found> {
    let words = WIDE.as_ref().filter(|_| !text.is_ascii()).into_iter();
    words.flat_map(move |words| words.find(text))
}

/// Where the first word that may tell of an error begins, in bytes. Only [`super::looks_like_error`] says whether its line does.
pub(crate) fn find_error_word(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        let part = part(text.get(at..)?);
        if let Some(found) = first(part) {
            return Some(at + found);
        }
        at += part.len();
    }
    None
}

/// Both kinds of words are looked for in a part before the next one is read: the text is read on from each word that is found, and
/// otherwise one kind would be looked for in all of the text again.
fn part(text: &[u8]) -> &[u8] {
    let behind = text.get(PART_BYTES..).unwrap_or_default();
    let end = behind.iter().position(|byte| *byte == b'\n');
    let length = end.map_or(text.len(), |end| PART_BYTES + end + 1);
    text.get(..length).unwrap_or(text)
}

fn first(part: &[u8]) -> Option<usize> {
    if part.is_ascii() {
        let found = ascii(part).find(|found| may_stand(*found, part));
        return found.map(|found| found.from);
    }
    let mut at = 0;
    for line in part.split_inclusive(|byte| *byte == b'\n') {
        if let Some(from) = first_of_line(line) {
            return Some(at + from);
        }
        at += line.len();
    }
    None
}

fn first_of_line(line: &[u8]) -> Option<usize> {
    let plain = first_of_both(line);
    let folded = fold::folded_bytes(line)
        .and_then(|folded| first_of_both(folded.as_bytes()))
        .map(|from| fold::place(line, from));
    plain.into_iter().chain(folded).min()
}

fn first_of_both(line: &[u8]) -> Option<usize> {
    let of_ascii = ascii(line).find(|found| may_stand(*found, line));
    let of_wide = wide(line).find(|found| may_stand(*found, line));
    let both = [of_ascii, of_wide].into_iter().flatten();
    both.map(|found| found.from).min()
}

fn may_stand(found: Found, text: &[u8]) -> bool {
    let before = found.from.checked_sub(1).and_then(|before| text.get(before));
    // `m` and `K` end the signs that set a colour and clear a line; GCC writes both before `error:`.
    let begins = before.is_none_or(|before| !before.is_ascii_alphanumeric() || matches!(before, b'm' | b'K'))
        || is_hump(text, found.from);
    match found.kind {
        Kind::Error => begins,
        Kind::State(when) => when.may_stand(text, found.from, begins),
        Kind::Foreign(script) => script.may_stand(begins),
    }
}
