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
use serde::{Deserialize, Deserializer, Serialize};

/// Verdict of a pair, and of a run (its worst pair). Ordered from best to worst: a fault that was seen is worse than
/// what could not be told, so that the one never hides behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Copies and kernels were checked in both directions; all passed, and nothing was left out.
    Healthy,
    /// Works, but slower or with less than it should.
    Degraded,
    /// Could not be told. A word of a newer minor version reads as this.
    Unknown,
    /// The driver refuses peer access.
    Refused,
    /// The driver grants peer access and it does not work.
    Broken,
}

impl Verdict {
    /// All of them, best first.
    pub const ALL: [Self; 5] = [
        Self::Healthy,
        Self::Degraded,
        Self::Unknown,
        Self::Refused,
        Self::Broken,
    ];

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

// By hand: `#[serde(other)]` would have to be the last variant, and so the worst.
impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|verdict| verdict.word() == word);
        Ok(known.unwrap_or(Self::Unknown))
    }
}
