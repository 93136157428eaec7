//! The part of a text that says most of a query, and the marks in it.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use rustc_hash::FxHashSet;
use tantivy::snippet::collapse_overlapped_ranges;
use tantivy::tokenizer::{TokenStream, Tokenizer};

use crate::analysis::{Analyzer, each_run, is_cjk, names_of, words};
use crate::query::QueryTerm;

/// Longest excerpt, in bytes.
const MAX_BYTES: usize = 240;
/// What is shown before the first mark of a long text, in bytes. More does not tell more.
const MAX_BEFORE: usize = 80;

/// Finds the tokens of one query in texts.
///
/// Of the part of a text that is shown, only the words where tokens may stand are analyzed: to analyze all texts of twenty hits
/// took longer than to find the hits.
pub(super) struct Marker {
    finder: AhoCorasick,
    /// For each pattern of the finder.
    beginnings: Vec<Beginning>,
    tokens: FxHashSet<String>,
    analyzer: Analyzer,
    places: Vec<(Range<usize>, f32)>,
}

/// A text, the part of it that is shown, and the marks in it.
pub(super) type Excerpted<'t> = (&'t str, Range<usize>, Vec<Range<usize>>);

/// What a token that begins with a pattern of the finder is.
#[derive(Default)]
struct Beginning {
    /// Inverse document frequency.
    weight: f32,
    /// Most words that it has.
    words: usize,
}

/// A part of a text that may hold marks.
struct Window {
    range: Range<usize>,
    /// Sum of the idf of what may stand in it.
    weight: f32,
}

impl Marker {
    /// `None` where nothing can be marked.
    pub(super) fn new(terms: &[QueryTerm]) -> Option<Self> {
        let mut patterns: BTreeMap<String, Beginning> = BTreeMap::new();
        let mut tokens = FxHashSet::default();
        for term in terms {
            for token in term.all_tokens() {
                for (pattern, words) in beginnings(token) {
                    let known = patterns.entry(pattern).or_default();
                    known.weight = known.weight.max(term.idf);
                    known.words = known.words.max(words);
                }
                tokens.insert(token.to_owned());
            }
        }
        if patterns.is_empty() {
            return None;
        }
        let finder = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            // Useful for few patterns only.
            .prefilter(false)
            .build(patterns.keys())
            .ok()?;
        Some(Self {
            finder,
            beginnings: patterns.into_values().collect(),
            tokens,
            analyzer: Analyzer::default(),
            places: Vec::new(),
        })
    }

    pub(super) fn is_chinese_asked(&self) -> bool {
        self.tokens.iter().any(|token| !token.is_ascii())
    }

    /// The part of these texts that says most of the query, with its marks.
    pub(super) fn best<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Option<Excerpted<'t>> {
        let windows = texts.filter_map(|text| Some((text, self.window(text)?)));
        let mut windows: Vec<(&str, Window)> = windows.collect();
        windows.sort_by(|(_, one), (_, other)| other.weight.total_cmp(&one.weight));
        windows.into_iter().find_map(|(text, Window { range, .. })| {
            let marks = self.marks(text, &range);
            (!marks.is_empty()).then_some((text, range, marks))
        })
    }

    /// The part of a text in which most may stand; the whole of a short one.
    fn window(&mut self, text: &str) -> Option<Window> {
        self.places.clear();
        for place in self.finder.find_iter(text) {
            if may_begin_token(text, place.start()) {
                let beginning = self.beginnings.get(place.pattern().as_usize());
                let weight = beginning.map_or(0.0, |beginning| beginning.weight);
                self.places.push((place.range(), weight));
            }
        }
        let mut best: Option<(f32, Range<usize>)> = None;
        let mut first = 0;
        let mut weight = 0.0;
        for (place, its_weight) in &self.places {
            weight += its_weight;
            while let Some((dropped, its_weight)) = self.places.get(first)
                && place.end - dropped.start > MAX_BYTES
                && dropped.start < place.start
            {
                weight -= its_weight;
                first += 1;
            }
            let start = self
                .places
                .get(first)
                .map_or(place.start, |(place, _)| place.start);
            if best.as_ref().is_none_or(|(most, _)| weight > *most) {
                best = Some((weight, start..place.end));
            }
        }
        let (weight, said) = best?;
        Some(Window {
            range: widened(text, &said),
            weight,
        })
    }

    fn marks(&mut self, text: &str, window: &Range<usize>) -> Vec<Range<usize>> {
        let part = text.get(window.clone()).unwrap_or_default();
        let mut marks = Vec::new();
        for span in self.spans(part) {
            let start = window.start + span.start;
            let mut stream = self.analyzer.token_stream(part.get(span).unwrap_or_default());
            while stream.advance() {
                let token = stream.token();
                if self.tokens.contains(&token.text) {
                    marks.push(start + token.offset_from..start + token.offset_to);
                }
            }
        }
        marks.sort_by_key(|mark| (mark.start, mark.end));
        collapse_overlapped_ranges(&marks)
    }

    /// Words in which a token may begin, each with the words behind it that the token may have.
    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let mut places = self.finder.find_overlapping_iter(text).peekable();
        let mut spans: Vec<Range<usize>> = Vec::new();
        // Words that still belong to the last span.
        let mut behind: usize = 0;
        each_run(text, |_, start, run| {
            let end = start + run.len();
            let mut longest = 0;
            while let Some(place) = places.next_if(|place| place.end() <= end) {
                let beginning = self.beginnings.get(place.pattern().as_usize());
                longest = longest.max(beginning.map_or(0, |beginning| beginning.words));
            }
            match spans.last_mut().filter(|_| behind > 0) {
                Some(span) => span.end = end,
                None if longest > 0 => spans.push(start..end),
                None => {}
            }
            behind = behind.max(longest).saturating_sub(1);
        });
        spans
    }
}

/// What a text begins with at this token, and its number of words: the token itself, or a name that it stands for.
fn beginnings(token: &str) -> Vec<(String, usize)> {
    let names = names_of(token);
    if names.is_empty() {
        return vec![(token.to_owned(), 1)];
    }
    let by_first_word = names.iter().filter_map(|name| {
        let words = words(name);
        let count = words.len();
        Some((words.into_iter().next()?.text, count))
    });
    by_first_word.collect()
}

/// False within a word: `sm` of `mismatch`. Parts of compound words begin tokens, too: `Error` of `NCCLError`.
fn may_begin_token(text: &str, at: usize) -> bool {
    let (before, from) = text.as_bytes().split_at_checked(at).unwrap_or_default();
    let (Some(before), Some(first)) = (before.last(), from.first()) else {
        return true;
    };
    let is_in_lower = before.is_ascii_lowercase() && first.is_ascii_lowercase();
    let is_in_upper = before.is_ascii_uppercase()
        && first.is_ascii_uppercase()
        && !from.get(1).is_some_and(u8::is_ascii_lowercase);
    !is_in_lower && !is_in_upper
}

/// As much of the text around `said` as an excerpt shows, cut between words.
fn widened(text: &str, said: &Range<usize>) -> Range<usize> {
    if text.len() <= MAX_BYTES {
        return 0..text.len();
    }
    let room = MAX_BYTES.saturating_sub(said.len());
    let end_at_most = (said.end + room - (room / 2).min(MAX_BEFORE).min(said.start)).min(text.len());
    // What the end of the text leaves free is shown before.
    let start_at_least = end_at_most.saturating_sub(MAX_BYTES);
    let start = (start_at_least..said.start).find(|at| is_between_words(text, *at));
    let mut ends = (said.end..=end_at_most).rev();
    let end = ends.find(|at| is_between_words(text, *at));
    let in_word = || (said.end..text.len()).find(|at| text.is_char_boundary(*at));
    start.unwrap_or(said.start)..end.or_else(in_word).unwrap_or(text.len())
}

/// True at both ends of the text, beside blanks, and between characters that are written without blanks.
fn is_between_words(text: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (text.get(..at), text.get(at..)) else {
        return false;
    };
    let is_open = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || is_cjk(c));
    is_open(before.chars().next_back()) || is_open(after.chars().next())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query::QueryToken;

    fn marker(tokens: &[&str]) -> Marker {
        let token = |text: &&str| QueryToken {
            text: (*text).to_owned(),
            weight: 1.0,
            documents: 1,
        };
        let term = QueryTerm {
            tokens: tokens.iter().map(token).collect(),
            completions: Vec::new(),
            idf: 1.0,
        };
        Marker::new(&[term]).unwrap()
    }

    #[test]
    fn a_long_text_is_cut_around_what_says_most_of_the_query() {
        let filler = "nothing to see here, ".repeat(30);
        let text = format!("a peer. {filler}The peer refuses access to its memory. {filler}");
        let (_, window, marks) = marker(&["peer", "access"])
            .best([text.as_str()].into_iter())
            .unwrap();
        let shown = &text[window.clone()];
        assert!(
            shown.contains("here, The peer refuses access to its memory. nothing"),
            "{shown}"
        );
        assert!((200..=MAX_BYTES).contains(&shown.len()), "{shown}");
        assert_eq!(
            marks.into_iter().map(|mark| &text[mark]).collect::<Vec<_>>(),
            ["peer", "access"]
        );
    }

    #[test]
    fn the_text_that_says_most_is_shown_and_parts_of_words_are_not_marked() {
        let texts = ["a mismatch, an ABORT", "see sm_90 or NCCLError", "sm"];
        let (text, _, marks) = marker(&["sm", "or", "error"]).best(texts.into_iter()).unwrap();
        assert_eq!(
            marks.into_iter().map(|mark| &text[mark]).collect::<Vec<_>>(),
            ["sm", "or", "Error"]
        );
        assert!(
            marker(&["sm", "or"])
                .best(["a mismatch, an ABORT"].into_iter())
                .is_none()
        );
    }

    proptest! {
        #[test]
        fn a_window_has_the_marks_of_the_whole_text(words in prop::collection::vec(
            prop::sample::select(vec!["peer", "peerAccess ", " P2P", "of memory", "显存不足", "x ", ". ", "out ", "Éa", "\n"]), 0..160,
        )) {
            let text = words.join(" ");
            let tokens = ["peer", "=p2p", "memory", "显存", "=out of memory"];
            let mut analyzer = Analyzer::default();
            let mut stream = analyzer.token_stream(&text);
            let mut all = Vec::new();
            while stream.advance() {
                let token = stream.token();
                if tokens.contains(&token.text.as_str()) {
                    all.push(token.offset_from..token.offset_to);
                }
            }
            let found = marker(&tokens).best([text.as_str()].into_iter());
            prop_assert_eq!(found.is_some(), !all.is_empty());
            if let Some((_, window, marks)) = found {
                prop_assert!(text.get(window.clone()).is_some() && window.len() <= MAX_BYTES);
                for known in all.iter().filter(|known| window.start <= known.start && known.end <= window.end) {
                    let is_marked = marks.iter().any(|mark| mark.start <= known.start && known.end <= mark.end);
                    prop_assert!(is_marked, "{}", &text[known.clone()]);
                }
                for mark in marks {
                    prop_assert!(window.start <= mark.start && mark.end <= window.end);
                    let is_covered = |at: usize| all.iter().any(|known| known.contains(&at));
                    prop_assert!(mark.clone().all(is_covered), "{}", &text[mark]);
                }
            }
        }
    }
}
