//! A GPU by itself, where it has no peer: a kernel of ours in its own memory, and a copy back.

use kb_core::report::{Fact, Failure, Gpu, Outcome, fact_name};
use kb_core::verdict::cause;

use crate::gpu::Nonce;
use crate::worker::protocol::CheckKind;

use super::attempt::Attempt;
use super::session::Session;
use super::setup::Setup;

pub(super) struct OwnMemory {
    gpu: u32,
    attempt: Attempt,
}

impl OwnMemory {
    /// Checks a GPU, and once more in a fresh process where that shows something wrong.
    pub(super) fn check(setup: &Setup, session: &mut Session<'_>, gpu: u32, run: u64) -> Self {
        let nonce = Nonce {
            run,
            initiator: gpu,
            owner: gpu,
            rung: u32::from(CheckKind::OwnMemory.rung()),
            check: CheckKind::OwnMemory as u32,
            attempt: 0,
        };
        let first = session.check_own(gpu, nonce.seed());
        let settled = first.outcome == Outcome::Pass || first.shows_nothing();
        if settled || setup.is_spent() {
            return Self { gpu, attempt: first };
        }
        session.end();
        let mut fresh = session.alone();
        let second = fresh.check_own(gpu, Nonce { attempt: 1, ..nonce }.seed());
        fresh.end();
        session.stuck.append(&mut fresh.stuck);
        Self {
            gpu,
            attempt: of_both(first, second),
        }
    }

    /// Says in the GPU's facts that it passed, or gives the failure. `gpus` are marked as shared or not.
    pub(super) fn tell(self, gpus: &mut [Gpu]) -> Option<Failure> {
        let Self { gpu, attempt } = self;
        let position = usize::try_from(gpu).ok()?;
        if attempt.outcome == Outcome::Pass {
            let facts = &mut gpus.get_mut(position)?.facts;
            let source = "a kernel filled it, and the host compared copies of it";
            let bytes = Fact::read(attempt.bytes.into(), source);
            facts.insert(fact_name::OWN_MEMORY_CHECKED_BYTES.to_owned(), bytes);
            return None;
        }
        let shared = gpus.get(position)?.facts.get(fact_name::SHARED);
        let is_shared = shared.is_some_and(|fact| fact.value == Some(true.into()));
        let mut message = format!("GPU {gpu} by itself: {}", attempt.why());
        let cause = match attempt.outcome {
            // The other's work goes first, and kernels of two processes take turns.
            Outcome::Hang if is_shared => {
                message += "; somebody else uses it, which may be why";
                Some(cause::GPU_BUSY)
            }
            Outcome::Hang => Some(cause::HANG),
            Outcome::Fail if attempt.mismatch.is_some() => Some(cause::DATA_MISMATCH),
            Outcome::Fail if attempt.code.is_some() => Some(cause::ACCESS_FAILS),
            Outcome::Fail => Some(cause::PROCESS_DIES),
            _ => None,
        };
        Some(Failure {
            code: attempt.code,
            code_name: attempt.code_name,
            reason_code: attempt.reason_code,
            cause: cause.map(str::to_owned),
            ..Failure::new(Failure::OWN_MEMORY, &message)
        })
    }
}

/// Wrong data was wrong, and a memory error is no chance. Another failure that does not come back shows nothing.
fn of_both(first: Attempt, second: Attempt) -> Attempt {
    const ECC_UNCORRECTABLE: i32 = 214;
    if second.outcome == Outcome::Pass {
        let stays = first.mismatch.is_some() || first.code == Some(ECC_UNCORRECTABLE);
        let reason = Some(format!("{}; it passed when it was repeated", first.why()));
        let outcome = if stays {
            first.outcome
        } else {
            Outcome::Inconclusive
        };
        return Attempt {
            outcome,
            reason,
            ..first
        };
    }
    if second.shows_nothing() { first } else { second }
}
