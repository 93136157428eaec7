//! The words that a run ends with: verdicts, and exit codes before the caller has said what counts.

use serde::{Deserialize, Deserializer, Serialize};

/// Verdict of a pair, and of a run (its worst pair). Ordered from best to worst: a fault that was seen is worse than
/// what could not be told, so that the one never hides behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// What the exit code says. Which verdict makes which, and what `--fail-on` lets through:
///
/// | verdict | code | `--fail-on fault,unknown` (default) | `fault` | `warning` | `unknown` |
/// | --- | --- | --- | --- | --- | --- |
/// | broken, refused | 2 | 2 | 2 | 2 | 2 |
/// | unknown | 3 | 3 | 0 | 0 | 3 |
/// | degraded | 1 | 0 | 0 | 1 | 1 |
/// | healthy, no fault seen | 0 | 0 | 0 | 0 | 0 |
///
/// A run over GPUs of which the ledger holds a fault open makes 2, whatever its own verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    /// 0: proven.
    Healthy,
    /// 1: works, with something to look at.
    Warning,
    /// 2: refused or broken.
    Fault,
    /// 3: could not tell.
    Unknown,
    /// 64: usage or configuration error, as in sysexits.h.
    Usage,
}

impl ExitCode {
    /// All of them, by number.
    pub const ALL: [Self; 5] = [
        Self::Healthy,
        Self::Warning,
        Self::Fault,
        Self::Unknown,
        Self::Usage,
    ];

    /// Of a verdict, before `--fail-on` is applied.
    pub fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Healthy | Verdict::NoFaultSeen => Self::Healthy,
            Verdict::Degraded => Self::Warning,
            Verdict::Refused | Verdict::Broken => Self::Fault,
            Verdict::Unknown => Self::Unknown,
        }
    }

    /// As the process returns it.
    pub fn number(self) -> u8 {
        match self {
            Self::Healthy => 0,
            Self::Warning => 1,
            Self::Fault => 2,
            Self::Unknown => 3,
            Self::Usage => 64,
        }
    }

    /// What people read.
    pub fn means(self) -> &'static str {
        match self {
            Self::Healthy => "healthy, or nothing that --fail-on minds",
            Self::Warning => {
                "warning: works, with something to look at (or the report could not be uploaded)"
            }
            Self::Fault => "fault: refused or broken",
            Self::Unknown => "could not tell",
            Self::Usage => "usage or configuration error",
        }
    }
}
