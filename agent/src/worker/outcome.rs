//! How a check came out, from where it stopped.

use kb_core::report::{Mismatch, ReasonCode};

use crate::gpu::{CallError, Windows, Wrong};

use super::place::Place;
use super::protocol::{CallFailure, CheckResult, Checked};
use super::zones::{Layout, WINDOWS};

pub(super) enum Stop {
    /// Before the access: nothing is shown about it.
    Before(CallError),
    /// In the access, or in what follows it.
    Access(CallError),
    /// The check knows itself what that comes to.
    Settled(CheckResult),
}

pub(super) fn before(error: CallError) -> Stop {
    Stop::Before(error)
}

pub(super) fn access(error: CallError) -> Stop {
    Stop::Access(error)
}

pub(super) fn not_supported(why: impl std::fmt::Display) -> Stop {
    Stop::Settled(CheckResult::Skipped {
        reason: format!("not supported: {why}"),
        code: ReasonCode::NotSupported,
        earlier_code: None,
    })
}

pub(super) fn result(outcome: Result<Option<Mismatch>, Stop>) -> CheckResult {
    match outcome {
        Ok(None) => CheckResult::Pass,
        Ok(Some(mismatch)) => CheckResult::Wrong { mismatch },
        Err(Stop::Settled(result)) => result,
        Err(
            Stop::Before(error)
            | Stop::Access(error @ (CallError::Missing { .. } | CallError::Refused { .. })),
        ) => CheckResult::Unprepared {
            failure: failure(&error),
        },
        Err(Stop::Access(error @ CallError::Deadline { .. })) => CheckResult::Hang {
            failure: failure(&error),
        },
        Err(Stop::Access(error)) => CheckResult::Error {
            failure: failure(&error),
        },
    }
}

impl Checked {
    pub(super) fn plain(result: CheckResult) -> Self {
        Self {
            result,
            compared_by: "none".to_owned(),
            bytes: 0,
            windows: 0,
            spread_bytes: 0,
        }
    }

    pub(super) fn of(result: CheckResult, compared_by: &str, owner: &Place) -> Self {
        Self::over(result, compared_by, owner.layout())
    }

    pub(super) fn over(result: CheckResult, compared_by: &str, layout: Layout) -> Self {
        Self {
            result,
            compared_by: compared_by.to_owned(),
            bytes: layout.data_bytes(),
            windows: WINDOWS,
            spread_bytes: layout.spread_bytes(),
        }
    }
}

pub(super) fn mismatch(windows: Windows<'_>, wrong: Wrong, in_guard: bool) -> Mismatch {
    Mismatch {
        first_offset: windows.offset_of(wrong.first_word),
        words: wrong.words,
        in_guard,
        untouched: false,
        writer_sees_it: None,
    }
}

/// Codes that leave the context as it was: refusals of a call's arguments, of peer access, of memory, of the PTX, and
/// what the driver does not find. Any other one may be sticky, and then every later call returns it too.
const HARMLESS: [i32; 18] = [
    1, 2, 101, 200, 205, 209, 217, 218, 221, 222, 223, 302, 303, 500, 704, 705, 711, 801,
];

pub(super) fn failure(error: &CallError) -> CallFailure {
    let code = error.code();
    let poisoned = match error {
        CallError::Code { code, .. } => !HARMLESS.contains(code),
        CallError::Deadline { .. } => true,
        CallError::Missing { .. } | CallError::Refused { .. } | CallError::QueuedLate { .. } => false,
    };
    CallFailure {
        call: error.call().to_owned(),
        code: code.map(|(code, _)| code),
        code_name: code.map(|(_, name)| name.to_owned()),
        message: error.to_string(),
        reason_code: None,
        poisoned,
    }
}
