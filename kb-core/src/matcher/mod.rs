//! All published signatures, ready to be looked for: one automaton over rare literals names the lines worth a second
//! look, everything else of a pattern is tested there, its regex last.
//!
//! ```text
//! rarity   how much a word says             markers  which world a line speaks of (CUDA, NCCL, the kernel driver)
//! codes    a record's codes as tests        cache    compiled patterns, bounded, kept over rebuilds
//! build    records -> signals + automaton   verify   one line + its candidates -> hits
//! ```

mod automaton;
mod build;
mod cache;
mod codes;
mod markers;
pub(crate) mod rarity;
#[cfg(test)]
mod tests;
mod verify;

use std::collections::HashMap;
use std::sync::Arc;

use automaton::Automaton;
pub(crate) use automaton::Found;
pub use cache::CACHE_LIMIT_BYTES;
use cache::{PatternCache, Slot};
use markers::Markers;
pub(crate) use verify::{Line, RawHit, Work};

use crate::ids::{RecordId, Revision};
use crate::scanner::{ScanOptions, Scanner};
use crate::signature::{AppliesTo, Clause, RecordSignatures};

/// A pattern or code that the matcher left out, and why. Everything else of its record is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The record.
    pub id: RecordId,
    /// The pattern's id, or `code:` and the code, or `signature`.
    pub pattern: String,
    /// What is wrong and what to do about it.
    pub reason: String,
}

/// All signatures of one generation. Immutable; share it in an [`Arc`].
#[derive(Debug)]
pub struct Matcher {
    records: Vec<Record>,
    signals: Vec<Signal>,
    automaton: Automaton,
    numbers: HashMap<(u16, u64), Vec<u32>>,
    cache: Arc<PatternCache>,
}

/// What is kept of a record.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) id: RecordId,
    pub(crate) revision: Revision,
    /// The signature in ASCII lower case; empty when it cannot stand on one line.
    pub(crate) signature: Vec<u8>,
    pub(crate) applies_to: Vec<AppliesTo>,
    /// Places in the list of records.
    pub(crate) leads_to: Vec<u32>,
    pub(crate) cancels: Vec<u32>,
    /// What a line must speak of before a generic message or a number counts.
    domain: Markers,
    domain_word: String,
}

impl Record {
    /// The domain as the document states it, in lower case.
    pub(crate) fn domain_word(&self) -> &str {
        &self.domain_word
    }
}

/// One thing that gives a record away.
#[derive(Debug)]
pub(crate) struct Signal {
    pub(crate) record: u32,
    pub(crate) name: Box<str>,
    pub(crate) kind: Kind,
    /// How much its literals say; decides which of a record's signals speaks for it.
    pub(crate) weight: f32,
    /// Whether it stands for the record without a domain marker on the line.
    specific: bool,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// A pattern: all clauses on the line, then the regex.
    Pattern { slot: Arc<Slot>, clauses: Vec<Clause> },
    /// The whole signature as it stands, apart from ASCII case.
    Signature,
    /// A code that is a word or phrase of its own (`cudaErrorPeerAccessUnsupported`).
    Word(Vec<u8>),
    /// A code that ends in a number (`Xid 79`), reached through its family word.
    Number {
        /// Words that must stand on the line too (`CUDA` of `CUDA error 217`).
        words: Vec<Vec<u8>>,
        needs: Markers,
    },
}

impl Matcher {
    /// Compiles the signatures of all published records. What cannot be used is listed, not fatal.
    pub fn build(records: Vec<RecordSignatures>) -> (Self, Vec<Rejected>) {
        build::build(records, Arc::new(PatternCache::default()))
    }

    /// The matcher of the next generation: patterns that have not changed keep their analysis and their compiled
    /// form, so that publishing one record costs the automaton only.
    pub fn rebuild(&self, records: Vec<RecordSignatures>) -> (Self, Vec<Rejected>) {
        build::build(records, Arc::clone(&self.cache))
    }

    /// A scanner for one text.
    pub fn scanner(self: &Arc<Self>, options: ScanOptions) -> Scanner {
        Scanner::new(Arc::clone(self), options)
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Number of things looked for: patterns, signatures and codes.
    pub fn signal_count(&self) -> usize {
        self.signals.len()
    }

    /// Bytes that compiled patterns take at this moment; bounded by [`CACHE_LIMIT_BYTES`].
    pub fn compiled_bytes(&self) -> usize {
        self.cache.used_bytes()
    }

    pub(crate) fn record(&self, place: u32) -> Option<&Record> {
        self.records.get(index(place))
    }

    pub(crate) fn signal(&self, place: u32) -> Option<&Signal> {
        self.signals.get(index(place))
    }

    pub(crate) fn automaton(&self) -> &Automaton {
        &self.automaton
    }
}

/// A place in one of the matcher's lists; these never hold more than `u32::MAX` entries.
pub(crate) fn index(place: u32) -> usize {
    usize::try_from(place).unwrap_or(usize::MAX)
}

/// The place that the next entry of a list of this length gets.
pub(crate) fn place(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
