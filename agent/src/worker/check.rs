//! One check between two prepared GPUs. The GPU whose memory received the data compares it.

use std::time::Duration;

use kb_core::report::Mismatch;

use crate::gpu::{CallError, Pattern, Window, Wrong};

use super::place::{Place, failure};
use super::protocol::{CheckKind, CheckResult, Checked};

/// Sets the guards' pattern apart from the data's.
const GUARD_SEED: u64 = 0x6775_6172_645f_7a6f;

/// Where a check stopped.
enum Stop {
    /// Before the access: nothing is shown about it.
    Before(CallError),
    /// In the access, or in what follows it.
    Access(CallError),
}

fn before(error: CallError) -> Stop {
    Stop::Before(error)
}

fn access(error: CallError) -> Stop {
    Stop::Access(error)
}

/// Makes the check.
pub(super) fn run(kind: CheckKind, initiator: &Place, owner: &Place, seed: u64, limit: Duration) -> Checked {
    let pattern = Pattern {
        seed,
        complement: false,
    };
    let pair = Between {
        initiator,
        owner,
        pattern,
        limit,
    };
    let bytes = owner.data().map_or(0, |data| data.bytes() as u64);
    if let (CheckKind::SmStore | CheckKind::SmLoad, Some(error)) = (kind, initiator.without_kernels()) {
        let reason = format!("no kernel can run on the initiator, so only copy engines were used: {error}");
        return checked(CheckResult::Skipped { reason }, "none", 0);
    }
    let (outcome, checked_by, bytes) = match kind {
        CheckKind::EnablePeerAccess => (pair.enable(), "none", 0),
        CheckKind::CopyPush => (pair.copy_push(), owner.compared_by(), bytes),
        CheckKind::CopyPull => (pair.copy_pull(), initiator.compared_by(), bytes),
        CheckKind::SmStore => (pair.sm_store(), owner.compared_by(), bytes),
        CheckKind::SmLoad => (pair.sm_load(), "initiator_kernel", bytes),
    };
    let result = match outcome {
        Ok(None) => CheckResult::Pass,
        Ok(Some(mismatch)) => CheckResult::Wrong { mismatch },
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
    };
    checked(result, checked_by, bytes)
}

fn checked(result: CheckResult, checked_by: &str, bytes: u64) -> Checked {
    Checked {
        result,
        compared_by: checked_by.to_owned(),
        bytes,
    }
}

/// An initiator, an owner, and the pattern of this check.
struct Between<'a> {
    initiator: &'a Place,
    owner: &'a Place,
    pattern: Pattern,
    limit: Duration,
}

impl Between<'_> {
    fn enable(&self) -> Result<Option<Mismatch>, Stop> {
        let context = &self.initiator.context;
        match context.enable_peer_access(&self.owner.context) {
            // 704: enabled already. In a worker of our own that is what was asked for.
            Err(error) if error.code().map(|(code, _)| code) != Some(704) => Err(access(error)),
            _ => Ok(None),
        }
    }

    /// The initiator's copy engine writes into the owner's memory; the owner looks.
    fn copy_push(&self) -> Result<Option<Mismatch>, Stop> {
        self.expose(self.owner).map_err(before)?;
        let source = self.initiator.data().map_err(before)?;
        self.initiator.fill(source, self.pattern).map_err(before)?;

        let target = self.owner.data().map_err(before)?;
        let stream = &self.initiator.stream;
        stream.copy(target, source, self.limit).map_err(access)?;
        let wrong = self.inspect(self.owner).map_err(access)?;
        Ok(wrong.map(|wrong| with_writers_view(wrong, || self.reads_back_by_copy())))
    }

    /// The initiator's copy engine reads the owner's memory into its own; the initiator, who owns the target, looks.
    fn copy_pull(&self) -> Result<Option<Mismatch>, Stop> {
        self.expose(self.initiator).map_err(before)?;
        let source = self.owner.data().map_err(before)?;
        self.owner.fill(source, self.pattern).map_err(before)?;

        let target = self.initiator.data().map_err(before)?;
        let stream = &self.initiator.stream;
        stream.copy(target, source, self.limit).map_err(access)?;
        self.inspect(self.initiator).map_err(access)
    }

    /// A kernel of the initiator stores into the owner's memory and fences the system; the owner looks.
    fn sm_store(&self) -> Result<Option<Mismatch>, Stop> {
        self.expose(self.owner).map_err(before)?;
        let kernels = self.initiator.kernels().map_err(before)?;
        let target = self.owner.data().map_err(before)?;
        let stream = &self.initiator.stream;
        let stored = kernels.fill(stream, target, self.pattern, self.limit);
        stored.map_err(access)?;
        let wrong = self.inspect(self.owner).map_err(access)?;
        let reads_back = || {
            let seen = kernels.check(stream, target, self.pattern, self.limit)?;
            Ok(seen.is_none())
        };
        Ok(wrong.map(|wrong| with_writers_view(wrong, reads_back)))
    }

    /// A kernel of the initiator loads what the owner wrote; only the loading kernel can compare it.
    fn sm_load(&self) -> Result<Option<Mismatch>, Stop> {
        let kernels = self.initiator.kernels().map_err(before)?;
        let source = self.owner.data().map_err(before)?;
        self.owner.fill(source, self.pattern).map_err(before)?;
        let stream = &self.initiator.stream;
        let wrong = kernels.check(stream, source, self.pattern, self.limit);
        Ok(wrong.map_err(access)?.map(|wrong| mismatch(wrong, false)))
    }

    /// Puts the complement of the pattern into the zone that is to receive it, and another pattern into its guards.
    fn expose(&self, receiver: &Place) -> Result<(), CallError> {
        for guard in receiver.guards()? {
            receiver.fill(guard, self.guard_pattern())?;
        }
        receiver.fill(receiver.data()?, self.complement())
    }

    /// The receiver compares its own memory.
    fn inspect(&self, receiver: &Place) -> Result<Option<Mismatch>, CallError> {
        let data: Window<'_> = receiver.data()?;
        if let Some(wrong) = receiver.compare(data, self.pattern)? {
            let untouched = receiver.compare(data, self.complement())?.is_none();
            return Ok(Some(Mismatch {
                untouched,
                ..mismatch(wrong, false)
            }));
        }
        for guard in receiver.guards()? {
            if let Some(wrong) = receiver.compare(guard, self.guard_pattern())? {
                return Ok(Some(mismatch(wrong, true)));
            }
        }
        Ok(None)
    }

    /// Whether the initiator, copying back from where it wrote, gets its own data.
    fn reads_back_by_copy(&self) -> Result<bool, CallError> {
        let own = self.initiator.data()?;
        self.initiator.fill(own, self.complement())?;
        self.initiator.stream.copy(own, self.owner.data()?, self.limit)?;
        Ok(self.initiator.compare(own, self.pattern)?.is_none())
    }

    fn complement(&self) -> Pattern {
        Pattern {
            complement: true,
            ..self.pattern
        }
    }

    fn guard_pattern(&self) -> Pattern {
        Pattern {
            seed: self.pattern.seed ^ GUARD_SEED,
            complement: false,
        }
    }
}

/// Adds what the writer sees. Not where the guards are wrong: the data is right then, and the writer sees it.
fn with_writers_view(wrong: Mismatch, reads_back: impl FnOnce() -> Result<bool, CallError>) -> Mismatch {
    let writer_sees_it = if wrong.in_guard { None } else { reads_back().ok() };
    Mismatch {
        writer_sees_it,
        ..wrong
    }
}

fn mismatch(wrong: Wrong, in_guard: bool) -> Mismatch {
    Mismatch {
        first_offset: wrong.first_word.saturating_mul(4),
        words: wrong.words,
        in_guard,
        untouched: false,
        writer_sees_it: None,
    }
}
