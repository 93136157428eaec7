//! The lines of a text that look like errors and that no record knows, redacted.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use kb_core::matcher::Matcher;
use kb_core::redact;
use kb_core::scanner::looks_like_error;
use kb_core::scanner::{Event, ScanOptions, Scanner, message_start, without_colours};
use kb_core::templates::tokens;

use crate::domain::work_time::Meter;

/// A text is scanned in pieces of this size, in bytes: an event for each hit lives no longer than its piece.
const SCAN_BYTES: usize = 16 * 1024;
/// Lines that are looked at in one step, in bytes: a line that is redacted takes some ten microseconds.
const LOOK_BYTES: usize = 16 * 1024;
/// A line is read up to here, in bytes.
const LINE_BYTES: usize = 4 * 1024;
const EXAMPLE_BYTES: usize = 600;
/// Different messages of one text; one that fails in more ways is broken as a whole.
const MOST_MESSAGES: usize = 200;

/// What the number of a known line takes, in bytes.
const KNOWN_LINE_BYTES: usize = 16;
/// Error-like lines of one text that are redacted, in bytes: that costs far more than matching does.
const MOST_LOOKED_BYTES: usize = 2 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLine {
    /// The first of them, redacted, without what logging puts before the message.
    pub example: String,
    pub tokens: Vec<String>,
    pub count: u32,
}

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
    let mut search = UnknownSearch::of(matcher, text, host, Duration::MAX);
    loop {
        if let Some(found) = search.step() {
            return found;
        }
    }
}

/// The search for them in steps, so that others have their turn in between.
pub struct UnknownSearch<T> {
    text: T,
    /// Where the next step begins in the text, in bytes.
    at: usize,
    /// Reads the text for lines that are known; nothing when it has read all of it.
    scanner: Option<Scanner>,
    finder: Finder,
    meter: Meter,
    limit: Duration,
}

impl<T: AsRef<str>> UnknownSearch<T> {
    /// What takes longer than `limit` of the processor ends with what was found until then.
    pub fn of(matcher: &Arc<Matcher>, text: T, host: Option<&str>, limit: Duration) -> Self {
        let options = ScanOptions {
            keep_text: false,
            ..ScanOptions::default()
        };
        Self {
            text,
            at: 0,
            scanner: Some(matcher.scanner(options)),
            finder: Finder {
                known: BTreeSet::new(),
                number: 0,
                redactor: redact::Lines::of(host),
                places: HashMap::new(),
                looked: 0,
                found: UnknownLines::default(),
            },
            meter: Meter::default(),
            limit,
        }
    }

    pub fn step(&mut self) -> Option<UnknownLines> {
        let mut meter = self.meter;
        let is_done = meter.time(|| {
            if self.scanner.is_some() {
                self.scan_on();
                false
            } else {
                self.look_on()
            }
        });
        self.meter = meter;
        let is_late = !is_done && meter.spent() > self.limit;
        self.finder.found.are_more |= is_late;
        (is_done || is_late).then(|| std::mem::take(&mut self.finder.found))
    }

    /// Estimated memory of what was found so far, in bytes.
    pub fn memory_usage(&self) -> usize {
        let scanner = self.scanner.as_ref().map_or(0, Scanner::memory_usage);
        scanner + self.finder.known.len() * KNOWN_LINE_BYTES
    }

    fn scan_on(&mut self) {
        let rest = self.text.as_ref().as_bytes().get(self.at..).unwrap_or_default();
        let piece = rest.get(..SCAN_BYTES).unwrap_or(rest);
        let events = if piece.is_empty() {
            self.at = 0;
            let ended = self.scanner.take().map(Scanner::finish_with_events);
            ended.map(|(events, _)| events)
        } else {
            self.at += piece.len();
            self.scanner.as_mut().map(|scanner| scanner.push(piece))
        };
        for event in events.into_iter().flatten() {
            if let Event::Hit(hit) = event {
                let further = hit.parts.iter().map(|part| part.line);
                self.finder.known.extend(further.chain([hit.line]));
            }
        }
    }

    /// Looks at the next lines. True behind the last of them.
    fn look_on(&mut self) -> bool {
        let rest = self.text.as_ref().get(self.at..).unwrap_or_default();
        let mut left = LOOK_BYTES;
        for line in rest.split_inclusive('\n') {
            if left == 0 {
                return false;
            }
            left = left.saturating_sub(line.len());
            self.at += line.len();
            let line = line.strip_suffix('\n').unwrap_or(line);
            let is_enough = !self.finder.take(line.strip_suffix('\r').unwrap_or(line));
            if is_enough {
                return true;
            }
        }
        true
    }
}

/// What is known of the text until the line that is read.
struct Finder {
    known: BTreeSet<u64>,
    number: u64,
    redactor: redact::Lines,
    places: HashMap<Vec<String>, usize>,
    looked: usize,
    found: UnknownLines,
}

impl Finder {
    /// Takes the next line; false where no more are looked at.
    fn take(&mut self, whole: &str) -> bool {
        self.number += 1;
        // A key may begin and end on lines that are left out.
        if self.redactor.is_within_key() || self.known.contains(&self.number) {
            self.redactor.pass(whole);
            return true;
        }
        let line = without_colours(cut(whole));
        let message = line.get(message_start(&line)..).unwrap_or(&line).trim();
        // The level of the line may stand before its message, and what stands there is no error by itself.
        if !looks_like_error(message) || !looks_like_error(&line) {
            self.redactor.pass(whole);
            return true;
        }
        self.looked += message.len();
        if self.looked > MOST_LOOKED_BYTES {
            self.found.are_more = true;
            return false;
        }
        let example = self.redactor.next(&message.replace('\0', " "));
        self.note(&example);
        true
    }

    fn note(&mut self, example: &str) {
        let tokens = tokens(example);
        if tokens.is_empty() {
            return;
        }
        let lines = &mut self.found.lines;
        if let Some(line) = self.places.get(&tokens).and_then(|place| lines.get_mut(*place)) {
            line.count = line.count.saturating_add(1);
        } else if lines.len() < MOST_MESSAGES {
            self.places.insert(tokens.clone(), lines.len());
            let end = example.floor_char_boundary(EXAMPLE_BYTES);
            lines.push(UnknownLine {
                example: example.get(..end).unwrap_or_default().to_owned(),
                tokens,
                count: 1,
            });
        } else {
            self.found.are_more = true;
        }
    }
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
