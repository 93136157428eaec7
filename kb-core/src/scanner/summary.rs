//! The answer to a scan. The server adds the feed's seq and the search's candidates to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Marked, Unexplained, UnknownCause};
use crate::ids::{RecordId, Revision};
use crate::reason::{Why, WhyCode};

/// What was found in a text. Empty `matches` means: no known error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Summary {
    /// Records that stand in the text, best first; those that do not apply to the environment last.
    pub matches: Vec<Match>,
    /// Records whose generic words or numbers stand in the text without anything that says they are meant.
    pub candidates: Vec<Candidate>,
    /// The first of `root_causes`.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub root_cause: Option<RecordId>,
    /// Matches that no earlier match leads to, in order. Independent faults are several.
    pub root_causes: Vec<RootCause>,
    /// An error that no record knows and that stands before `root_causes`: only where these do not explain the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_cause: Option<UnknownCause>,
    /// Lines that look like errors and that no record explains; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unexplained: Option<Unexplained>,
    /// What "earlier" means in this answer.
    pub order: Order,
    /// Lines read.
    pub lines_scanned: u64,
    /// Bytes read.
    pub bytes_scanned: u64,
    /// What was cut, capped or left out, in plain sentences. Nothing is left out silently.
    pub notes: Vec<String>,
    /// What is known of where the text was written: what was given, and what the text itself says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<KnownComponent>,
}

/// A version or model where the text was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KnownComponent {
    /// `driver`, `cuda`, `nccl`, `gpu_model`, …
    pub component: String,
    /// Its version or name.
    pub value: String,
    /// The line that says so; absent where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// A record that stands in the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Match {
    /// The record.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: RecordId,
    /// The revision that matched.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub revision: Revision,
    /// How well it explains its best line, 0 to 1. Ordinal: only comparisons within one answer mean something.
    pub score: f32,
    /// Whether the record applies to the environment.
    pub applies: Applies,
    /// Lines on which it stands, exact.
    pub count: u64,
    /// The first three of these lines and the last.
    pub lines: Vec<MatchedLine>,
    /// The same lines folded by captured values, in order of appearance.
    pub folds: Vec<Fold>,
    /// Lines counted in `count` whose captured values got no fold of their own, because there were too many.
    pub overflow: u64,
    /// The match that this one only wraps: a framework's error around that of a library or the driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub wraps: Option<RecordId>,
    /// True where the record says that the message is harmless, the driver calls none of its lines fatal, and no program ended with it:
    /// it is no error, and never a first cause.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub harmless: bool,
    /// One sentence that says why.
    pub why: String,
    /// The kind of reason; absent in answers of older servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_code: Option<WhyCode>,
    /// The reason as data; absent in an answer that was read from JSON.
    #[serde(skip)]
    pub reason: Option<Why>,
}

/// Lines of one record with the same captured values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Fold {
    /// The values.
    pub captures: BTreeMap<String, String>,
    /// Number of lines, exact.
    pub count: u64,
    /// The first three line numbers and the last.
    pub lines: Vec<u64>,
}

/// A line on which a record stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MatchedLine {
    /// Line number, from 1.
    pub line: u64,
    /// First byte of the match in the body.
    pub start: u64,
    /// First byte after the match in the body.
    pub end: u64,
    /// The line, if it was asked for.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Marked>,
    /// Captured values by name.
    pub captures: BTreeMap<String, String>,
    /// For a signature of several lines, and a line that was cut: the places behind the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<LinePart>,
}

/// A further line of a match that stands on several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinePart {
    /// Line number, from 1.
    pub line: u64,
    /// First byte of this part of the match in the body.
    pub start: u64,
    /// First byte after it.
    pub end: u64,
    /// The line, if it was asked for.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Marked>,
}

/// A record that may be meant, shown apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Candidate {
    /// The record.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: RecordId,
    /// Its revision.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub revision: Revision,
    /// How well it explains the line, 0 to 1, ordinal.
    pub score: f32,
    /// Number of lines.
    pub count: u64,
    /// The first of these lines.
    pub line: MatchedLine,
    /// Why it is no match.
    pub why: String,
    /// The kind of reason; absent in answers of older servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_code: Option<WhyCode>,
    /// The reason as data; absent in an answer that was read from JSON.
    #[serde(skip)]
    pub reason: Option<Why>,
}

/// A match that nothing earlier in the text leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RootCause {
    /// The record.
    #[serde(rename = "match")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: RecordId,
    /// Where it stands first.
    pub line: u64,
    /// Captured values there.
    pub captures: BTreeMap<String, String>,
    /// The host that reports it first, if its line names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The cause, then the matches that it leads to, in order.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub chain: Vec<RecordId>,
    /// One sentence: what it led to, and whether time or the graph says so.
    #[serde(default)]
    pub why: String,
    /// The line of the error that no record knows and that this message only tells of; `unknown_cause` says which it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind_line: Option<u64>,
}

/// Whether a record's conditions hold in the given environment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Applies {
    /// Every condition holds.
    Yes,
    /// The record states none, or the environment does not say.
    #[default]
    Unknown,
    /// At least one does not hold.
    No,
}

/// What orders the matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The time on the lines, all of one clock.
    Time,
    /// The time on the lines, of several clocks: trusted within each; between them only beyond what their clocks may
    /// differ by, else the graph decides. The notes say what was assumed.
    TimeByClock,
    /// The place in the text.
    #[default]
    Line,
}

/// How many of the matches are errors, and how many are messages that their record calls harmless.
pub fn errors_and_harmless(matches: &[Match]) -> (usize, usize) {
    let harmless = matches.iter().filter(|found| found.harmless).count();
    (matches.len() - harmless, harmless)
}
