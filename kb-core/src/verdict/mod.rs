//! From what was observed to a verdict and an exit code: one table, worst first.
//!
//! ```text
//! facts and checks of a pair -> table (first row that applies) -> cause, verdict, evidence -> worst of the run -> exit code
//! ```

mod evidence;
mod run;
mod table;
#[cfg(test)]
mod tests;

pub use run::{FailOn, judge_run};
pub use table::{HARDWARE_RECORD, cause, judge_pair};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Verdict of a pair, and of a run (its worst pair). Ordered from best to worst.
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
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Healthy => 0,
            Self::Degraded => 1,
            Self::Refused | Self::Broken => 2,
            Self::Unknown => 3,
        }
    }

    /// The word that people read: `healthy`, `degraded`, `refused`, `unknown`, `broken`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
            Self::Broken => "broken",
        }
    }
}
