//! Whom a failing arm blames: the pairs by their rung 7, or the run where no pair can be named.

use kb_core::report::{Check, Engine, Failure, GpuIndex, NcclArm, NcclVerdict, Outcome, Pair, ReasonCode};

use super::Shown;
use super::arms::{self, functional, weigh};
use super::ranks::Stage;
use super::restriction::Limit;
use crate::probe::Found;
use crate::probe::failure::failure_of;
use crate::probe::progress::{Progress, Step};

const RUNG: u8 = 7;

#[derive(Clone, Copy)]
pub(super) struct Over<'a> {
    pub(super) gpus: &'a [GpuIndex],
    pub(super) limit: Option<&'a Limit>,
}

pub(super) fn left_out(found: &Found, limit: Option<&Limit>, gpus: &[GpuIndex]) -> Vec<(GpuIndex, GpuIndex)> {
    let Some(limit) = limit else {
        return Vec::new();
    };
    let among = |pair: &&Pair| gpus.contains(&pair.a) && gpus.contains(&pair.b);
    let pairs = found.pairs.iter().filter(among);
    let out = pairs.filter(|pair| limit.allows(pair) == Some(false));
    out.map(|pair| (pair.a, pair.b)).collect()
}

pub(super) fn conclude(
    found: &mut Found,
    arms: &[NcclArm],
    (verdict, reason): (NcclVerdict, &str),
    over: Over<'_>,
) {
    let gpus = over.gpus;
    let with = arms.iter().find(|arm| arm.peer_access);
    let mut noted = false;
    if let Some(with) = with
        && (with.outcome == Outcome::Pass || verdict == NcclVerdict::PeerAccessFails)
    {
        for (at, a) in gpus.iter().enumerate() {
            for b in gpus.iter().skip(at + 1) {
                noted |= note(found, (*a, *b), with, (over.limit, false));
            }
        }
    }
    let blame = match verdict {
        // No pair has peer access by the driver's word, or it would have been blamed.
        NcclVerdict::PeerAccessFails if !noted => with,
        NcclVerdict::Inconclusive => arms.iter().find(|arm| arm.outcome != Outcome::Pass),
        _ => None,
    };
    // The run's time came to its end: that is no failure of NCCL's.
    let out_of_time = arms
        .iter()
        .any(|arm| arm.outcome == Outcome::Skipped || arm.reason_code == Some(ReasonCode::TimeSpent));
    if let Some(arm) = blame.filter(|_| !out_of_time) {
        found.failures.push(of_arm(arm, reason));
    }
}

pub(super) fn one_by_one(
    found: &mut Found,
    shown: &mut Shown,
    stage: &Stage<'_>,
    over: Over<'_>,
    progress: &dyn Progress,
) {
    let gpus = over.gpus;
    let mut blamed = false;
    let mut why =
        "NCCL fails with peer access over all GPUs together, and not between any two of them that have it";
    for (at, a) in gpus.iter().enumerate() {
        for b in gpus.iter().skip(at + 1) {
            if stage.setup.is_spent() {
                why = "NCCL fails with peer access; the time of the run was spent before it was known between which GPUs";
                continue;
            }
            let pair = [*a, *b];
            let mut arm = |peer_access| {
                progress.step(Step::Collectives { gpus: 2, peer_access });
                shown.take(found, functional(stage, &pair, peer_access))
            };
            let with = arm(true);
            let fails = with.outcome != Outcome::Pass;
            if fails && weigh(with.outcome, arm(false).outcome) != NcclVerdict::PeerAccessFails {
                continue;
            }
            let noted = note(found, (*a, *b), &with, (over.limit, true));
            blamed |= fails && noted;
        }
    }
    if !blamed && let Some(together) = shown.arms.first() {
        found.failures.push(of_arm(together, why));
    }
}

/// Rung 7 of a pair, where the driver grants access and nothing keeps NCCL from it; false elsewhere and where unknown.
fn note(
    found: &mut Found,
    (a, b): (GpuIndex, GpuIndex),
    arm: &NcclArm,
    (limit, rerun): (Option<&Limit>, bool),
) -> bool {
    let Some(pair) = found.pairs.iter_mut().find(|pair| (pair.a, pair.b) == (a, b)) else {
        return false;
    };
    let granted = pair
        .directions
        .iter()
        .all(|of| of.can_access_peer.value == Some(true));
    if !granted || limit.is_some_and(|limit| limit.allows(pair) != Some(true)) {
        return false;
    }
    for direction in &mut pair.directions {
        direction.checks.push(Check {
            rung: RUNG,
            name: "nccl".to_owned(),
            engine: Engine::Nccl,
            outcome: arm.outcome,
            reason: arm.reason.clone(),
            reason_code: arm.reason_code,
            earlier_code: None,
            call: arm.call.clone(),
            // Another table of codes than the driver's, whose codes decide verdicts; the arm has it.
            code: None,
            code_name: arm.code_name.clone(),
            checked_by: "owner_copy".to_owned(),
            bytes: arms::BYTES,
            windows: 0,
            spread_bytes: 0,
            mismatch: None,
            seconds: arm.seconds,
            rerun,
        });
    }
    granted
}

fn of_arm(arm: &NcclArm, message: &str) -> Failure {
    Failure {
        // As in [`note`]: ncclSystemError would be read as the driver's 2, memory that is full.
        code: None,
        code_name: arm.code_name.clone(),
        ..failure_of(arm.call.as_deref().unwrap_or("NCCL"), message.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(peer_access: bool, outcome: Outcome, reason_code: Option<ReasonCode>) -> NcclArm {
        NcclArm {
            gpus: vec![0, 1],
            peer_access,
            outcome,
            reason: Some("it failed".to_owned()),
            reason_code,
            call: Some("ncclAllReduce".to_owned()),
            code: Some(2),
            code_name: Some("ncclSystemError".to_owned()),
            seconds: 1.0,
        }
    }

    /// Failures of the run, where no pair can be blamed.
    fn failures(with: (Outcome, Option<ReasonCode>), without: (Outcome, Option<ReasonCode>)) -> Vec<Failure> {
        let mut found = Found::nothing(failure_of("test", String::new()));
        found.failures.clear();
        let arms = [arm(true, with.0, with.1), arm(false, without.0, without.1)];
        let verdict = weigh(with.0, without.0);
        let over = Over {
            gpus: &[0, 1],
            limit: None,
        };
        conclude(&mut found, &arms, (verdict, "why"), over);
        found.failures
    }

    #[test]
    fn a_failure_that_blames_no_pair_is_one_of_the_run() {
        let failures = failures((Outcome::Fail, None), (Outcome::Pass, None));
        let told: Vec<_> = failures
            .iter()
            .map(|failure| (failure.step.as_str(), failure.code, failure.message.as_str()))
            .collect();
        assert_eq!(told, [("ncclAllReduce", None, "why")]);
    }

    #[test]
    fn only_an_arm_without_its_time_excuses_the_run() {
        let hang = (Outcome::Hang, None);
        assert_eq!(failures(hang, hang).len(), 1);
        for late in [
            (Outcome::Skipped, None),
            (Outcome::Inconclusive, Some(ReasonCode::TimeSpent)),
        ] {
            assert!(failures(hang, late).is_empty(), "{late:?}");
        }
    }
}
