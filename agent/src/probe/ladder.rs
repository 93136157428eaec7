//! The functional ladder for one direction: rungs 2 to 4, each failure repeated alone in a fresh worker.

use std::time::Instant;

use kb_core::report::{Check, Direction, Outcome};

use crate::worker::protocol::{CheckKind, DirectionFacts, Opened};

use super::attempt::Attempt;
use super::pattern::Nonce;
use super::progress::{PairStep, Progress, Step};
use super::session::{SPENT, Session, Setup};

/// What the ladder of one direction needs beside the session.
pub(super) struct Climb<'a> {
    pub(super) setup: &'a Setup,
    pub(super) opened: &'a Opened,
    /// Random number of the run.
    pub(super) run: u64,
    /// Told of every check.
    pub(super) progress: &'a dyn Progress,
}

impl Climb<'_> {
    /// Climbs until something does not pass; what lies above is skipped and says so.
    pub(super) fn direction(
        &self,
        session: &mut Session<'_>,
        pair: PairStep,
        (initiator, owner): (u32, u32),
        facts: DirectionFacts,
    ) -> Direction {
        let granted = facts.can_access_peer.value;
        let mut checks = Vec::new();
        let mut stopped: Option<String> = None;
        for (position, kind) in (0_u32..).zip(CheckKind::LADDER) {
            if stopped.is_none() && self.setup.is_spent() {
                stopped = Some(SPENT.to_owned());
            }
            if let Some(reason) = &stopped {
                checks.push(check(kind, Attempt::skipped(reason), 0.0, false));
                continue;
            }
            self.progress.step(Step::Checking {
                pair,
                initiator,
                owner,
                rung: kind.rung(),
                check: kind.name(),
            });
            let nonce = Nonce {
                run: self.run,
                initiator,
                owner,
                check: position,
                attempt: 0,
            };
            let made = self.once_or_again(session, kind, nonce, granted);
            if !matches!(
                made.outcome,
                Outcome::Pass | Outcome::PassAlone | Outcome::Skipped
            ) {
                stopped = Some(format!("{} did not pass", kind.name()));
            }
            checks.push(made);
        }
        Direction {
            initiator,
            owner,
            can_access_peer: facts.can_access_peer,
            nvml: facts.nvml,
            cuda_attributes: facts.cuda_attributes,
            checks,
        }
    }

    fn once_or_again(
        &self,
        session: &mut Session<'_>,
        kind: CheckKind,
        nonce: Nonce,
        granted: Option<bool>,
    ) -> Check {
        let start = Instant::now();
        let Nonce { initiator, owner, .. } = nonce;
        let first = session.check(initiator, owner, kind, nonce.seed());
        let refused_as_announced =
            kind == CheckKind::EnablePeerAccess && granted == Some(false) && first.code.is_some();
        let settled = matches!(first.outcome, Outcome::Pass | Outcome::Skipped) || refused_as_announced;
        if settled || self.setup.is_spent() {
            return check(kind, first, start.elapsed().as_secs_f64(), false);
        }

        // Alone means alone: the other worker goes first, for in exclusive compute mode it would stand in the way.
        session.end();
        let start = Instant::now();
        let mut alone = Session::new(self.setup, Some(self.opened));
        let seed = Nonce { attempt: 1, ..nonce }.seed();
        let second = alone.check(initiator, owner, kind, seed);
        alone.end();
        session.stuck.append(&mut alone.stuck);
        let seconds = start.elapsed().as_secs_f64();
        if shows_nothing(second.outcome) && !shows_nothing(first.outcome) {
            return check(kind, unrepeated(first, &second), seconds, false);
        }
        check(kind, merge(&first, second), seconds, true)
    }
}

fn shows_nothing(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Skipped | Outcome::NotVisible | Outcome::Inconclusive | Outcome::Unrecognised
    )
}

/// What the run over all pairs saw stands where repeating it alone shows nothing: wrong data was wrong.
fn unrepeated(first: Attempt, second: &Attempt) -> Attempt {
    let seen = first.reason.as_deref().unwrap_or(NO_REASON);
    let alone = second.reason.as_deref().unwrap_or(NO_REASON);
    Attempt {
        reason: Some(format!("{seen}; repeating it alone showed nothing: {alone}")),
        ..first
    }
}

const NO_REASON: &str = "no reason was given";

/// The second result counts; passing only alone is an outcome of its own.
fn merge(first: &Attempt, second: Attempt) -> Attempt {
    let before = first.reason.as_deref().unwrap_or(NO_REASON);
    match second.outcome {
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
            let alone = second.reason.as_deref().unwrap_or(NO_REASON);
            Attempt {
                reason: Some(format!("{alone}; in the run over all pairs: {before}")),
                ..second
            }
        }
    }
}

fn check(kind: CheckKind, attempt: Attempt, seconds: f64, rerun: bool) -> Check {
    Check {
        rung: kind.rung(),
        name: kind.name().to_owned(),
        engine: kind.engine(),
        outcome: attempt.outcome,
        reason: attempt.reason,
        call: attempt.call,
        code: attempt.code,
        code_name: attempt.code_name,
        checked_by: attempt.checked_by,
        bytes: attempt.bytes,
        windows: 0,
        spread_bytes: 0,
        mismatch: attempt.mismatch,
        seconds,
        rerun,
    }
}
