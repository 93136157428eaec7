//! The table: what is observed -> cause, verdict, record, what to do. Worst first; the first row that applies names
//! the cause. A new cause is a new row, a new test and, where the world knows it, a new record.

mod absent;
mod alone;
mod bench;
mod broken;
mod broken_calls;
mod broken_data;
mod degraded;
mod degraded_gpu;
mod degraded_slow;
pub(super) mod load;
mod nccl;
mod refused;
mod run;
mod service;
mod unknown;

use super::Verdict;
use super::evidence::{Finding, Seen};

pub(super) use absent::of_absence;
pub(super) use degraded_slow::staged_instead;
pub(super) use run::{NOTES, RUN, RunRow};
pub(super) use unknown::{REQUIRED_RUNGS, not_proven_by};

/// A cause, as people and programs read about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// Its name, see [`super::cause`].
    pub cause: &'static str,
    /// The verdict of a pair, or of a run, that has it.
    pub verdict: Verdict,
    /// The record that explains it.
    pub record: Option<&'static str>,
    /// What was seen, in one sentence.
    pub means: &'static str,
    /// What to do, in one or two sentences.
    pub fix: &'static str,
}

pub(super) struct Row {
    pub(super) named: Named,
    /// True for what has effects of its own, and so is told beside the cause when both were seen.
    pub(super) beside: bool,
    pub(super) applies: fn(&Seen<'_>) -> Option<Finding>,
}

impl Row {
    /// A cause that explains what else was seen of the pair.
    const fn alone(named: Named, applies: fn(&Seen<'_>) -> Option<Finding>) -> Self {
        Self {
            named,
            beside: false,
            applies,
        }
    }

    /// A cause with effects of its own.
    const fn beside(named: Named, applies: fn(&Seen<'_>) -> Option<Finding>) -> Self {
        Self {
            named,
            beside: true,
            applies,
        }
    }
}

/// The rows of a pair, worst first.
pub(super) fn of_pair() -> impl Iterator<Item = &'static Row> {
    [
        broken::ROWS,
        broken_data::ROWS,
        nccl::ROWS,
        broken_calls::ROWS,
        service::ROWS,
        refused::ROWS,
        unknown::ROWS,
        degraded_gpu::ROWS,
        degraded::ROWS,
        bench::ROWS,
    ]
    .into_iter()
    .flatten()
}

/// The rows of what stops a run; those of a GPU by itself come first.
pub(super) fn of_run() -> impl Iterator<Item = &'static RunRow> {
    alone::ALONE.iter().chain(RUN)
}

/// Every cause: those of a pair, worst first, then those of a GPU that is not there, then those of a GPU by itself and of
/// a run, then those that are only notes; behind them those of minutes of load, worst first.
pub fn table() -> impl Iterator<Item = &'static Named> {
    let of_run = of_run().chain(NOTES).map(|row| &row.named);
    let of_absent = absent::ROWS.iter().copied();
    let of_load = load::ROWS.iter().copied();
    let of_pair = of_pair().map(|row| &row.named);
    of_pair.chain(of_absent).chain(of_run).chain(of_load)
}
