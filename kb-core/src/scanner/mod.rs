//! Bytes in, events and a summary out: one engine for server, agent and command line.
//!
//! ```text
//! lines    bytes -> runs of whole lines and pieces of very long ones; nothing depends on how the bytes arrive
//! clean    takes off terminal colours, keeps the way back to the bytes as sent; restore: puts back what was escaped
//! engine   run or piece -> lines worth a look -> matcher; hits: one for each line and record
//! prefix   what logging put before the message; messages: what quotes and cells hold; clock: when the line was written
//! sequence signatures of several lines, put together for each writer; wrap: lines that a terminal has cut
//! partial  lines that a container runtime has cut; bytes: messages that the journal writes as arrays of bytes;
//!          lines_within: texts of several lines in one string
//! fold     hits of a record and captured values, counted; score: how much of the line a hit explains
//! devices  which device a line is about, where a pattern counts for GPUs only; address: places on the bus
//! summary  the answer; environment: does the record apply, stated: what the text says of its machine; wrapper: which
//!          match only wraps another; cause: what came first and led to the rest
//! raised   errors that a program reports by the form of its language; unknown: such an error that no record knows
//! caught   errors that a program reports as warnings, for it goes on
//! fatal    lines that are not harmless, whatever their record says; unexplained: Xids that no record explains; error_lines: lines
//!          that look like errors and that no record explains; resources: GPUs that Kubernetes cannot give to pods
//! source_code  hits in a program's source, which nobody printed
//! sieve    whether a scan of a short text can find anything
//! ```
//!
//! Lines are 1-based and end at `\n` (a `\r` before it belongs to the end). Offsets count bytes of the body as given
//! to [`Scanner::push`], from 0. Memory is bounded whatever the body: see the constants in `lines` and `fold`.

mod address;
mod assemble;
mod between;
mod bytes;
mod caught;
mod cause;
mod clean;
mod clock;
mod crowd;
mod cut_lines;
mod devices;
mod dmon;
mod dmon_fields;
mod dmon_lines;
mod encoded;
mod engine;
mod entry;
mod environment;
mod error_lines;
mod event;
mod fatal;
mod fold;
mod given;
mod hits;
mod labels;
mod lines;
mod lines_within;
mod marks;
mod messages;
mod order;
mod origin;
mod partial;
mod pasted;
mod prefix;
mod raised;
mod relations;
mod resources;
mod restore;
mod rows;
mod score;
mod sequence;
mod sieve;
mod soft_breaks;
mod source_code;
mod stated;
mod summary;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod text;
mod unexplained;
mod unknown;
mod wrapper;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

pub use cut_lines::HEAD_BYTES;
pub use error_lines::{Unexplained, UnexplainedLine, looks_like_error};
pub use event::{Event, Hit};
pub use fold::{MAX_FOLDS, MAX_FOLDS_OF_RECORD};
pub use given::{EnvironmentError, check_environment};
pub use lines::{LONG_LINE_BYTES, OVERLAP_BYTES};
pub use sequence::MAX_LINES_APART;
pub use sieve::Sieve;
pub use summary::{
    Applies, Candidate, Fold, KnownComponent, LinePart, Match, MatchedLine, Order, RootCause, Summary,
    errors_and_harmless,
};
pub use text::{Marked, TEXT_LIMIT_BYTES};

pub use raised::{Language, Writer};
pub use unknown::{UnknownCause, UnknownPart};

use crate::matcher::Matcher;
use cut_lines::Head;
pub(crate) use dmon_lines::xid_columns;
use engine::Engine;
use lines::Lines;
pub(crate) use prefix::launcher_prefix;
pub use prefix::{WrittenBy, written_by};

/// What a scan should know beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanOptions {
    /// Versions and models where the text was written, by component: `driver` -> `550.54.14`, `gpu_model` -> `H200`.
    pub environment: BTreeMap<String, String>,
    /// Whether events and summary carry the text of lines, not only line numbers, offsets and captured values.
    pub keep_text: bool,
    /// Whether candidates are events too, line by line. The summary has them anyway.
    pub report_candidates: bool,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            environment: BTreeMap::new(),
            keep_text: true,
            report_candidates: false,
        }
    }
}

/// Reads one text from its first byte to its last.
#[derive(Debug)]
pub struct Scanner {
    lines: Lines,
    engine: Engine,
    head: Head,
    /// Events of the last push: the next has about as many.
    usual_events: usize,
}

/// Events that room is made for beforehand, at most.
const MAX_ROOM: usize = 1024;

impl Matcher {
    /// A scanner for one text.
    pub fn scanner(self: &Arc<Self>, options: ScanOptions) -> Scanner {
        Scanner::new(Arc::clone(self), options)
    }
}

impl Scanner {
    fn new(matcher: Arc<Matcher>, options: ScanOptions) -> Self {
        Self {
            lines: Lines::default(),
            engine: Engine::new(matcher, options),
            usual_events: 0,
            head: Head::default(),
        }
    }

    /// Takes the next bytes and returns the hits on the lines that they complete, in the order of the lines. The
    /// last line, if it lacks its end, waits for more bytes or for [`Scanner::finish`].
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::with_capacity(self.usual_events.min(MAX_ROOM));
        let engine = &mut self.engine;
        self.head.keep(bytes);
        self.lines
            .push(bytes, |part| engine.scan(&part, Some(&mut events)));
        self.usual_events = events.len();
        engine.give_back();
        events
    }

    /// Like [`Scanner::push`] without making events, for callers that want the summary only.
    pub fn feed(&mut self, bytes: &[u8]) {
        let engine = &mut self.engine;
        self.head.keep(bytes);
        self.lines.push(bytes, |part| engine.scan(&part, None));
        engine.give_back();
    }

    /// What was left out so far and which Xids no record explains, for a text without end. [`Summary::notes`] has more.
    pub fn notes(&self) -> Vec<String> {
        self.engine.notes(self.lines.long_lines())
    }

    /// Memory, about, that what was found so far takes until it is answered, in bytes: it grows with records and values, not the text.
    pub fn memory_usage(&self) -> usize {
        self.engine.memory_usage()
    }

    /// Ends the text and sums up.
    pub fn finish(self) -> Summary {
        self.finish_with_events().1
    }

    /// Ends the text; returns the hits on a last line without an end, and the summary.
    pub fn finish_with_events(mut self) -> (Vec<Event>, Summary) {
        let mut events = Vec::new();
        let engine = &mut self.engine;
        let end = self.lines.finish(|part| engine.scan(&part, Some(&mut events)));
        let of_mail = soft_breaks::joined(self.head.lines());
        for joined in self.head.joined().into_iter().chain(of_mail) {
            engine.scan_joined(&joined, &mut Some(&mut events));
        }
        for (line, offset, bytes) in self.head.lines() {
            engine.scan_pasted(bytes, line, offset, &mut Some(&mut events));
        }
        (events, self.engine.finish(&end))
    }
}

/// Scans a text that is all there.
pub fn scan(matcher: &Arc<Matcher>, text: &[u8], options: ScanOptions) -> Summary {
    let mut scanner = matcher.scanner(options);
    scanner.feed(text);
    scanner.finish()
}

/// A line as patterns see it: without terminal colours.
pub fn without_colours(line: &str) -> Cow<'_, str> {
    if !line.as_bytes().contains(&clean::ESC) {
        return Cow::Borrowed(line);
    }
    let mut clean = clean::Clean::default();
    clean.load(line.as_bytes());
    Cow::Owned(String::from_utf8_lossy(&clean.text).into_owned())
}

/// Where the message of a line begins, in bytes: behind the times, hosts, processes and ranks that logging puts before it.
pub fn message_start(line: &str) -> usize {
    let start = prefix::read(line.as_bytes()).len;
    // The forms are of ASCII: this holds, and is asked only so that nobody can cut a character in two.
    if line.is_char_boundary(start) { start } else { 0 }
}
