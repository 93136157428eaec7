//! The lines of a text that look like errors and that no record knows, redacted.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kb_core::matcher::Matcher;
use kb_core::redact;
use kb_core::scanner::{Event, ScanOptions, message_start, without_colours};
use kb_core::templates::{looks_like_error, tokens};

/// A text is read in pieces of this size, in bytes: an event for each hit lives no longer than its piece.
const PIECE_BYTES: usize = 64 * 1024;
/// A line is read up to here, in bytes.
const LINE_BYTES: usize = 4 * 1024;
/// Longest example, in bytes.
const EXAMPLE_BYTES: usize = 600;
/// Different messages of one text; one that fails in more ways is broken as a whole.
const MOST_MESSAGES: usize = 200;

/// Error-like lines of one text that are redacted, in bytes: that costs far more than matching does.
const MOST_LOOKED_BYTES: usize = 2 << 20;

/// Lines of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLine {
    /// The first of them, redacted, without what logging puts before the message.
    pub example: String,
    pub tokens: Vec<String>,
    pub count: u32,
}

/// The unknown lines of a text.
#[derive(Debug, Default)]
pub struct UnknownLines {
    /// Each message once, in the order of the text.
    pub lines: Vec<UnknownLine>,
    /// The text has more of them than are looked at or kept.
    pub are_more: bool,
}

/// Finds them. `host`: the machine that wrote the text, where it is known.
///
/// This computes; call it off the async threads.
pub fn unknown_lines(matcher: &Arc<Matcher>, text: &str, host: Option<&str>) -> UnknownLines {
    let known = known_lines(matcher, text);
    let mut redactor = redact::Lines::of(host);
    let mut unknown = UnknownLines::default();
    let found = &mut unknown.lines;
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    let mut looked = 0;
    for (number, line) in (1_u64..).zip(text.lines()) {
        // A key may begin and end on lines that are left out.
        if redactor.is_within_key() || known.contains(&number) {
            redactor.pass(line);
            continue;
        }
        let whole = line;
        let line = without_colours(cut(line));
        let message = line.get(message_start(&line)..).unwrap_or(&line).trim();
        if !looks_like_error(message) {
            redactor.pass(whole);
            continue;
        }
        looked += message.len();
        if looked > MOST_LOOKED_BYTES {
            unknown.are_more = true;
            break;
        }
        let example = redactor.next(&message.replace('\0', " "));
        let tokens = tokens(&example);
        if tokens.is_empty() {
            continue;
        }
        if let Some(line) = places.get(&tokens).and_then(|place| found.get_mut(*place)) {
            line.count = line.count.saturating_add(1);
        } else if found.len() < MOST_MESSAGES {
            places.insert(tokens.clone(), found.len());
            let end = example.floor_char_boundary(EXAMPLE_BYTES);
            found.push(UnknownLine {
                example: example.get(..end).unwrap_or_default().to_owned(),
                tokens,
                count: 1,
            });
        } else {
            unknown.are_more = true;
        }
    }
    unknown
}

/// Numbers of the lines on which a record stands.
fn known_lines(matcher: &Arc<Matcher>, text: &str) -> BTreeSet<u64> {
    let options = ScanOptions {
        keep_text: false,
        ..ScanOptions::default()
    };
    let mut known = BTreeSet::new();
    let mut note = |events: Vec<Event>| {
        for event in events {
            if let Event::Hit(hit) = event {
                known.insert(hit.line);
                known.extend(hit.parts.iter().map(|part| part.line));
            }
        }
    };
    let mut scanner = matcher.scanner(options);
    for piece in text.as_bytes().chunks(PIECE_BYTES) {
        note(scanner.push(piece));
    }
    note(scanner.finish_with_events().0);
    known
}

/// A long line up to a blank: half a secret is not recognised as one.
fn cut(line: &str) -> &str {
    if line.len() <= LINE_BYTES {
        return line;
    }
    let head = line
        .get(..line.floor_char_boundary(LINE_BYTES))
        .unwrap_or_default();
    let end = head.rfind(char::is_whitespace).unwrap_or(0);
    head.get(..end).unwrap_or_default()
}
