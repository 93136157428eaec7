//! From verdicts to the exit code that the caller gets.

use super::{Verdict, table};
use crate::report::{Conclusion, Pair};

/// What the exit code says. Which verdict makes which, and what `--fail-on` lets through:
///
/// | verdict | code | `--fail-on fault` | `warning` | `unknown` |
/// | --- | --- | --- | --- | --- |
/// | broken, refused | 2 | 2 | 2 | 2 |
/// | unknown | 3 | 0 | 0 | 3 |
/// | degraded | 1 | 0 | 1 | 1 |
/// | healthy, no fault seen | 0 | 0 | 0 | 0 |
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

/// What a run fails of for the caller; all else is mapped to 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FailOn {
    /// Only a fault (2).
    #[default]
    Fault,
    /// A warning or a fault (1, 2).
    Warning,
    /// A run that could not tell, too (1, 2, 3).
    Unknown,
}

impl FailOn {
    /// The exit code that the caller gets: of the worst verdict of the run and of its pairs that the caller minds.
    /// What could not be told of a pair hides no warning about another, nor one that was seen beside it.
    pub fn exit_code(self, conclusion: &Conclusion, pairs: &[Pair]) -> u8 {
        let counting = pairs.iter().filter(|pair| !pair.verdict.information);
        let verdicts = counting.flat_map(|pair| {
            let beside = pair.verdict.beside.iter().filter_map(|cause| {
                let named = table().find(|named| named.cause == cause)?;
                Some(named.verdict)
            });
            beside.chain([pair.verdict.verdict])
        });
        let minded = verdicts
            .chain([conclusion.verdict])
            // A look proves no pair, and says so of each: what that means for the node is in its conclusion.
            .filter(|verdict| *verdict <= conclusion.verdict && self.minds(*verdict));
        minded.max().map_or(0, Verdict::exit_code)
    }

    fn minds(self, verdict: Verdict) -> bool {
        match ExitCode::of(verdict) {
            ExitCode::Fault => true,
            ExitCode::Warning => self != Self::Fault,
            ExitCode::Unknown => self == Self::Unknown,
            ExitCode::Healthy | ExitCode::Usage => false,
        }
    }
}
