//! Where the words sought stand in a record, as pieces of text. Escaping and marking up is the reader's business.

use std::ops::Range;

use serde::Serialize;
use utoipa::ToSchema;

use super::document::SearchDoc;
use super::marks::Marker;
use super::schema::Text;

/// Texts shown of one hit.
const MAX_HIGHLIGHTS: usize = 3;
/// Longest excerpt, in bytes.
const MAX_EXCERPT_BYTES: usize = 240;
/// Context kept before the first word of an excerpt that does not start at the beginning.
const LEAD_BYTES: usize = 40;

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

/// Where to look, most telling first.
const ORDER: [Text; 8] = [
    Text::Signature,
    Text::SignatureZh,
    Text::Codes,
    Text::RootCause,
    Text::RootCauseZh,
    Text::Workarounds,
    Text::DeadEnds,
    Text::Tags,
];

/// The most telling excerpts of a record.
pub(super) fn highlights(document: &SearchDoc, marker: &Marker<'_>) -> Vec<Highlight> {
    let mut found = Vec::new();
    for field in ORDER {
        let mut best: Option<(usize, &str, Vec<Range<usize>>)> = None;
        for text in field.of(document) {
            let marks = marker.marks(text);
            if marks.len() > best.as_ref().map_or(0, |(count, ..)| *count) {
                best = Some((marks.len(), text, marks));
            }
        }
        if let Some((_, text, marks)) = best {
            found.push(Highlight {
                field: field.name(),
                segments: excerpt(text, &marks),
            });
        }
        if found.len() == MAX_HIGHLIGHTS {
            break;
        }
    }
    found
}

fn excerpt(text: &str, marks: &[Range<usize>]) -> Vec<Segment> {
    let window = window(text, marks);
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
        if mark.start < window.start || mark.end > window.end {
            continue;
        }
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

/// The stretch with most marks, on character boundaries.
fn window(text: &str, marks: &[Range<usize>]) -> Range<usize> {
    if text.len() <= MAX_EXCERPT_BYTES {
        return 0..text.len();
    }
    let reach = MAX_EXCERPT_BYTES - LEAD_BYTES;
    let marks_from = |first: usize| {
        marks
            .iter()
            .filter(|mark| mark.start >= first && mark.end <= first + reach)
            .count()
    };
    let mut first = 0;
    let mut most = 0;
    for mark in marks {
        let count = marks_from(mark.start);
        if count > most {
            (first, most) = (mark.start, count);
        }
    }
    let start = text.floor_char_boundary(first.saturating_sub(LEAD_BYTES));
    let end = text.floor_char_boundary(start + MAX_EXCERPT_BYTES);
    start..end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(text: &str, sought: &[&str]) -> String {
        let segments = excerpt(text, &Marker::new(sought.iter().copied()).marks(text));
        let mark = |segment: &Segment| {
            let (open, close) = if segment.hit { ("[", "]") } else { ("", "") };
            format!("{open}{}{close}", segment.text)
        };
        segments.iter().map(mark).collect()
    }

    #[test]
    fn words_parts_and_chinese_are_marked() {
        assert_eq!(
            marked("No Peer access", &["peer", "access"]),
            "No [Peer] [access]"
        );
        assert_eq!(
            marked("(cudaErrorPeerAccess)", &["peer"]),
            "(cudaError[Peer]Access)"
        );
        assert_eq!(marked("不支持对等访问", &["支持", "持对"]), "不[支持对]等访问");
    }

    #[test]
    fn a_long_text_is_cut_to_where_the_words_are() {
        let text = format!(
            "peer {} peer access denied {}",
            "x ".repeat(200),
            "y ".repeat(200)
        );
        let shown = marked(&text, &["peer", "access"]);
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(shown.contains("[peer] [access] denied"), "{shown}");
        assert!(shown.len() < MAX_EXCERPT_BYTES + 20);
    }

    proptest! {
        #[test]
        fn pieces_are_the_text_and_marks_are_the_words(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["\u{212a}elvin", "kelvin", "İd", "ⱥb", "ȺB", "peer", "支持", "ß", " ", "_", "🚀"]),
                0..16,
            ),
        ) {
            let sought = ["kelvin", "i\u{307}d", "ⱥb", "peer"];
            let text: String = pieces.iter().flat_map(|piece| [*piece, " "]).collect();
            let segments = excerpt(&text, &Marker::new(sought).marks(&text));
            let shown: String = segments.iter().map(|segment| segment.text.as_str()).collect();
            prop_assert_eq!(&shown, &text);
            let marked: Vec<String> = segments
                .iter()
                .filter(|segment| segment.hit)
                .map(|segment| segment.text.chars().flat_map(char::to_lowercase).collect())
                .collect();
            let wanted: Vec<String> = pieces
                .iter()
                .map(|piece| piece.chars().flat_map(char::to_lowercase).collect())
                .filter(|piece: &String| sought.contains(&piece.as_str()))
                .collect();
            prop_assert_eq!(marked, wanted);
        }

        #[test]
        fn an_excerpt_is_a_piece_of_the_text(text in "[aé不支 b]{0,300}") {
            let marker = Marker::new(["a", "不支", "b"]);
            let shown: String = excerpt(&text, &marker.marks(&text)).into_iter().map(|segment| segment.text).collect();
            prop_assert!(text.contains(shown.trim_matches('…')));
        }
    }
}
