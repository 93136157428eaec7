//! Synonyms: `P2P`, `peer access` and `对等访问` name one thing.
//!
//! Where a text holds one of the names, the analyzer adds the *synonym token* of the thing at the same position. A query
//! that holds any of the names asks for that token, too.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::words::words;

/// One thing a line: its names, with commas between them. The first names the thing in the index.
const NAMES: &str = include_str!("synonyms.txt");

/// First character of a synonym token. No word holds it.
const MARK: char = '=';

/// A place where a thing is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) token: &'static str,
    /// Position of the first word of the name.
    pub(crate) first: usize,
    pub(crate) last: usize,
}

#[derive(Debug)]
struct Name {
    words_after_first: Vec<String>,
    token: &'static str,
}

/// Names by their first word, the longest first.
static BY_FIRST_WORD: LazyLock<FxHashMap<String, Vec<Name>>> = LazyLock::new(|| {
    let mut by_first: FxHashMap<String, Vec<Name>> = FxHashMap::default();
    for row in rows() {
        let Some(thing) = row.first() else { continue };
        let token: &'static str = Box::leak(synonym_token(thing).into_boxed_str());
        for name in row {
            let mut words = words(name).into_iter().map(|word| word.text);
            if let Some(first) = words.next() {
                let words_after_first = words.collect();
                by_first.entry(first).or_default().push(Name {
                    words_after_first,
                    token,
                });
            }
        }
    }
    for names in by_first.values_mut() {
        names.sort_by_key(|name| std::cmp::Reverse(name.words_after_first.len()));
    }
    by_first
});

/// For each first byte, the lengths of the first words of names, the longest as the last bit. Nearly every word of every text
/// begins no name, and is passed over by this without a look into [`BY_FIRST_WORD`].
static FIRST_WORDS: LazyLock<[u32; 256]> = LazyLock::new(|| {
    let mut lengths = [0; 256];
    for (first_byte, length) in BY_FIRST_WORD.keys().filter_map(|word| shape(word)) {
        if let Some(known) = lengths.get_mut(first_byte) {
            *known |= length;
        }
    }
    lengths
});

/// First byte of a word, and the bit of its length.
fn shape(word: &str) -> Option<(usize, u32)> {
    let first_byte = usize::from(*word.as_bytes().first()?);
    Some((first_byte, 1 << word.len().min(31)))
}

fn may_begin_a_name(word: &str) -> bool {
    shape(word).is_some_and(|(first_byte, length)| {
        let known = FIRST_WORDS.get(first_byte);
        known.is_some_and(|known| known & length != 0)
    })
}

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    NAMES
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|row| row.split(", ").collect())
}

/// Names by the synonym token of their thing.
static BY_TOKEN: LazyLock<FxHashMap<String, Vec<&'static str>>> = LazyLock::new(|| {
    let tokens = rows().filter_map(|row| Some((synonym_token(row.first()?), row)));
    tokens.collect()
});

/// The names of a thing, by its synonym token; none for other tokens.
pub(crate) fn names_of(token: &str) -> &'static [&'static str] {
    BY_TOKEN.get(token).map_or(&[], Vec::as_slice)
}

/// The synonym token of a thing, by its first name.
fn synonym_token(thing: &str) -> String {
    format!("{MARK}{thing}")
}

/// Names that begin at a position, the longest first. `word_at` gives the words in lower case.
pub(super) fn mentions_at<'t>(
    word_at: impl Fn(usize) -> Option<&'t str>,
    first: usize,
) -> impl Iterator<Item = Mention> {
    let word = word_at(first).filter(|word| may_begin_a_name(word));
    let names = word.and_then(|word| BY_FIRST_WORD.get(word));
    names.into_iter().flatten().filter_map(move |name| {
        let mut expected = (first + 1..).zip(&name.words_after_first);
        let fits = expected.all(|(position, word)| word_at(position) == Some(word.as_str()));
        fits.then_some(Mention {
            token: name.token,
            first,
            last: first + name.words_after_first.len(),
        })
    })
}

/// The longest name at each position of a query: `out of memory` is not a mention of `memory`. Names do not overlap.
pub(crate) fn longest_mentions(words: &[super::Word]) -> Vec<Mention> {
    let word_at = |position: usize| words.get(position).map(|word| word.text.as_str());
    let mut found = Vec::new();
    let mut first = 0;
    while first < words.len() {
        let Some(longest) = mentions_at(word_at, first).next() else {
            first += 1;
            continue;
        };
        let end = words.get(longest.last).map_or(0, |word| word.end);
        first = longest.last + 1;
        // Pairs of Chinese characters overlap: the next ones begin within this name.
        while words.get(first).is_some_and(|word| word.start < end) {
            first += 1;
        }
        found.push(longest);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn mentioned(text: &str) -> Vec<&'static str> {
        let found = longest_mentions(&words(text));
        found.into_iter().map(|mention| mention.token).collect()
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
            let other = mentioned(other);
            assert!(
                !other.is_empty() && mentioned(one).ends_with(&other[other.len() - 1..]),
                "{one}: {other:?}"
            );
        }
        assert_eq!(mentioned("the weather is nice"), Vec::<&str>::new());
    }

    #[test]
    fn a_query_mentions_the_longest_name_only() {
        assert_eq!(mentioned("显存不足"), ["=out of memory"]);
        assert_eq!(
            mentioned("显卡死机"),
            ["=gpu", "=hang"],
            "a pair that belongs to two names is no name"
        );
    }

    #[test]
    fn a_name_stands_in_one_row() {
        let mut things: HashMap<Vec<String>, &str> = HashMap::new();
        for row in rows() {
            for name in &row {
                let said: Vec<String> = words(name).into_iter().map(|word| word.text).collect();
                assert!(!said.is_empty() && name.trim() == *name, "{name} of {}", row[0]);
                let other = things.insert(said, row[0]);
                assert_eq!(other, None, "{name} of {}", row[0]);
            }
        }
        assert!(things.len() > 400, "{}", things.len());
    }
}
