//! The document: thirty flat keys, unknown keys kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::RecordId;

/// What a record says, in the keys of the seed records. Where a text is absent it is null or empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document {
    /// The record's path.
    pub id: RecordId,
    /// The error as it is printed.
    pub signature: String,
    /// The same in Chinese.
    #[serde(default)]
    pub signature_zh: Option<String>,
    /// Pattern 0, matched without regard to case; null where codes or other patterns recognise the record.
    #[serde(default)]
    pub regex: Option<String>,
    /// What the error is about: `cuda`, `nccl`, `tensorflow`.
    pub domain: String,
    /// Kind of error: `runtime_error`, `system_error`, …
    pub category: String,
    /// Finer kind.
    #[serde(default)]
    pub subcategory: Option<String>,
    /// Why it happens.
    pub root_cause: String,
    /// Kind of cause; `generic` in the seeds.
    #[serde(default)]
    pub root_cause_type: Option<String>,
    /// Why it happens, in Chinese.
    #[serde(default)]
    pub root_cause_zh: Option<String>,
    /// Versions that the record speaks of, in free text.
    #[serde(default)]
    pub versions: Vec<VersionNote>,
    /// Notes by operating system.
    #[serde(default)]
    pub os_specific: BTreeMap<String, Value>,
    /// What wastes time.
    #[serde(default)]
    pub dead_ends: Vec<DeadEnd>,
    /// What works.
    #[serde(default)]
    pub workarounds: Vec<Workaround>,
    /// The workarounds in Chinese, in the same order.
    #[serde(default)]
    pub workarounds_zh: Vec<String>,
    /// What this error leads to, follows and is taken for.
    #[serde(default)]
    pub transition_graph: TransitionGraph,
    /// The vendor's page.
    #[serde(default)]
    pub official_doc_url: Option<String>,
    /// Section of that page.
    #[serde(default)]
    pub official_doc_section: Option<String>,
    /// The vendor's name or number of the error.
    #[serde(default)]
    pub error_code: Option<String>,
    /// Who vouches for the record; see [`VerificationTier`].
    #[serde(default)]
    pub verification_tier: Option<String>,
    /// How sure the author is, from 0 to 1; as claimed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub confidence: Option<f64>,
    /// Share of cases that were fixed, from 0 to 1; as claimed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub fix_success_rate: Option<f64>,
    /// Whether it can be fixed; see [`Resolvable`].
    #[serde(default)]
    pub resolvable: Option<String>,
    /// Day it was first seen, `2024-06-01`.
    #[serde(default)]
    pub first_seen: Option<String>,
    /// Day it was last confirmed.
    #[serde(default)]
    pub last_confirmed: Option<String>,
    /// Day of the last change, as the author states it.
    #[serde(default)]
    pub last_updated: Option<String>,
    /// How many pieces of evidence the author counted.
    #[serde(default)]
    pub evidence_count: Option<u32>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Language of the texts without `_zh`.
    #[serde(default)]
    pub locale: Option<String>,
    /// Former ids.
    #[serde(default)]
    pub aliases: Vec<RecordId>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

impl Document {
    /// Who vouches for the record; `None` for an absent or unknown word.
    pub fn tier(&self) -> Option<VerificationTier> {
        word(self.verification_tier.as_deref())
    }

    /// Whether it can be fixed; `None` for an absent or unknown word.
    pub fn resolvable(&self) -> Option<Resolvable> {
        word(self.resolvable.as_deref())
    }
}

fn word<T: serde::de::DeserializeOwned>(text: Option<&str>) -> Option<T> {
    let value = Value::String(text?.to_owned());
    serde_json::from_value(value).ok()
}

/// Who vouches for a record, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VerificationTier {
    /// Written by a language model, checked by nobody. Its rates are claims.
    AiGenerated,
    /// Every claim has a source that its author opened and cites. Nobody else checked it.
    Documented,
    /// Seen on real hardware: a report that is named shows it.
    Reproduced,
    /// Users who met the error confirmed it.
    CommunityVerified,
    /// A person who knows the field checked it against sources.
    HumanReviewed,
}

/// Whether an error can be fixed by whoever meets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Resolvable {
    /// Yes.
    True,
    /// In some cases, or only worked around.
    Partial,
    /// No.
    False,
}

/// A version that a record speaks of, in free text; ranges that a program can use are the annex's `applies_to`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VersionNote {
    /// `CUDA 12.3`, `cuda>=11.8`.
    pub version: String,
    /// When the behaviour came.
    #[serde(default)]
    pub introduced: Option<String>,
    /// When it was deprecated.
    #[serde(default)]
    pub deprecated: Option<String>,
    /// When it went.
    #[serde(default)]
    pub removed: Option<String>,
    /// What changed.
    #[serde(default)]
    pub behavior_change: Option<String>,
    /// `active` in the seeds.
    #[serde(default)]
    pub status: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// Something people try that does not help.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeadEnd {
    /// What people do.
    pub action: String,
    /// Why it does not help.
    #[serde(default)]
    pub why_fails: Option<String>,
    /// Share of cases in which it fails, from 0 to 1; as claimed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub fail_rate: Option<f64>,
    /// When this holds.
    #[serde(default)]
    pub condition: Option<String>,
    /// Where it is said.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// Something that helps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workaround {
    /// What to do.
    pub action: String,
    /// Share of cases in which it helps, from 0 to 1; as claimed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub success_rate: Option<f64>,
    /// How to do it.
    #[serde(default)]
    pub how: Option<String>,
    /// When this holds.
    #[serde(default)]
    pub condition: Option<String>,
    /// Where it is said.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// Edges as the document states them; [`crate::transition`] reads them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransitionGraph {
    /// Errors that follow.
    #[serde(default)]
    pub leads_to: Vec<FollowedBy>,
    /// Errors that come before.
    #[serde(default)]
    pub preceded_by: Vec<PrecededBy>,
    /// Errors that are taken for this one.
    #[serde(default)]
    pub frequently_confused_with: Vec<ConfusedWith>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// An error that follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FollowedBy {
    /// Id of the other record; need not be one that exists.
    pub error_id: String,
    /// How often, from 0 to 1; as claimed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub probability: Option<f64>,
    /// When this holds.
    #[serde(default)]
    pub condition: Option<String>,
    /// How long it takes, in free text.
    #[serde(default)]
    pub typical_delay: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// An error that comes before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrecededBy {
    /// Id of the other record; need not be one that exists.
    pub error_id: String,
    /// How often, from 0 to 1; as claimed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub probability: Option<f64>,
    /// When this holds.
    #[serde(default)]
    pub condition: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// An error that is taken for this one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfusedWith {
    /// Id of the other record; need not be one that exists.
    pub error_id: String,
    /// How to tell them apart.
    #[serde(default)]
    pub distinction: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}
