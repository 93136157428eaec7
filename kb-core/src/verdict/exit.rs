//! From verdicts to the exit code that the caller asks for.

use std::fmt;
use std::str::FromStr;

use super::table;
use crate::observation::{open_faults, open_warnings, unread_ledger};
use crate::report::{ExitCode, Report, Verdict};

/// The fault, warning or doubt that an exit code tells of.
pub(super) fn claimed_by(code: u8) -> Option<Verdict> {
    let code = ExitCode::ALL.into_iter().find(|known| known.number() == code)?;
    match code {
        ExitCode::Healthy => None,
        ExitCode::Warning => Some(Verdict::Degraded),
        ExitCode::Fault => Some(Verdict::Broken),
        ExitCode::Unknown | ExitCode::Usage => Some(Verdict::Unknown),
    }
}

/// What a run fails of for the caller; all else is mapped to 0. A fault always counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailOn {
    warning: bool,
    unknown: bool,
}

impl FailOn {
    /// `fault`: a fault alone (2).
    pub const FAULT: Self = Self {
        warning: false,
        unknown: false,
    };
    /// `warning`: a warning or a fault (1, 2).
    pub const WARNING: Self = Self {
        warning: true,
        unknown: false,
    };
    /// `unknown`: everything that is not proven (1, 2, 3).
    pub const UNKNOWN: Self = Self {
        warning: true,
        unknown: true,
    };
    /// `fault,unknown`: a fault, or a run that could not tell (2, 3).
    pub const FAULT_AND_UNKNOWN: Self = Self {
        warning: false,
        unknown: true,
    };

    /// The exit code that the caller gets: of the worst verdict of the run and of its pairs that the caller minds.
    /// What could not be told of a pair hides no warning about another, nor one that was seen beside it. A fault or a warning that is
    /// open on a GPU of the run, or on the node, counts however well the run went; and where the ledger could not be read,
    /// nobody can say that none is open.
    pub fn exit_code(self, report: &Report) -> u8 {
        let conclusion = &report.conclusion;
        if open_faults(report).next().is_some() {
            return ExitCode::Fault.number();
        }
        let counting = report.pairs.iter().filter(|pair| !pair.verdict.information);
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
        let unread = unread_ledger(report).map(|_| Verdict::Unknown);
        let warning = open_warnings(report).next().map(|_| Verdict::Degraded);
        let of_ledger = unread.into_iter().chain(warning);
        let minded = minded.chain(of_ledger.filter(|verdict| self.minds(*verdict)));
        minded.max().map_or(0, Verdict::exit_code)
    }

    fn minds(self, verdict: Verdict) -> bool {
        match ExitCode::of(verdict) {
            ExitCode::Fault => true,
            ExitCode::Warning => self.warning,
            ExitCode::Unknown => self.unknown,
            ExitCode::Healthy | ExitCode::Usage => false,
        }
    }
}

/// A fault, or a run that could not tell: `probe && train` goes on only where the probe has looked.
impl Default for FailOn {
    fn default() -> Self {
        Self::FAULT_AND_UNKNOWN
    }
}

/// One word takes in what is worse: `fault`, `warning` (and a fault), `unknown` (and a warning and a fault). Of several,
/// `fault,unknown`, each counts by itself.
impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        let known = ["fault", "warning", "unknown"];
        if let Some(other) = words.iter().find(|word| !known.contains(word)) {
            return Err(format!(
                "{other:?} is none of {}; several are separated by commas: fault,unknown",
                known.join(", ")
            ));
        }
        Ok(match words.as_slice() {
            ["fault"] => Self::FAULT,
            ["warning"] => Self::WARNING,
            ["unknown"] => Self::UNKNOWN,
            several => Self {
                warning: several.contains(&"warning"),
                unknown: several.contains(&"unknown"),
            },
        })
    }
}

/// As [`FromStr`] takes it.
impl fmt::Display for FailOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.warning, self.unknown) {
            (false, false) => "fault",
            (true, false) => "warning",
            (true, true) => "unknown",
            (false, true) => "fault,unknown",
        })
    }
}
