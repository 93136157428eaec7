//! From what was observed to a verdict and an exit code: one table, worst first.
//!
//! ```text
//! facts, checks, timings, kernel log -> rows (the first that applies) -> cause, verdict, evidence, record, fix
//!                                          -> expect (is a refusal information?) -> worst of the run -> exit code
//! ```

pub mod cause;
mod evidence;
mod exit;
mod expect;
mod kernel_log;
mod nominal;
mod pair;
mod rows;
mod run;
mod scene;
mod speed;
#[cfg(test)]
mod tests;

pub use exit::{ExitCode, FailOn};
pub use expect::Expect;
pub use nominal::{add_nominal, nominal_between, nominal_with_host};
pub use rows::{Named, table};
pub use run::judge;
pub(crate) use run::worst_absent;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Verdict of a pair, and of a run (its worst pair). Ordered from best to worst: a fault that was seen is worse than
/// what could not be told, so that the one never hides behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Copies and kernels were checked in both directions; all passed, and nothing was left out.
    Healthy,
    /// A look without a check saw no fault, and no earlier one is open; or there is one GPU, which says nothing bad of
    /// itself. Nothing was proven. Since 1.5.
    NoFaultSeen,
    /// Works, but slower or with less than it should.
    Degraded,
    /// Could not be told. A word of a newer minor version reads as this.
    Unknown,
    /// The driver refuses peer access.
    Refused,
    /// The driver grants peer access and it does not work, or a GPU is lost, missing or asks for service.
    Broken,
}

impl Verdict {
    /// All of them, best first.
    pub const ALL: [Self; 6] = [
        Self::Healthy,
        Self::NoFaultSeen,
        Self::Degraded,
        Self::Unknown,
        Self::Refused,
        Self::Broken,
    ];

    /// Exit code before `--fail-on` is applied.
    pub fn exit_code(self) -> u8 {
        ExitCode::of(self).number()
    }

    /// The word that people and programs read: `healthy`, `no_fault_seen`, `degraded`, `refused`, `unknown`, `broken`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::NoFaultSeen => "no_fault_seen",
            Self::Degraded => "degraded",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
            Self::Broken => "broken",
        }
    }

    /// The same for people alone: `no fault seen`.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::NoFaultSeen => "no fault seen",
            other => other.word(),
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
