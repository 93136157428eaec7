//! What recognises a record in text, as plain data: patterns, codes, and what the matcher must know to rank and
//! order hits. Built from a document and its annex; compiled by the matcher.
//!
//! [`check`] is the door: what it refuses never reaches the matcher. `parse` turns a pattern into the engine's tree,
//! `quick` into a smaller one that has its literals, `required` reads from that one which literals every match must hold.
//! `phrase` is for words that many programs print.

mod beginnings;
mod branches;
mod chains;
mod check;
mod cost;
mod error;
mod groups;
mod lines;
mod lost;
mod parse;
mod phrase;
mod quick;
mod required;
mod searcher;
#[cfg(test)]
mod tests;

pub use branches::branches;
pub(crate) use chains::{Chain, Chains, Gap, Link};
pub(crate) use check::{
    Analysis, CompiledPattern, Texts, analyse, check_cost, compile, compile_often, facts,
};
pub use check::{Capture, PatternFacts, check, cost, first_match};
pub use cost::Cost;
pub use error::PatternError;
pub(crate) use lines::{LineSpec, MAX_PARTS, may_have_parts, parts, parts_of_text};
#[cfg(test)]
pub(crate) use lost::LOST;
pub(crate) use lost::tells_of_lost_gpu;
pub(crate) use parse::parse as slow_tree;
pub use phrase::PhraseSpec;
pub(crate) use phrase::{Outline, Phrase, PhraseHit, outline};
pub use required::Clause;
pub(crate) use searcher::Searcher;

use serde::{Deserialize, Serialize};

use crate::ids::{RecordId, Revision};
use crate::severity::{Action, Blame, Severity};

/// One pattern of a record. The document's `regex` is pattern `0` with flag `i`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PatternSpec {
    /// Short name, unique in the record.
    pub id: String,
    /// Rust regex syntax, matched on the bytes of one line. Where it has line breaks (`\\n`), each part between them is
    /// matched on a line of its own, in order; lines of others may stand between.
    pub regex: String,
    /// Any of `i` (ignore case), `m`, `s`, `x`.
    #[serde(default)]
    pub flags: String,
    /// Names for the unnamed capture groups, in order; named groups keep theirs.
    #[serde(default)]
    pub captures: Vec<String>,
}

/// A condition on the environment: `{"component": "driver", "introduced": "525", "fixed": "550.54"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppliesTo {
    /// `driver`, `cuda`, `nccl`, `pytorch`, `gpu_model`, `os`, …
    pub component: String,
    /// First version that has the error, inclusive.
    #[serde(default)]
    pub introduced: Option<String>,
    /// First version that has it no more, exclusive.
    #[serde(default)]
    pub fixed: Option<String>,
    /// Last version known to have it, inclusive.
    #[serde(default)]
    pub last_affected: Option<String>,
    /// For components without an order (`gpu_model`, `os`): any of these, case-insensitive, `*` matches any run.
    #[serde(default)]
    pub any_of: Vec<String>,
}

/// Everything the matcher knows of one published record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordSignatures {
    /// The record.
    pub id: RecordId,
    /// Its published revision.
    pub revision: Revision,
    /// Domain as the document states it (`cuda`, `nccl`, `tensorflow`).
    pub domain: String,
    /// Signature as the document states it; used for "contains the whole signature" and for display.
    pub signature: String,
    /// Patterns; pattern `0` first.
    pub patterns: Vec<PatternSpec>,
    /// Words that count in contexts that are known by name.
    #[serde(default)]
    pub phrases: Vec<PhraseSpec>,
    /// Codes as people write them: `CUDA_ERROR_PEER_ACCESS_UNSUPPORTED`, `Xid 79`, `error 217`.
    pub codes: Vec<String>,
    /// Conditions on the environment, all of which must hold.
    pub applies_to: Vec<AppliesTo>,
    /// Records that this one leads to, by its own statement or by theirs that it precedes them.
    pub leads_to: Vec<RecordId>,
    /// Records whose hit takes this one's away (`relations.cancels` of the other, inverted by the builder).
    pub cancels: Vec<RecordId>,
    /// A hit counts only without hits of other records in the window.
    #[serde(default)]
    pub only_alone: bool,
    /// It only says that some other error ended a program: no first cause beside an error, wherever that stands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wraps_others: bool,
    /// It tells of nothing that is lost: no first cause beside a record that does, unless it leads to what is there.
    #[serde(default)]
    pub notice: bool,
    /// Where the message is harmless: when it is not. It is never a first cause, and is counted apart from errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harmless: Option<String>,
    /// How bad the error is; for display and for verdicts, the matcher does not read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// What to do first; likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// What is at fault; likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_fault: Option<Blame>,
    /// Where filled, a hit counts only together with a hit of one of these in the window.
    #[serde(default)]
    pub only_with: Vec<RecordId>,
    /// The window of this record's relations in seconds; absent means the whole text.
    #[serde(default)]
    pub window_seconds: Option<u32>,
    /// Patterns (by id; `signature` is the whole signature) whose hits count only where the text says that the device is a GPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_gpu: Vec<String>,
    /// Patterns whose hits do not count where the text says that the device is no GPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_of_others: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeviceRule {
    /// One that the text names as a GPU.
    Gpu,
    /// One that the text does not name as something else.
    NotOther,
}

impl RecordSignatures {
    /// Whether the record tells of an error: its severity is error or worse, or not stated.
    pub fn is_error(&self) -> bool {
        self.severity.is_none_or(|severity| severity >= Severity::Error)
    }

    /// Those of a record that nothing recognises yet.
    pub fn empty(id: RecordId, revision: Revision) -> Self {
        Self {
            id,
            revision,
            domain: String::new(),
            signature: String::new(),
            patterns: Vec::new(),
            phrases: Vec::new(),
            codes: Vec::new(),
            applies_to: Vec::new(),
            leads_to: Vec::new(),
            cancels: Vec::new(),
            only_alone: false,
            wraps_others: false,
            notice: false,
            harmless: None,
            severity: None,
            action: None,
            at_fault: None,
            only_with: Vec::new(),
            window_seconds: None,
            of_gpu: Vec::new(),
            not_of_others: Vec::new(),
        }
    }

    pub(crate) fn device_rule(&self, pattern: &str) -> Option<DeviceRule> {
        let names = |list: &[String]| list.iter().any(|id| id == pattern);
        if names(&self.of_gpu) {
            Some(DeviceRule::Gpu)
        } else {
            names(&self.not_of_others).then_some(DeviceRule::NotOther)
        }
    }
}
