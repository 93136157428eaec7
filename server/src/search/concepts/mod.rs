//! Things that have several names: `P2P`, `peer access` and `对等访问` are one.
//!
//! Where a text says one of the names, the index gets a word for the thing beside the words as written, at the same
//! place. A query that says any of the names looks for that word too. So it works in both directions and in every
//! text, and costs one term of the query.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::tokenizer::{Word, words};

/// One thing a line: its names, with commas between them.
const NAMES: &str = include_str!("names.txt");

/// Begins the word for a thing. No word of a text holds it, so nobody meets such a word by typing.
const MARK: char = '=';

/// A place where a thing is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// The thing, by its first name.
    pub(super) concept: &'static str,
    /// Number of the first word that names it.
    pub(super) first: usize,
    /// Number of the last.
    pub(super) last: usize,
}

#[derive(Debug)]
struct Phrase {
    /// Words after the first.
    rest: Vec<String>,
    concept: &'static str,
}

/// Phrases by their first word, the longest first.
static PHRASES: LazyLock<HashMap<String, Vec<Phrase>>> = LazyLock::new(|| {
    let mut by_first: HashMap<String, Vec<Phrase>> = HashMap::new();
    for (concept, phrase) in names() {
        let mut said = words(phrase).into_iter().map(|word| word.text);
        if let Some(first) = said.next() {
            let rest = said.collect();
            by_first.entry(first).or_default().push(Phrase { rest, concept });
        }
    }
    for phrases in by_first.values_mut() {
        phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.rest.len()));
    }
    by_first
});

/// For each first byte, the lengths of the words with which a name begins, longest as the last bit: nearly all words of
/// all texts begin none, and are passed over by this.
static BEGINNINGS: LazyLock<[u32; 256]> = LazyLock::new(|| {
    let mut lengths = [0; 256];
    for (first, length) in PHRASES.keys().filter_map(|word| place_of(word)) {
        if let Some(known) = lengths.get_mut(first) {
            *known |= length;
        }
    }
    lengths
});

/// The names of each thing, by the word for it: their words, in lower case.
static NAMES_OF: LazyLock<HashMap<String, Vec<Vec<String>>>> = LazyLock::new(|| {
    let mut of: HashMap<String, Vec<Vec<String>>> = HashMap::new();
    for (concept, phrase) in names() {
        let said = words(phrase).into_iter().map(|word| word.text).collect();
        of.entry(word_for(concept)).or_default().push(said);
    }
    of
});

/// The names of the thing that a word of the index stands for, each in words; none where it is a word as written.
pub(super) fn names_of(word: &str) -> Option<&'static [Vec<String>]> {
    NAMES_OF
        .get(word)
        .filter(|_| word.starts_with(MARK))
        .map(Vec::as_slice)
}

/// First byte, and the bit of the length.
fn place_of(word: &str) -> Option<(usize, u32)> {
    let first = usize::from(*word.as_bytes().first()?);
    Some((first, 1 << word.len().min(31)))
}

/// Every name, with the first name of its thing.
fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = NAMES
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    rows.flat_map(|row| {
        let concept = row.split(", ").next().unwrap_or_default();
        row.split(", ").map(move |name| (concept, name))
    })
}

/// The word for a thing, as the index has it.
pub(super) fn word_for(concept: &str) -> String {
    let mut word = String::with_capacity(1 + concept.len());
    push_word_for(concept, &mut word);
    word
}

/// Writes that word behind a text.
pub(super) fn push_word_for(concept: &str, text: &mut String) {
    text.push(MARK);
    text.push_str(concept);
}

/// Words in lower case, by their places.
pub(super) trait Said {
    /// The word at a place; `None` behind the last.
    fn said(&self, place: usize) -> Option<&str>;
}

impl Said for [Word] {
    fn said(&self, place: usize) -> Option<&str> {
        Some(&self.get(place)?.text)
    }
}

/// These words, and beside the first of each name the word for what it names: all of them, also within longer names.
#[cfg(test)]
pub(super) fn with_concepts(mut words: Vec<Word>) -> Vec<Word> {
    let named: Vec<Word> = (0..words.len())
        .flat_map(|first| named_at(words.as_slice(), first))
        .filter_map(|mention| {
            let (first, last) = (words.get(mention.first)?, words.get(mention.last)?);
            Some(Word {
                text: word_for(mention.concept),
                end: last.end,
                is_cjk: false,
                ..first.clone()
            })
        })
        .collect();
    if !named.is_empty() {
        words.extend(named);
        words.sort_by_key(|word| word.position);
    }
    words
}

/// The things that a query names, the longest name at each place: who asks for `out of memory` does not ask for memory.
pub(super) fn asked(words: &[Word]) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut first = 0;
    while first < words.len() {
        let Some(longest) = named_at(words, first).next() else {
            first += 1;
            continue;
        };
        let end = words.get(longest.last).map_or(0, |word| word.end);
        first = longest.last + 1;
        // Pairs of Chinese characters overlap: what begins within this name is none of its own.
        while words.get(first).is_some_and(|word| word.start < end) {
            first += 1;
        }
        found.push(longest);
    }
    found
}

/// Names that begin at a word, the longest first.
pub(super) fn named_at<W: Said + ?Sized>(words: &W, first: usize) -> impl Iterator<Item = Mention> {
    let may_begin = |word: &&str| {
        let place = place_of(word);
        place.is_some_and(|(first, length)| BEGINNINGS.get(first).is_some_and(|known| known & length != 0))
    };
    let begun = words.said(first).filter(may_begin);
    let phrases = begun.and_then(|word| PHRASES.get(word));
    phrases.into_iter().flatten().filter_map(move |phrase| {
        let mut after = (first + 1..).zip(&phrase.rest);
        let fits = after.all(|(place, said)| words.said(place) == Some(said.as_str()));
        fits.then_some(Mention {
            concept: phrase.concept,
            first,
            last: first + phrase.rest.len(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::cut::Cut;

    fn asked_in(text: &str) -> Vec<&'static str> {
        let found = asked(&words(text));
        found.into_iter().map(|mention| mention.concept).collect()
    }

    #[test]
    fn names_of_one_thing_mean_the_same_in_both_languages() {
        for (one, other) in [
            ("peer-to-peer", "对等访问"),
            ("P2P", "互访"),
            ("GPU fell off the bus", "显卡掉卡"),
            ("OOM", "显存不足"),
            ("timed out", "超时"),
            ("is stuck", "卡死"),
            ("InfiniBand", "RoCE"),
            ("Unsupported", "不支持"),
        ] {
            let other = asked_in(other);
            assert!(
                !other.is_empty() && asked_in(one).ends_with(&other[other.len() - 1..]),
                "{one}: {other:?}"
            );
        }
        assert_eq!(asked_in("the weather is nice"), Vec::<&str>::new());
    }

    #[test]
    fn the_longest_name_is_asked_for_and_all_are_mentioned() {
        assert_eq!(asked_in("显存不足"), ["out of memory"]);
        let mut cut = Cut::default();
        cut.cut("显存不足");
        let said = cut.words.joined();
        let said: Vec<&str> = said.split_whitespace().collect();
        assert_eq!(said.join(" "), "显存 =out of memory =gpu memory 存不 不足");
        assert_eq!(
            asked_in("显卡死机"),
            ["gpu", "hang"],
            "pairs that straddle two names are no name"
        );
    }

    #[test]
    fn a_name_belongs_to_one_row() {
        let mut things: HashMap<Vec<String>, &str> = HashMap::new();
        for (thing, name) in names() {
            let said: Vec<String> = words(name).into_iter().map(|word| word.text).collect();
            assert!(!said.is_empty() && name.trim() == name, "{name} of {thing}");
            let other = things.insert(said, thing);
            assert_eq!(other, None, "{name} of {thing}");
        }
        assert!(things.len() > 400, "{}", things.len());
    }
}
