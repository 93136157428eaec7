//! Excerpts of a record that show where the words of the query stand, as plain text. Escaping is the reader's business.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use serde::Serialize;
use tantivy::snippet::{SnippetGenerator, collapse_overlapped_ranges};
use utoipa::ToSchema;

use crate::search::analysis::{names_of, words};
use crate::search::error::SearchError;
use crate::search::index::{SearchDoc, Snapshot};
use crate::search::query::ParsedQuery;

const MAX_HIGHLIGHTS: usize = 3;
/// Longest excerpt, in bytes.
const MAX_EXCERPT_BYTES: usize = 240;

/// An excerpt of one text of the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Highlight {
    /// Which text: `signature`, `root_cause`, `workarounds`, …
    pub field: &'static str,
    /// The excerpt, cut where marking begins and ends.
    pub segments: Vec<Segment>,
}

/// A piece of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Segment {
    /// The text as the record has it (not escaped); `…` where something was left out.
    pub text: String,
    /// True for what was sought.
    pub hit: bool,
}

pub(super) struct Highlighter {
    /// `None` where nothing is asked.
    marking: Option<Marking>,
}

struct Marking {
    /// Finds what every text with a mark contains. Most texts of a record have none and need not be analyzed.
    needed: AhoCorasick,
    snippets: SnippetGenerator,
    with_chinese: bool,
}

impl Highlighter {
    pub(super) fn new(snapshot: &Snapshot, query: &ParsedQuery) -> Result<Self, SearchError> {
        let mut tokens: BTreeMap<String, f32> = BTreeMap::new();
        for term in &query.terms {
            for token in term.all_tokens() {
                tokens.insert(token.to_owned(), term.idf);
            }
        }
        if tokens.is_empty() {
            return Ok(Self { marking: None });
        }
        let field = snapshot.fields.every;
        let analyzer = snapshot.searcher.index().tokenizer_for_field(field)?;
        let needed = tokens.keys().flat_map(|token| needed_for(token));
        let Ok(needed) = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            // A DFA takes longer to build than the texts of one page take to search.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(needed)
        else {
            return Ok(Self { marking: None });
        };
        let with_chinese = tokens.keys().any(|token| !token.is_ascii());
        let snippets = SnippetGenerator::new(tokens, analyzer, field, MAX_EXCERPT_BYTES);
        Ok(Self {
            marking: Some(Marking {
                needed,
                snippets,
                with_chinese,
            }),
        })
    }

    /// The most telling excerpts of a record: of each of its texts the one with most marks.
    pub(super) fn highlights(&self, document: &SearchDoc) -> Vec<Highlight> {
        let Some(marking) = &self.marking else {
            return Vec::new();
        };
        let fields = texts(document).into_iter();
        let fields = fields.filter(|(field, _)| marking.with_chinese || !field.ends_with("_zh"));
        let found = fields.filter_map(|(field, texts)| {
            let excerpts = texts.filter_map(|text| marking.excerpt(text));
            let (_, segments) = excerpts.max_by_key(|(marks, _)| *marks)?;
            Some(Highlight { field, segments })
        });
        found.take(MAX_HIGHLIGHTS).collect()
    }
}

/// What a text with this token contains: the token itself, or a first word of a name that it stands for.
fn needed_for(token: &str) -> Vec<String> {
    let names = names_of(token);
    if names.is_empty() {
        return vec![token.to_owned()];
    }
    let first_words = names.iter().filter_map(|name| words(name).into_iter().next());
    first_words.map(|word| word.text).collect()
}

impl Marking {
    /// The excerpt of a text, with the number of its marks; `None` where nothing is marked.
    fn excerpt(&self, text: &str) -> Option<(usize, Vec<Segment>)> {
        if !self.needed.is_match(text) {
            return None;
        }
        let snippet = self.snippets.snippet(text);
        let window = snippet.fragment_range();
        let marks = collapse_overlapped_ranges(snippet.highlighted());
        let marks: Vec<Range<usize>> = marks
            .into_iter()
            .map(|mark| window.start + mark.start..window.start + mark.end)
            .collect();
        let window = with_punctuation(text, &window);
        (!marks.is_empty()).then(|| (marks.len(), segments(text, &window, &marks)))
    }
}

/// tantivy cuts a fragment at its first and last token. What stands outside and holds no word belongs to it: a bracket at the
/// end of the text is nothing that was left out.
fn with_punctuation(text: &str, window: &Range<usize>) -> Range<usize> {
    let holds_word = |part: Option<&str>| part.is_some_and(|part| part.contains(char::is_alphanumeric));
    let start = if holds_word(text.get(..window.start)) {
        window.start
    } else {
        0
    };
    let end = if holds_word(text.get(window.end..)) {
        window.end
    } else {
        text.len()
    };
    start..end
}

type Texts<'a> = (&'static str, Box<dyn Iterator<Item = &'a str> + 'a>);

fn texts(document: &SearchDoc) -> [Texts<'_>; 11] {
    fn one(text: Option<&str>) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(text.into_iter())
    }
    fn many(texts: &[String]) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(texts.iter().map(String::as_str))
    }
    let codes = document.codes.iter().map(String::as_str);
    [
        ("title", one(document.title.as_deref())),
        ("title_zh", one(document.title_zh.as_deref())),
        ("signature", one(Some(&document.signature))),
        ("signature_zh", one(document.signature_zh.as_deref())),
        // Every hit shows the id itself.
        (
            "codes",
            Box::new(codes.filter(|code| *code != document.id.as_str())),
        ),
        ("root_cause", one(Some(&document.root_cause))),
        ("root_cause_zh", one(document.root_cause_zh.as_deref())),
        ("workarounds", many(&document.workarounds)),
        ("dead_ends", many(&document.dead_ends)),
        ("tags", many(&document.tags)),
        ("examples", many(&document.examples)),
    ]
}

/// The text within `window`, cut at its marks.
fn segments(text: &str, window: &Range<usize>, marks: &[Range<usize>]) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut push = |piece: Option<&str>, hit: bool| {
        if let Some(piece) = piece.filter(|piece| !piece.is_empty()) {
            segments.push(Segment {
                text: piece.to_owned(),
                hit,
            });
        }
    };
    if window.start > 0 {
        push(Some("…"), false);
    }
    let mut at = window.start;
    for mark in marks {
        push(text.get(at..mark.start), false);
        push(text.get(mark.clone()), true);
        at = mark.end;
    }
    push(text.get(at..window.end), false);
    if window.end < text.len() {
        push(Some("…"), false);
    }
    segments
}
