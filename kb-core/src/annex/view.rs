//! The annex's keys, unknown keys kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::notes::{Harmless, WorkaroundNote};
use super::probe::ProbeRule;
use super::{Action, Blame, Severity};
use crate::ids::{RecordId, ReportId};
use crate::signature::{AppliesTo, PatternSpec, PhraseSpec};

/// What Peerless adds to a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Annex {
    /// Version of this format; [`super::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// What is wrong, in at most 70 characters: "This GPU model has no peer access". Shown first, and searched.
    #[serde(default)]
    pub title: Option<String>,
    /// The title in Chinese.
    #[serde(default)]
    pub title_zh: Option<String>,
    /// What people type into a search box when they have the error and do not know its name: "gpu missing after reboot". Searched,
    /// and not shown.
    #[serde(default)]
    pub asked_as: Vec<String>,
    /// Other names of the error as people write them: `CUDA_ERROR_PEER_ACCESS_UNSUPPORTED`, `Xid 79`, `error 217`.
    #[serde(default)]
    pub codes: Vec<String>,
    /// Patterns beside the document's `regex`, which is pattern `0`.
    #[serde(default)]
    pub patterns: Vec<PatternSpec>,
    /// Words of the error that many programs print, each in its own way, and where they count.
    #[serde(default)]
    pub phrases: Vec<PhraseSpec>,
    /// Texts that the record must recognise.
    #[serde(default)]
    pub examples: Vec<Example>,
    /// Texts that look alike and that the record must not recognise.
    #[serde(default)]
    pub near_misses: Vec<NearMiss>,
    /// Conditions on the environment, all of which must hold.
    #[serde(default)]
    pub applies_to: Vec<AppliesTo>,
    /// How bad it is.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// What to do first.
    #[serde(default)]
    pub action: Option<Action>,
    /// What is at fault, and the page that says so.
    #[serde(default)]
    pub at_fault: Option<AtFault>,
    /// Set where the message is a notice that needs no step; it is never counted as a fault then.
    #[serde(default)]
    pub harmless: Option<Harmless>,
    /// What each of the document's `workarounds` is, in the same order.
    #[serde(default)]
    pub workaround_notes: Vec<WorkaroundNote>,
    /// Statements of the document that are wrong or harmful: shown last, struck through, with the reason.
    #[serde(default)]
    pub disputes: Vec<Dispute>,
    /// Rules over a report.
    #[serde(default)]
    pub probe: Vec<ProbeRule>,
    /// How hits of this record bear on hits of others in the same log.
    #[serde(default)]
    pub relations: Relations,
    /// Pages that were read, and what they support.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// Reports of real hardware that show it; what the tier `reproduced` rests on.
    #[serde(default)]
    pub reproduced: Vec<Reproduction>,
    /// The document's `dead_ends` in Chinese, in the same order.
    #[serde(default)]
    pub dead_ends_zh: Vec<ChineseDeadEnd>,
    /// The document's `workarounds` in Chinese, in the same order.
    #[serde(default)]
    pub workarounds_zh: Vec<ChineseWorkaround>,
    /// The record that took this one's place.
    #[serde(default)]
    pub superseded_by: Option<RecordId>,
    /// Where the record came from, if from elsewhere.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// How the record was made, as the system of origin states it.
    #[serde(default)]
    pub provenance: BTreeMap<String, Value>,
    /// Hardware that the record speaks of, as the system of origin states it.
    #[serde(default)]
    pub hardware: BTreeMap<String, Value>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// A text that the record must recognise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Example {
    /// One line, or several.
    pub text: String,
    /// Address of the page it was seen on.
    #[serde(default)]
    pub source: Option<String>,
    /// Values that the patterns must capture, by name.
    #[serde(default)]
    pub captures: BTreeMap<String, String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// A text that looks alike and is something else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NearMiss {
    /// One line, or several.
    pub text: String,
    /// What it is instead.
    #[serde(default)]
    pub why: Option<String>,
    /// Address of the page it was seen on.
    #[serde(default)]
    pub source: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// How hits of this record bear on hits of others in the same log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Relations {
    /// Records whose hits a hit of this one takes away.
    #[serde(default)]
    pub cancels: Vec<RecordId>,
    /// True where a hit counts only without hits of other records in the window.
    #[serde(default)]
    pub only_alone: bool,
    /// True where the message only says that some other error ended a program: no first cause beside that one.
    #[serde(default)]
    pub wraps_others: bool,
    /// Where filled, a hit counts only together with a hit of one of these in the window.
    #[serde(default)]
    pub only_with: Vec<RecordId>,
    /// The window in seconds; absent means the whole log.
    #[serde(default)]
    pub window_seconds: Option<u32>,
    /// Patterns, by id, whose hits count only where the log says that the device on the line is an NVIDIA GPU; else they make a
    /// candidate. The device is the capture `device`, the first PCI address on the line, or the block of lspci around it. `0` is
    /// the document's pattern, `signature` its signature.
    #[serde(default)]
    pub of_gpu: Vec<String>,
    /// Patterns whose hits do not count where the log says that the device is something else.
    #[serde(default)]
    pub not_of_others: Vec<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// A page that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// Its address.
    pub url: String,
    /// Day it was read, `2026-11-21`.
    pub read_on: String,
    /// JSON pointers into the document that it bears out.
    #[serde(default)]
    pub supports: Vec<String>,
    /// What it says, where that is less or other than what the document says.
    #[serde(default)]
    pub note: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// A report of real hardware that shows the error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reproduction {
    /// Id of the report.
    pub report: ReportId,
    /// Day of the run, `2026-11-21`.
    pub on: String,
    /// What it ran on: `2x NVIDIA H200, driver 580.159.04`.
    pub hardware: String,
    /// Name of the program whose output, kept beside the report, shows it; absent where the report's own logs do.
    #[serde(default)]
    pub output: Option<String>,
    /// JSON Pointers into the document that the run bears out beside the error itself: an edge whose target it shows too.
    #[serde(default)]
    pub supports: Vec<String>,
    /// Where in the report it shows, or what the program did.
    #[serde(default)]
    pub note: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// What is at fault, by a source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtFault {
    /// What is at fault.
    pub who: Blame,
    /// Address of the page that says so, or from which it follows.
    pub source: String,
    /// When it is something else, or how it follows from the page.
    #[serde(default)]
    pub note: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// A statement of the document that the annex disputes. The document keeps it, byte for byte.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dispute {
    /// JSON Pointer to the statement: `/root_cause`, `/workarounds/0` or `/dead_ends/0`, counted from 0.
    pub pointer: String,
    /// What is wrong with it.
    pub why: String,
    /// The same in Chinese.
    #[serde(default)]
    pub why_zh: Option<String>,
    /// Address of the page that says so, or from which it follows.
    pub source: String,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// A dead end in Chinese.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChineseDeadEnd {
    /// What people do.
    #[serde(default)]
    pub action: Option<String>,
    /// Why it does not help.
    #[serde(default)]
    pub why_fails: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// A workaround in Chinese.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChineseWorkaround {
    /// What to do.
    #[serde(default)]
    pub action: Option<String>,
    /// How to do it, where the document says more than in `action`.
    #[serde(default)]
    pub how: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// Where a record came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// Name of the system.
    pub system: String,
    /// Its page of the record.
    #[serde(default)]
    pub url: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}
