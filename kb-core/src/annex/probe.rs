//! Rules over a report, in CEL. Plain text here; the server compiles and runs them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Longest expression, in bytes (design, decision 14).
pub const MAX_EXPRESSION_BYTES: usize = 4 * 1024;
/// Most rules of a record, and most evidence of a rule.
pub const MAX_RULES: usize = 64;

/// A rule that links a report to this record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeRule {
    /// Short name, unique in the record; it stays with the findings.
    pub id: String,
    /// What the rule is asked about.
    pub scope: ProbeScope,
    /// CEL that is true where the record applies. Variables: `report`, and the one that the scope names.
    pub when: String,
    /// CEL whose values are kept with the finding.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// What a rule is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProbeScope {
    /// The report, once.
    Report,
    /// Each of `report.pairs`, as `pair`.
    Pair,
    /// Each of `report.gpus`, as `gpu`.
    Gpu,
    /// Each direction of each pair, as `direction`, with its `pair`.
    Direction,
}

impl ProbeScope {
    /// Every word.
    pub const WORDS: &'static [&'static str] = &["report", "pair", "gpu", "direction"];
}
