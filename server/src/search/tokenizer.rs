//! Cuts text into the words that people search for: code words whole, Chinese as overlapping pairs.
//!
//! A run of letters, digits and `_` is one lower-case word, so `NCCL_P2P_DISABLE` and `0x1f` stay findable. A run
//! of Chinese, Japanese or Korean characters gives overlapping bigrams with rising positions, so that parts of it
//! match and reversed pairs do not. The parts of compound words (`peer`, `access` of `cudaErrorPeerAccess`) are a
//! stream of their own, for a field of their own: whole words keep their positions and their statistics.

use std::ops::Range;

/// Longer runs are data (base64, hashes of hashes), not words: nobody types them, and they would bloat the index.
const MAX_WORD_BYTES: usize = 200;

/// A word of a text, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Lower-case text.
    pub(super) text: String,
    /// First byte in the source.
    pub(super) start: usize,
    /// Byte after the last.
    pub(super) end: usize,
    /// Number among the words of the text.
    pub(super) position: usize,
    /// A pair (or a lone one) of Chinese, Japanese or Korean characters.
    pub(super) is_cjk: bool,
}

/// The words of a text, in order.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    each_word(text, |start, end, is_cjk| {
        push(&mut found, text, start..end, is_cjk);
    });
    found
}

/// The parts of every compound word of a text: split at `_`, before a capital that starts a part, and between
/// letters and digits. Words of one part give none, and neither do parts of one character.
pub(super) fn parts(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    each_part(text, |start, end| push(&mut found, text, start..end, false));
    found
}

/// Where each word of a text begins and ends, and whether it is of Chinese, Japanese or Korean characters.
fn each_word(text: &str, mut take: impl FnMut(usize, usize, bool)) {
    each_run(text, |kind, start, run| match kind {
        Kind::Cjk => each_bigram(run, start, |start, end| take(start, end, true)),
        Kind::Word => take(start, start + run.len(), false),
        Kind::Other => {}
    });
}

/// Where each part of a compound word begins and ends, as [`parts`] has them.
fn each_part(text: &str, mut take: impl FnMut(usize, usize)) {
    each_run(text, |kind, start, run| {
        if kind == Kind::Word {
            each_part_of(run, start, &mut take);
        }
    });
}

/// Where a word stands, or a part of a compound one.
#[derive(Debug, Clone)]
pub(super) enum Span {
    Word(Range<usize>),
    Part(Range<usize>),
}

/// Where each word begins and ends, as [`words`] has them, and each part of a compound one, as [`parts`] has them, in one
/// go over the text; those of Chinese, Japanese or Korean characters only where they are wanted.
pub(super) fn each_word_and_part(text: &str, with_cjk: bool, mut take: impl FnMut(Span)) {
    each_run(text, |kind, start, run| match kind {
        Kind::Cjk if with_cjk => each_bigram(run, start, |start, end| take(Span::Word(start..end))),
        Kind::Word => {
            take(Span::Word(start..start + run.len()));
            each_part_of(run, start, &mut |start, end| take(Span::Part(start..end)));
        }
        Kind::Cjk | Kind::Other => {}
    });
}

/// What stands around a byte without anything between words in ASCII: all words and parts that reach there are in it, and
/// those of it are those of the text.
pub(super) fn unbroken_around(text: &str, at: usize) -> Range<usize> {
    let breaks = |byte: &u8| KINDS.get(usize::from(*byte)) == Some(&Some(Kind::Other));
    let (before, after) = text.as_bytes().split_at_checked(at).unwrap_or_default();
    let start = before.iter().rposition(breaks).map_or(0, |place| place + 1);
    let end = after
        .iter()
        .position(breaks)
        .map_or(text.len(), |place| at + place);
    start..end
}

/// The runs of characters of one kind, each with its first byte. Words that are too long are left out, and what stands
/// between words is.
fn each_run(text: &str, mut take: impl FnMut(Kind, usize, &str)) {
    let mut at = 0;
    while let Some(first) = text.as_bytes().get(at) {
        let kind = match KINDS.get(usize::from(*first)) {
            // Between words there is mostly one character.
            Some(Some(Kind::Other)) => {
                at += 1;
                continue;
            }
            Some(Some(kind)) => *kind,
            _ => Kind::beyond_ascii(character_at(text, at)),
        };
        let end = end_of_run(text, at, kind);
        if kind != Kind::Other && (kind != Kind::Word || end - at <= MAX_WORD_BYTES) {
            take(kind, at, text.get(at..end).unwrap_or_default());
        }
        at = end;
    }
}

/// Where a run ends that begins at a byte.
#[inline]
fn end_of_run(text: &str, start: usize, kind: Kind) -> usize {
    let mut at = start;
    loop {
        // Nearly all characters of all texts are ASCII.
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        let ended = |byte: &u8| KINDS.get(usize::from(*byte)) != Some(&Some(kind));
        at += rest.iter().position(ended).unwrap_or(rest.len());
        if text.as_bytes().get(at).is_none_or(u8::is_ascii) {
            return at;
        }
        let character = character_at(text, at);
        if Kind::beyond_ascii(character) != kind {
            return at;
        }
        at += character.len_utf8();
    }
}

fn character_at(text: &str, at: usize) -> char {
    text.get(at..)
        .and_then(|rest| rest.chars().next())
        .unwrap_or_default()
}

/// The parts of one word, lower case. Empty unless it has at least two.
pub(super) fn parts_of(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_part_of(word, 0, &mut |start, end| {
        push(&mut found, word, start..end, false);
    });
    found.into_iter().map(|part| part.text).collect()
}

fn push(found: &mut Vec<Word>, text: &str, place: Range<usize>, is_cjk: bool) {
    let Some(slice) = text.get(place.clone()) else {
        return;
    };
    let mut text = String::with_capacity(slice.len());
    push_lower_case(slice, &mut text);
    found.push(Word {
        text,
        start: place.start,
        end: place.end,
        position: found.len(),
        is_cjk,
    });
}

/// Writes a word in lower case behind a text.
pub(super) fn push_lower_case(word: &str, text: &mut String) {
    let start = text.len();
    // Nearly all words are of one or the other.
    if word.is_ascii() || word.chars().all(is_cjk) {
        text.push_str(word);
        text.get_mut(start..).unwrap_or_default().make_ascii_lowercase();
    } else {
        text.extend(word.chars().flat_map(char::to_lowercase));
    }
}

fn each_bigram(run: &str, offset: usize, mut take: impl FnMut(usize, usize)) {
    let mut ends = run.char_indices().map(|(at, c)| at + c.len_utf8());
    let first_end = ends.next().unwrap_or(run.len());
    if first_end == run.len() {
        take(offset, offset + run.len());
        return;
    }
    for ((start, _), end) in run.char_indices().zip(ends) {
        take(offset + start, offset + end);
    }
}

/// Whether a word is of letters in one case, but for a capital at its beginning: it has no parts.
fn is_plain(word: &str) -> bool {
    let Some((first, rest)) = word.as_bytes().split_first() else {
        return true;
    };
    let is_lower = rest.iter().all(u8::is_ascii_lowercase);
    first.is_ascii_alphabetic() && (is_lower || word.bytes().all(|byte| byte.is_ascii_uppercase()))
}

fn each_part_of(word: &str, offset: usize, take: &mut impl FnMut(usize, usize)) {
    if is_plain(word) {
        return;
    }
    let mut part = |start: usize, end: usize| {
        let slice = word.get(start..end).unwrap_or_default();
        let trimmed = slice.trim_matches('_');
        if trimmed.chars().nth(1).is_some() {
            let start = offset + start + slice.len() - slice.trim_start_matches('_').len();
            take(start, start + trimmed.len());
        }
    };
    let mut begun = 0;
    let mut previous: Option<char> = None;
    let mut characters = word.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, c)| *c);
        if previous.is_some_and(|p| starts_part(p, c, next)) {
            part(begun, at);
            begun = at;
        }
        previous = Some(c);
    }
    if begun > 0 {
        part(begun, word.len());
    }
}

/// Whether `current` begins a part: `a|B`, `AB|c` before the `B`, `a|1`, `1|a`, and on both sides of `_`.
fn starts_part(previous: char, current: char, next: Option<char>) -> bool {
    if current == '_' || previous == '_' {
        return current != previous;
    }
    if previous.is_numeric() != current.is_numeric() {
        return true;
    }
    if !current.is_uppercase() {
        return false;
    }
    previous.is_lowercase() || next.is_some_and(char::is_lowercase)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Cjk,
    Other,
}

/// The kind of each byte that is a character.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which would say so"
)]
static KINDS: [Option<Kind>; 256] = {
    let mut kinds = [None; 256];
    let mut byte = 0_u8;
    while byte.is_ascii() {
        kinds[byte as usize] = Some(Kind::of_ascii(byte));
        byte += 1;
    }
    kinds
};

impl Kind {
    #[inline]
    const fn of_ascii(byte: u8) -> Self {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            Self::Word
        } else {
            Self::Other
        }
    }

    fn beyond_ascii(c: char) -> Self {
        if is_cjk(c) {
            Self::Cjk
        } else if !is_typographic(c) && c.is_alphanumeric() {
            Self::Word
        } else {
            Self::Other
        }
    }
}

/// The signs that stand in texts: no letters, and known sooner than by the tables of all characters.
fn is_typographic(c: char) -> bool {
    matches!(u32::from(c),
        0x2010..=0x2027      // dashes, quotes, dots
        | 0x3001..=0x3003    // Chinese full stops and commas
        | 0x3008..=0x3011    // brackets
        | 0x3014..=0x301F
        | 0xFF01..=0xFF0F    // wide signs
        | 0xFF1A..=0xFF20)
}

/// Scripts written without blanks: the Unicode blocks of Han ideographs, kana and Hangul syllables.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x3040..=0x30FF      // Hiragana, Katakana
        | 0x31F0..=0x31FF    // Katakana phonetic extensions
        | 0x3400..=0x4DBF    // Han extension A
        | 0x4E00..=0x9FFF    // Han
        | 0xAC00..=0xD7AF    // Hangul syllables
        | 0xF900..=0xFAFF    // Han compatibility
        | 0xFF66..=0xFF9D    // half-width Katakana
        | 0x20000..=0x323AF  // Han extensions B to H
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(list: &[Word]) -> Vec<&str> {
        list.iter().map(|word| word.text.as_str()).collect()
    }

    #[test]
    fn code_words_and_numbers_stay_whole() {
        let list = words("set NCCL_P2P_DISABLE=1 (0x1F), cudaErrorPeerAccess: Xid 79!");
        let expected = [
            "set",
            "nccl_p2p_disable",
            "1",
            "0x1f",
            "cudaerrorpeeraccess",
            "xid",
            "79",
        ];
        assert_eq!(texts(&list), expected);
    }

    #[test]
    fn chinese_becomes_overlapping_pairs_with_rising_positions() {
        let list = words("不支持对等CUDA访");
        assert_eq!(texts(&list), ["不支", "支持", "持对", "对等", "cuda", "访"]);
        assert_eq!(
            list.iter().map(|word| word.position).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4, 5]
        );
    }

    #[test]
    fn compound_words_have_parts_and_plain_ones_have_none() {
        for (word, expected) in [
            (
                "cudaErrorPeerAccessUnsupported",
                vec!["cuda", "error", "peer", "access", "unsupported"],
            ),
            ("CUDA_ERROR_PEER_ACCESS", vec!["cuda", "error", "peer", "access"]),
            ("NCCLError", vec!["nccl", "error"]),
            ("peerAccess", vec!["peer", "access"]),
            ("sm_90", vec!["sm", "90"]),
            ("Xid79", vec!["xid", "79"]),
            ("__init__", vec!["init"]),
            ("p2p", vec![]),
            ("driver", vec![]),
            ("550", vec![]),
        ] {
            assert_eq!(parts_of(word), expected, "{word}");
        }
        let list = parts("a peerAccess\u{4e0d}b_cd");
        assert_eq!(texts(&list), ["peer", "access", "cd"]);
    }

    #[test]
    fn no_sign_is_a_letter() {
        let all = (0..=u32::from(char::MAX)).filter_map(char::from_u32);
        let letters: Vec<char> = all
            .filter(|c| is_typographic(*c) && c.is_alphanumeric())
            .collect();
        assert!(letters.is_empty(), "{letters:?}");
    }

    proptest! {
        #[test]
        fn words_are_slices_of_the_text_in_order(text in "\\PC{0,200}") {
            let list = words(&text);
            for (number, word) in list.iter().enumerate() {
                prop_assert_eq!(word.position, number);
                let slice = text.get(word.start..word.end).expect("on character boundaries");
                prop_assert_eq!(slice.chars().flat_map(char::to_lowercase).collect::<String>(), word.text.as_str());
            }
            prop_assert!(list.windows(2).all(|pair| pair[0].start < pair[1].start && pair[0].end <= pair[1].end));
        }

        #[test]
        fn parts_are_slices_of_the_text_in_order(text in "[a-zA-Z0-9_ é不支-]{0,80}") {
            let list = parts(&text);
            for part in &list {
                let slice = text.get(part.start..part.end).expect("on character boundaries");
                prop_assert_eq!(slice.chars().flat_map(char::to_lowercase).collect::<String>(), part.text.as_str());
            }
            prop_assert!(list.windows(2).all(|pair| pair[0].end <= pair[1].start));
        }
    }
}
