//! What the annex says of each workaround, and of a message that needs none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a workaround does to the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkaroundKind {
    /// The cause is gone.
    Repairs,
    /// The cause stays; the job goes another way and gives something up.
    Avoids,
    /// It only finds out more.
    Diagnoses,
    /// The message is gone, and the fault may still be there.
    Hides,
}

/// What a workaround touches, the widest of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkaroundScope {
    /// Nothing: the step only looks.
    None,
    /// One program: its code, environment or container.
    Job,
    /// One GPU.
    Gpu,
    /// The machine: driver, kernel, firmware, services, hardware.
    Node,
    /// Several machines: NVSwitch fabric, network, scheduler, Kubernetes objects.
    Fabric,
}

impl WorkaroundKind {
    /// Every word.
    pub const WORDS: &'static [&'static str] = &["repairs", "avoids", "diagnoses", "hides"];
}

impl WorkaroundScope {
    /// Every word, narrowest first.
    pub const WORDS: &'static [&'static str] = &["none", "job", "gpu", "node", "fabric"];
}

/// What a workaround of the document is, by its place in the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkaroundNote {
    /// What it does to the error.
    pub kind: WorkaroundKind,
    /// What it touches.
    pub scope: WorkaroundScope,
    /// What is given up.
    #[serde(default)]
    pub cost: Option<String>,
    /// The cost in Chinese.
    #[serde(default)]
    pub cost_zh: Option<String>,
    /// What must be stopped before the step, because the step harms it.
    #[serde(default)]
    pub stop_first: Option<String>,
    /// The same in Chinese.
    #[serde(default)]
    pub stop_first_zh: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// The message is a notice that needs no step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Harmless {
    /// When it is not harmless.
    pub unless: String,
    /// The same in Chinese.
    #[serde(default)]
    pub unless_zh: Option<String>,
    /// Keys that this build does not know.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}
