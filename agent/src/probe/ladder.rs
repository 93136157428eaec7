//! The functional ladder for one direction: rungs 2 to 6, each failure repeated alone in fresh processes.

use std::time::Instant;

use kb_core::report::{Check, Direction, Engine, GapKind, Outcome, ReasonCode};

use crate::gpu::Nonce;
use crate::worker::protocol::{CheckKind, DirectionFacts, Way};

use super::across::Across;
use super::attempt::{Attempt, merge, unrepeated};
use super::progress::{PairStep, Progress, Step};
use super::session::Session;
use super::setup::{SPENT, Setup};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trial {
    Within(CheckKind),
    Across(Way),
}

/// Rungs 2 to 4: what one direction shows by itself.
pub(super) const LOWER: [Trial; 6] = [
    Trial::Within(CheckKind::EnablePeerAccess),
    Trial::Within(CheckKind::CopyPush),
    Trial::Within(CheckKind::CopyPull),
    Trial::Within(CheckKind::SmStore),
    Trial::Within(CheckKind::SmLoad),
    Trial::Within(CheckKind::SmAtomic),
];
/// Rungs 5 and 6.
pub(super) const UPPER: [Trial; 3] = [
    Trial::Within(CheckKind::ResidentExchange),
    Trial::Across(Way::Legacy),
    Trial::Across(Way::Vmm),
];

impl Trial {
    fn rung(self) -> u8 {
        match self {
            Self::Within(kind) => kind.rung(),
            Self::Across(_) => 6,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Within(kind) => kind.name(),
            Self::Across(Way::Legacy) => "ipc_legacy",
            Self::Across(Way::Vmm) => "ipc_vmm",
        }
    }

    fn engine(self) -> Engine {
        match self {
            Self::Within(kind) => kind.engine(),
            Self::Across(_) => Engine::Ipc,
        }
    }

    /// Sets its patterns apart from those of the others.
    fn number(self) -> u32 {
        match self {
            Self::Within(kind) => kind as u32,
            Self::Across(Way::Legacy) => 16,
            Self::Across(Way::Vmm) => 17,
        }
    }
}

pub(super) struct Ascent {
    pub(super) initiator: u32,
    pub(super) owner: u32,
    facts: DirectionFacts,
    checks: Vec<Check>,
    /// The rung that it did not pass, and why it went no further.
    pub(super) stopped: Option<(u8, String)>,
}

impl Ascent {
    pub(super) fn new(initiator: u32, owner: u32, facts: DirectionFacts) -> Self {
        Self {
            initiator,
            owner,
            facts,
            checks: Vec::new(),
            stopped: None,
        }
    }

    pub(super) fn granted(&self) -> bool {
        self.facts.can_access_peer.value == Some(true)
    }

    pub(super) fn into_direction(self) -> Direction {
        Direction {
            initiator: self.initiator,
            owner: self.owner,
            can_access_peer: self.facts.can_access_peer,
            nvml: self.facts.nvml,
            cuda_attributes: self.facts.cuda_attributes,
            checks: self.checks,
        }
    }

    /// Why atomics are not asked for: they count only where the driver promises them.
    fn without_atomics(&self, trial: Trial) -> Option<LeftOut> {
        if trial != Trial::Within(CheckKind::SmAtomic) {
            return None;
        }
        let (initiator, owner) = (self.initiator, self.owner);
        let promised = self.facts.cuda_attributes.get("native_atomic_supported")?;
        match (promised.value, &promised.gap) {
            (Some(0), _) => Some(LeftOut::not_supported(&format!(
                "the driver says that GPU {initiator} has no native atomics on the memory of GPU {owner}"
            ))),
            (Some(_), _) => None,
            (None, Some(gap)) if gap.kind == GapKind::NotSupported => Some(LeftOut::not_supported(&format!(
                "the driver does not say whether GPU {initiator} has native atomics on the memory of GPU {owner}: {}",
                gap.reason
            ))),
            (None, gap) => Some(LeftOut::plain(format!(
                "whether GPU {initiator} has native atomics on the memory of GPU {owner} is not known: {}",
                gap.as_ref()
                    .map_or("no reason was given", |gap| gap.reason.as_str())
            ))),
        }
    }
}

pub(super) struct Climb<'a> {
    pub(super) setup: &'a Setup,
    pub(super) run: u64,
    pub(super) progress: &'a dyn Progress,
}

impl Climb<'_> {
    /// Climbs until something does not pass and skips what lies above. `other`: why the opposite direction went no further.
    pub(super) fn climb(
        &self,
        session: &mut Session<'_>,
        pair: PairStep,
        ascent: &mut Ascent,
        trials: &[Trial],
        other: Option<&str>,
    ) {
        for trial in trials.iter().copied() {
            if self.setup.is_spent() && ascent.stopped.is_none() {
                ascent.stopped = Some((0, SPENT.to_owned()));
            }
            let made = if let Some(LeftOut { reason, code }) = left_out(ascent, trial, other) {
                check(trial, Attempt::skipped(reason).coded(code), 0.0, false)
            } else {
                self.progress.step(Step::Checking {
                    pair,
                    initiator: ascent.initiator,
                    owner: ascent.owner,
                    rung: trial.rung(),
                    check: trial.name(),
                });
                self.once_or_again(session, trial, ascent)
            };
            let goes_on = matches!(
                made.outcome,
                Outcome::Pass | Outcome::PassAlone | Outcome::Skipped
            );
            if !goes_on && ascent.stopped.is_none() {
                ascent.stopped = Some((trial.rung(), format!("{} did not pass", trial.name())));
            }
            ascent.checks.push(made);
        }
    }

    fn once_or_again(&self, session: &mut Session<'_>, trial: Trial, ascent: &Ascent) -> Check {
        let start = Instant::now();
        let first = self.attempt(session, trial, ascent, 0);
        let refused_as_announced = trial == Trial::Within(CheckKind::EnablePeerAccess)
            && ascent.facts.can_access_peer.value == Some(false)
            && first.code.is_some();
        let settled = matches!(first.outcome, Outcome::Pass | Outcome::Skipped) || refused_as_announced;
        if settled || self.setup.is_spent() {
            return check(trial, first, start.elapsed().as_secs_f64(), false);
        }

        // Alone means alone: the other processes go first, for in exclusive compute mode they would stand in the way.
        session.end();
        let start = Instant::now();
        let mut alone = session.alone();
        let second = self.attempt(&mut alone, trial, ascent, 1);
        alone.end();
        session.stuck.append(&mut alone.stuck);
        let seconds = start.elapsed().as_secs_f64();
        if second.shows_nothing() && !first.shows_nothing() {
            return check(trial, unrepeated(first, &second), seconds, false);
        }
        check(trial, merge(&first, second), seconds, true)
    }

    fn attempt(&self, session: &mut Session<'_>, trial: Trial, ascent: &Ascent, attempt: u32) -> Attempt {
        let (initiator, owner) = (ascent.initiator, ascent.owner);
        let nonce = Nonce {
            run: self.run,
            initiator,
            owner,
            rung: u32::from(trial.rung()),
            check: trial.number(),
            attempt,
        };
        match trial {
            Trial::Within(kind) => session.check(initiator, owner, kind, nonce.seed()),
            Trial::Across(way) => session.check_across(Across {
                initiator,
                owner,
                way,
                seed: nonce.seed(),
                next_seed: Nonce {
                    check: trial.number() + 16,
                    ..nonce
                }
                .seed(),
            }),
        }
    }
}

struct LeftOut {
    reason: String,
    code: Option<ReasonCode>,
}

impl LeftOut {
    fn plain(reason: String) -> Self {
        Self { reason, code: None }
    }

    fn not_supported(why: &str) -> Self {
        Self {
            reason: format!("not supported: {why}"),
            code: Some(ReasonCode::NotSupported),
        }
    }
}

fn left_out(ascent: &Ascent, trial: Trial, other: Option<&str>) -> Option<LeftOut> {
    // Both ways of rung 6 are tried: that one of them works is worth knowing.
    if let Some((rung, reason)) = &ascent.stopped
        && !(*rung == 6 && trial.rung() == 6)
    {
        return Some(LeftOut::plain(reason.clone()));
    }
    if let (Trial::Within(CheckKind::ResidentExchange), Some(reason)) = (trial, other) {
        let reason = format!("it needs access the other way too, where {reason}");
        return Some(LeftOut::plain(reason));
    }
    ascent.without_atomics(trial)
}

fn check(trial: Trial, attempt: Attempt, seconds: f64, rerun: bool) -> Check {
    Check {
        rung: trial.rung(),
        name: trial.name().to_owned(),
        engine: trial.engine(),
        outcome: attempt.outcome,
        reason: attempt.reason,
        reason_code: attempt.reason_code,
        earlier_code: attempt.earlier_code,
        call: attempt.call,
        code: attempt.code,
        code_name: attempt.code_name,
        checked_by: attempt.checked_by,
        bytes: attempt.bytes,
        windows: attempt.windows,
        spread_bytes: attempt.spread_bytes,
        mismatch: attempt.mismatch,
        seconds,
        rerun,
    }
}
