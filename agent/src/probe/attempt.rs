//! A check as it came out of one worker, whether the worker answered or not.

use kb_core::report::{Mismatch, Outcome, ReasonCode};

use crate::worker::handle::Fault;
use crate::worker::protocol::{CallFailure, CheckResult, Checked};

use super::setup::SPENT;
use super::trouble::Trouble;

#[derive(Debug, Clone)]
pub(super) struct Attempt {
    pub(super) outcome: Outcome,
    pub(super) reason: Option<String>,
    pub(super) reason_code: Option<ReasonCode>,
    pub(super) earlier_code: Option<i32>,
    pub(super) call: Option<String>,
    pub(super) code: Option<i32>,
    pub(super) code_name: Option<String>,
    pub(super) checked_by: String,
    pub(super) bytes: u64,
    pub(super) windows: u32,
    pub(super) spread_bytes: u64,
    pub(super) mismatch: Option<Mismatch>,
}

impl Attempt {
    fn plain(outcome: Outcome, reason: Option<String>) -> Self {
        Self {
            outcome,
            reason,
            reason_code: None,
            earlier_code: None,
            call: None,
            code: None,
            code_name: None,
            checked_by: "none".to_owned(),
            bytes: 0,
            windows: 0,
            spread_bytes: 0,
            mismatch: None,
        }
    }

    pub(super) fn skipped(reason: impl Into<String>) -> Self {
        Self::plain(Outcome::Skipped, Some(reason.into()))
    }

    pub(super) fn coded(self, code: Option<ReasonCode>) -> Self {
        Self {
            reason_code: code,
            ..self
        }
    }

    fn of_call(outcome: Outcome, failure: CallFailure) -> Self {
        Self {
            reason_code: failure.reason_code,
            call: Some(failure.call),
            code: failure.code,
            code_name: failure.code_name,
            ..Self::plain(outcome, Some(failure.message))
        }
    }

    /// The worker could not even begin: it shows nothing about the access, unless it hung or died.
    pub(super) fn not_ready(trouble: &Trouble) -> Self {
        match trouble {
            Trouble::Call(failure) => Self::of_call(Outcome::Inconclusive, failure.clone()),
            Trouble::Worker(fault) => {
                let mut attempt = Self::interrupted(trouble);
                if matches!(fault, Fault::Start(_) | Fault::Nonsense(_)) {
                    attempt.outcome = Outcome::Inconclusive;
                }
                attempt
            }
        }
    }

    pub(super) fn interrupted(trouble: &Trouble) -> Self {
        match trouble {
            Trouble::Call(failure) => Self::of_call(Outcome::Inconclusive, failure.clone()),
            Trouble::Worker(fault) => {
                let (outcome, call) = match fault {
                    Fault::Hang { call, .. } => (Outcome::Hang, call.clone()),
                    Fault::Died { call, .. } => (Outcome::Fail, call.clone()),
                    Fault::Start(_) | Fault::Nonsense(_) => (Outcome::Inconclusive, None),
                };
                Self {
                    call,
                    ..Self::plain(outcome, Some(fault.to_string()))
                }
            }
        }
    }

    /// A hang within less than the time that a step has, because the run's own time came to its end: no hang was shown.
    pub(super) fn out_of_time(self) -> Self {
        let seen = self.reason.as_deref().unwrap_or_default();
        Self {
            outcome: Outcome::Inconclusive,
            reason: Some(format!("{SPENT} before this step's was: {seen}")),
            reason_code: Some(ReasonCode::TimeSpent),
            ..self
        }
    }

    pub(super) fn in_process(self, whose: &str) -> Self {
        if self.reason_code == Some(ReasonCode::NotSupported) {
            return self;
        }
        let reason = self
            .reason
            .map(|reason| format!("in the process {whose}: {reason}"));
        Self { reason, ..self }
    }

    pub(super) fn describe_again(&mut self) {
        if let Some(mismatch) = &self.mismatch {
            self.reason = Some(describe(mismatch));
        }
    }

    pub(super) fn why(&self) -> &str {
        self.reason.as_deref().unwrap_or(NO_REASON)
    }

    pub(super) fn shows_nothing(&self) -> bool {
        matches!(
            self.outcome,
            Outcome::Skipped | Outcome::NotVisible | Outcome::Inconclusive | Outcome::Unrecognised
        )
    }

    /// From the worker's answer; true when the worker must not be used again.
    pub(super) fn from_checked(checked: Checked) -> (Self, bool) {
        let (attempt, poisoned) = match checked.result {
            CheckResult::Pass => (Self::plain(Outcome::Pass, None), false),
            CheckResult::Wrong { mismatch } => {
                let attempt = Self {
                    mismatch: Some(mismatch),
                    ..Self::plain(Outcome::Fail, Some(describe(&mismatch)))
                };
                (attempt, false)
            }
            CheckResult::Error { failure } => {
                let poisoned = failure.poisoned;
                (Self::of_call(Outcome::Fail, failure), poisoned)
            }
            CheckResult::Hang { failure } => {
                let poisoned = failure.poisoned;
                (Self::of_call(Outcome::Hang, failure), poisoned)
            }
            CheckResult::Unprepared { failure } => {
                let poisoned = failure.poisoned;
                (Self::of_call(Outcome::Inconclusive, failure), poisoned)
            }
            CheckResult::Skipped {
                reason,
                code,
                earlier_code,
            } => {
                let attempt = Self {
                    earlier_code,
                    ..Self::skipped(reason).coded(Some(code))
                };
                (attempt, false)
            }
        };
        let attempt = Self {
            checked_by: checked.compared_by,
            bytes: checked.bytes,
            windows: checked.windows,
            spread_bytes: checked.spread_bytes,
            ..attempt
        };
        (attempt, poisoned)
    }
}

/// `CUDA_ERROR_DEVICE_UNAVAILABLE`: in exclusive compute mode another process has the GPU.
const DEVICE_UNAVAILABLE: i32 = 46;

const NO_REASON: &str = "no reason was given";

/// What the run over all pairs saw stands where repeating it alone shows nothing: wrong data was wrong.
pub(super) fn unrepeated(first: Attempt, second: &Attempt) -> Attempt {
    let seen = first.why();
    let alone = second.why();
    Attempt {
        reason: Some(format!("{seen}; repeating it alone showed nothing: {alone}")),
        ..first
    }
}

/// The second result counts; passing only alone is an outcome of its own. A check that could not even be made beside
/// the others, because a GPU takes one process only, has not failed there.
pub(super) fn merge(first: &Attempt, second: Attempt) -> Attempt {
    let before = first.why();
    match second.outcome {
        Outcome::Pass if first.shows_nothing() && first.code == Some(DEVICE_UNAVAILABLE) => Attempt {
            reason: Some(format!(
                "passed alone; it could not be made beside the others: {before}"
            )),
            ..second
        },
        Outcome::Pass => Attempt {
            outcome: Outcome::PassAlone,
            reason: Some(format!("passed alone; in the run over all pairs: {before}")),
            call: first.call.clone(),
            code: first.code,
            code_name: first.code_name.clone(),
            ..second
        },
        outcome if outcome == first.outcome => second,
        _ => {
            let alone = second.why();
            Attempt {
                reason: Some(format!("{alone}; in the run over all pairs: {before}")),
                ..second
            }
        }
    }
}

fn describe(mismatch: &Mismatch) -> String {
    let Mismatch {
        first_offset, words, ..
    } = mismatch;
    if mismatch.in_guard {
        return format!("{words} words beside the data were overwritten, the first at byte {first_offset}");
    }
    if mismatch.writer_sees_it == Some(true) {
        return format!(
            "the writer reads its own data back and the owner does not see it ({words} words differ)"
        );
    }
    if mismatch.untouched {
        return "every call succeeded and nothing arrived: the owner finds what it had put there".to_owned();
    }
    format!("{words} words are wrong, the first at byte {first_offset}")
}
