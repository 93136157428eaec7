//! From what was observed to a verdict and an exit code: one table, worst first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Verdict of a pair, and of a run (its worst pair).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every check that ran passed, in both directions.
    Healthy,
    /// Works, but slower or with less than it should.
    Degraded,
    /// The driver refuses peer access.
    Refused,
    /// Could not be told.
    Unknown,
    /// The driver grants peer access and it does not work.
    Broken,
}

impl Verdict {
    /// Exit code before `--fail-on` is applied: 0 healthy, 1 warning, 2 fault, 3 could not tell.
    ///
    /// A refusal is a fault here; where it is the product's policy the agent says so with
    /// [`Verdict::exit_code`] of [`Verdict::Healthy`] unless the operator expects peer access.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Healthy => 0,
            Self::Degraded => 1,
            Self::Refused | Self::Broken => 2,
            Self::Unknown => 3,
        }
    }
}
