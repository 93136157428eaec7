//! An answer that its reader shares: what was found and the marked lines, redacted, kept for a while behind an address that
//! nobody guesses.
//!
//! ```text
//! make      an answer and its text -> what may be shared, redacted      redacted   redaction until it changes nothing more
//! answer    what was kept -> an answer, by the records of today         keep       into the room of anonymous writing and out of it
//! held      what is named, held against what this server finds on the lines
//! ```
//!
//! The text itself is not kept, nor what a pattern captured beside the shown lines.

mod answer;
mod held;
mod keep;
mod make;
mod redacted;

use std::collections::BTreeMap;

use kb_core::ids::RecordId;
use kb_core::scanner::{Applies, KnownComponent, Order, UnknownCause};
use serde::{Deserialize, Serialize};

pub use held::Held;
pub use keep::{DAYS, Kept, ShareError, find, keep};
pub use make::Unknown;

/// The form of what is kept.
const VERSION: u32 = 1;
const MOST_LINES: usize = 60;
/// Most of one line, in characters.
const MOST_CHARS: usize = 400;
/// All lines together, in bytes. The first line of each fault is shared in any case.
const MOST_BYTES: usize = 10 * 1024;
const MOST_FAULTS: usize = 60;
/// Lines and bytes of a log are counted up to here, so that sums of them stay numbers.
const MOST_COUNTED: u64 = 1 << 50;

/// What is kept, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    version: u32,
    /// Which state of the knowledge answered.
    pub seq: i64,
    /// Read of the text.
    lines: u64,
    bytes: u64,
    order: Order,
    /// In the order of the page.
    faults: Vec<Fault>,
    causes: Vec<Cause>,
    /// Without its message, and without the host and process that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unknown_cause: Option<UnknownCause>,
    notes: Vec<String>,
    environment: Vec<KnownComponent>,
    /// In the order of the text.
    pub marked: Vec<Line>,
    pub looked: bool,
    /// There are more of them than are shown.
    pub are_more_unknown: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    id: RecordId,
    /// On how many lines it stands.
    count: u64,
    applies: Applies,
    harmless: bool,
    /// Those of them that are shared, and the first in any case.
    lines: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    id: RecordId,
    line: u64,
    /// The cause, and what it led to.
    chain: Vec<RecordId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// From 1.
    pub number: u64,
    /// Redacted.
    pub text: String,
    /// What matched, in bytes of the text.
    start: u32,
    end: u32,
    pub is_unknown: bool,
    /// Who wrote it, as far as the text says so.
    captures: BTreeMap<String, String>,
}

impl Shared {
    pub fn is_something(&self) -> bool {
        !self.marked.is_empty()
    }

    /// What came with a form, or from the database. `None` where it is none that this program makes.
    pub fn read(text: &str) -> Option<Self> {
        let shared: Self = serde_json::from_str(text).ok()?;
        shared.is_sound().then_some(shared)
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn is_sound(&self) -> bool {
        let is_in_text = |line: &u64| (1..=self.lines).contains(line);
        let of_faults = self.faults.iter().flat_map(|fault| &fault.lines);
        let of_causes = self.causes.iter().map(|cause| &cause.line);
        let of_lines = self.marked.iter().map(|line| &line.number);
        self.version == VERSION
            && self.lines <= MOST_COUNTED
            && self.bytes <= MOST_COUNTED
            && self.faults.len() <= MOST_FAULTS
            && self.causes.len() <= MOST_FAULTS
            && self.marked.len() <= MOST_LINES + MOST_FAULTS
            && self.marked.is_sorted_by(|one, next| one.number < next.number)
            && of_faults.chain(of_causes).chain(of_lines).all(is_in_text)
    }
}
