//! Words of a text, and the parts of compound words.
//!
//! A run of letters, digits and `_` is one word in lower case: `NCCL_P2P_DISABLE`, `0x1f`. A run of Chinese, Japanese or
//! Korean characters is a row of overlapping pairs.

use std::ops::Range;

use super::characters::{Class, each_run};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// First byte in the text.
    pub(crate) start: usize,
    /// The byte after the last.
    pub(crate) end: usize,
    /// Number among the words of the text, from 0.
    pub(crate) position: usize,
    /// A pair of Chinese, Japanese or Korean characters, or a single one that stands alone.
    pub(crate) is_cjk: bool,
}

pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    each_word(text, |range, is_cjk| push(&mut found, text, range, is_cjk));
    found
}

/// The parts of all compound words of a text, in order: `peer`, `access` of `peerAccess`. A compound word is cut at `_`,
/// before a capital and between letters and digits. Parts of one character are left out.
pub(crate) fn parts(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    each_word(text, |range, is_cjk| {
        if !is_cjk {
            each_part(text, range, |part| push(&mut found, text, part, false));
        }
    });
    found
}

/// The parts of one word, in lower case. None where the word is not compound.
pub(crate) fn parts_of(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_part(word, 0..word.len(), |part| push(&mut found, word, part, false));
    found.into_iter().map(|part| part.text).collect()
}

fn push(found: &mut Vec<Word>, text: &str, range: Range<usize>, is_cjk: bool) {
    let mut lower = String::new();
    push_lower_case(text.get(range.clone()).unwrap_or_default(), &mut lower);
    found.push(Word {
        text: lower,
        start: range.start,
        end: range.end,
        position: found.len(),
        is_cjk,
    });
}

pub(super) fn push_lower_case(word: &str, to: &mut String) {
    if word.is_ascii() {
        let start = to.len();
        to.push_str(word);
        to.get_mut(start..).unwrap_or_default().make_ascii_lowercase();
    } else {
        to.extend(word.chars().flat_map(char::to_lowercase));
    }
}

/// Calls `take` with the range of each word, and whether it is of CJK characters.
pub(super) fn each_word(text: &str, mut take: impl FnMut(Range<usize>, bool)) {
    each_run(text, |class, start, run| match class {
        Class::Cjk => each_pair(run, |pair| take(start + pair.start..start + pair.end, true)),
        Class::Word => take(start..start + run.len(), false),
        Class::Separator => {}
    });
}

fn each_pair(run: &str, mut take: impl FnMut(Range<usize>)) {
    let mut ends = run.char_indices().map(|(at, c)| at + c.len_utf8());
    let first_end = ends.next().unwrap_or(run.len());
    if first_end == run.len() {
        take(0..run.len());
        return;
    }
    for ((start, _), end) in run.char_indices().zip(ends) {
        take(start..end);
    }
}

/// Calls `take` with the range of each part of a compound word.
pub(super) fn each_part(text: &str, word: Range<usize>, mut take: impl FnMut(Range<usize>)) {
    let written = text.get(word.clone()).unwrap_or_default();
    if is_plain(written) {
        return;
    }
    let mut take_trimmed = |start: usize, end: usize| {
        let slice = written.get(start..end).unwrap_or_default();
        let trimmed = slice.trim_matches('_');
        if trimmed.chars().nth(1).is_some() {
            let start = word.start + start + slice.len() - slice.trim_start_matches('_').len();
            take(start..start + trimmed.len());
        }
    };
    let mut part_start = 0;
    let mut previous: Option<char> = None;
    let mut characters = written.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, c)| *c);
        if previous.is_some_and(|previous| starts_part(previous, c, next)) {
            take_trimmed(part_start, at);
            part_start = at;
        }
        previous = Some(c);
    }
    if part_start > 0 {
        take_trimmed(part_start, written.len());
    }
}

/// True for letters of one case with at most a capital first: nearly every word, and never compound.
fn is_plain(word: &str) -> bool {
    let Some((first, rest)) = word.as_bytes().split_first() else {
        return true;
    };
    let is_lower = rest.iter().all(u8::is_ascii_lowercase);
    first.is_ascii_alphabetic() && (is_lower || word.bytes().all(|byte| byte.is_ascii_uppercase()))
}

/// True where a part begins with `current`: `a|B`, `AB|c` before the `B`, `a|1`, `1|a`, and on both sides of `_`.
fn starts_part(previous: char, current: char, next: Option<char>) -> bool {
    if current == '_' || previous == '_' {
        return current != previous;
    }
    if previous.is_numeric() != current.is_numeric() {
        return true;
    }
    current.is_uppercase() && (previous.is_lowercase() || next.is_some_and(char::is_lowercase))
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
