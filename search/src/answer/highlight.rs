//! Excerpts of a record that show where the words of the query stand, as plain text. Escaping is the reader's business.

use std::ops::Range;

use serde::Serialize;
use utoipa::ToSchema;

use super::excerpt::Marker;
use crate::index::SearchDoc;
use crate::query::ParsedQuery;

const MAX_HIGHLIGHTS: usize = 3;

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
    marker: Option<Marker>,
    with_chinese: bool,
}

impl Highlighter {
    pub(super) fn new(query: &ParsedQuery) -> Self {
        let marker = Marker::new(&query.terms);
        Self {
            with_chinese: marker.as_ref().is_some_and(Marker::is_chinese_asked),
            marker,
        }
    }

    /// The most telling excerpts of a record: of each of its texts the one that says most of the query.
    pub(super) fn highlights(&mut self, document: &SearchDoc) -> Vec<Highlight> {
        let Some(marker) = &mut self.marker else {
            return Vec::new();
        };
        let fields = texts(document).into_iter();
        let fields = fields.filter(|(field, _)| self.with_chinese || !field.ends_with("_zh"));
        let found = fields.filter_map(|(field, texts)| {
            let (text, window, marks) = marker.best(texts)?;
            let segments = segments(text, &window, &marks);
            Some(Highlight { field, segments })
        });
        found.take(MAX_HIGHLIGHTS).collect()
    }
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
