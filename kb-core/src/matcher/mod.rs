//! All published signatures, ready to be looked for: one pass over rare literals names the lines worth a second look,
//! everything else of a pattern is tested there, its regex last and only where its literals do not say it all.
//!
//! ```text
//! rarity   how much a word says             markers  which world a line speaks of (CUDA, NCCL, the kernel driver)
//! codes    a record's codes as tests        cache    compiled patterns, bounded, kept over rebuilds
//! keys     which bytes of a literal         filter   where literals stand in a text
//! build    records -> signals + filter      verify   one line + its candidates -> hits
//! chain    a pattern's literals in order    slow     the few patterns without a literal
//! grams    what a line cannot hold           around   a literal compared at once
//! entries  the literals that wake a pattern     key_offsets  keys of signatures and codes, kept over rebuilds
//! heads    how matches of the slow few begin statements what a text says of its machine
//! slot     a pattern: literals, weights, compiled form   lazy_finder  a text to look for, prepared when needed
//! ahead    patterns of a first generation, read on several threads    denied   numbers that a line says it does not have
//! ```

mod ahead;
mod around;
mod build;
mod cache;
mod chain;
mod codes;
mod crowd;
mod denied;
mod entries;
mod filter;
mod grams;
mod heads;
mod key_offsets;
mod keys;
mod lazy_finder;
mod lists;
mod markers;
pub(crate) mod rarity;
mod slot;
mod slow;
pub(crate) mod statements;
#[cfg(test)]
mod tests;
mod verify;

use std::collections::HashMap;
use std::sync::Arc;

pub use cache::CACHE_LIMIT_BYTES;
use cache::PatternCache;
pub(crate) use denied::without_denials;
use filter::Filter;
pub(crate) use filter::{Found, Glance};
use lazy_finder::LazyFinder;
use markers::Markers;
use slot::Slot;
pub use slow::SLOW_LANE_PATTERNS;
use slow::SlowLane;
pub(crate) use verify::{Line, RawHit, Work};

use crate::ids::{RecordId, Revision};
use crate::signature::{AppliesTo, DeviceRule, RecordSignatures};

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
    filter: Filter,
    slow: Option<SlowLane>,
    numbers: HashMap<(u16, u64), Vec<u32>>,
    cache: Arc<PatternCache>,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a statement of the record")]
pub(crate) struct Record {
    pub(crate) id: RecordId,
    pub(crate) revision: Revision,
    /// The signature in ASCII lower case, and how much it says; empty when it cannot stand on one line.
    pub(crate) signature: LazyFinder,
    pub(crate) signature_weight: f32,
    pub(crate) applies_to: Vec<AppliesTo>,
    /// Places in the list of records.
    pub(crate) leads_to: Vec<u32>,
    pub(crate) cancels: Vec<u32>,
    pub(crate) only_alone: bool,
    pub(crate) wraps_others: bool,
    /// Its severity is error or worse, or not stated.
    pub(crate) is_error: bool,
    /// Nothing is lost where it stands.
    pub(crate) notice: bool,
    /// It is never a cause.
    pub(crate) harmless: bool,
    /// Where stated, one of these must be there too; empty where none of them is a record.
    pub(crate) only_with: Option<Vec<u32>>,
    pub(crate) window_seconds: Option<u32>,
    /// What a line must speak of before a generic message or a number counts.
    domain: Markers,
    domain_word: LazyFinder,
}

impl Record {
    pub(crate) fn domain_word(&self) -> &str {
        std::str::from_utf8(self.domain_word.text()).unwrap_or_default()
    }
}

#[derive(Debug)]
pub(crate) struct Signal {
    pub(crate) record: u32,
    pub(crate) name: Box<str>,
    pub(crate) kind: Kind,
    /// How much its literals say, where no chain of it says so.
    pub(crate) weight: f32,
    /// Whose device a hit must be of to count; of any where absent.
    pub(crate) device: Option<DeviceRule>,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// A pattern or phrase: one of its chains on the line, or all its clauses; then the regex, unless the chains say it
    /// all, or the phrase with what stands around it.
    Pattern(Arc<Slot>),
    Part(Arc<Slot>, PartOf),
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartOf {
    pub(crate) sequence: u32,
    pub(crate) index: u8,
    pub(crate) count: u8,
    /// Furthest behind the part before it, in lines; `None`: as far as any part may stand.
    pub(crate) reach: Option<u64>,
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

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(crate) fn conditions(&self) -> impl Iterator<Item = &AppliesTo> {
        self.records.iter().flat_map(|record| &record.applies_to)
    }

    /// Number of things looked for: patterns, signatures and codes.
    pub fn signal_count(&self) -> usize {
        self.signals.len()
    }

    /// Bytes that compiled patterns take at this moment; bounded by [`CACHE_LIMIT_BYTES`].
    pub fn compiled_bytes(&self) -> usize {
        self.cache.used_bytes()
    }

    /// Patterns that are asked of every line because they have no literal to look for: record and pattern. At most
    /// [`SLOW_LANE_PATTERNS`]; further ones are among the rejected.
    pub fn slow_patterns(&self) -> Vec<(RecordId, String)> {
        let signals = self.slow.iter().flat_map(SlowLane::signals);
        signals
            .filter_map(|place| {
                let signal = self.signal(*place)?;
                Some((self.record(signal.record)?.id.clone(), signal.name.to_string()))
            })
            .collect()
    }

    pub(crate) fn slow(&self) -> Option<&SlowLane> {
        self.slow.as_ref()
    }

    pub(crate) fn record(&self, place: u32) -> Option<&Record> {
        self.records.get(index(place))
    }

    pub(crate) fn signal(&self, place: u32) -> Option<&Signal> {
        self.signals.get(index(place))
    }

    pub(crate) fn is_part(&self, signal: u32) -> bool {
        let kind = self.signal(signal).map(|signal| &signal.kind);
        matches!(kind, Some(Kind::Part(..)))
    }

    pub(crate) fn filter(&self) -> &Filter {
        &self.filter
    }
}

/// A place in one of the matcher's lists; these never hold more than `u32::MAX` entries.
pub(crate) fn index(place: u32) -> usize {
    usize::try_from(place).unwrap_or(usize::MAX)
}

pub(crate) fn place(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
