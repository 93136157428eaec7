//! The functional arms: one process a GPU, as programs run NCCL, since memory of other processes and /dev/shm are what
//! fails for people. Arm A as the environment has it, arm B with peer access switched off as a control.

use std::time::Instant;

use kb_core::report::{GpuIndex, NcclArm, NcclVerdict, Outcome, ReasonCode};

use crate::probe::attempt::Attempt;
use crate::probe::setup::SPENT;
use crate::probe::trouble::Trouble;
use crate::worker::handle::Stuck;
use crate::worker::protocol::{CallFailure, Collective, NcclMember, NcclRun};

use super::crowd::Crowd;
use super::ranks::{Library, Ran, Stage, Stop, run};

/// What an arm runs, each with its data compared: NCCL takes another protocol for each of the sizes, and all-to-all
/// uses the way between each two GPUs, where a ring leaves most of them out.
const STEPS: [(Collective, u64); 4] = [
    (Collective::AllReduce, 4 << 10),
    (Collective::AllReduce, 256 << 10),
    (Collective::AllReduce, BYTES),
    (Collective::Alltoall, BYTES),
];
pub(super) const BYTES: u64 = 8 << 20;

pub(super) struct Ended {
    pub(super) arm: NcclArm,
    pub(super) library: Option<Library>,
    pub(super) said: Vec<String>,
    pub(super) stuck: Vec<Stuck>,
}

pub(super) fn functional(stage: &Stage<'_>, gpus: &[GpuIndex], peer_access: bool) -> Ended {
    let start = Instant::now();
    let mut library = None;
    let (mut said, mut stuck) = (Vec::new(), Vec::new());
    let attempt = if stage.setup.is_spent() {
        Attempt::skipped(SPENT).coded(Some(ReasonCode::TimeSpent))
    } else {
        match Crowd::start(stage.setup, gpus.len(), &stage.environment(peer_access)) {
            Err(trouble) => Attempt::not_ready(&trouble),
            Ok(mut crowd) => {
                let climbed = climb(stage, &mut crowd, gpus, &mut library);
                let attempt = came_to(&climbed, crowd.cut_short);
                (said, stuck) = crowd.end(climbed.is_ok());
                attempt
            }
        }
    };
    Ended {
        arm: NcclArm {
            gpus: gpus.to_vec(),
            peer_access,
            outcome: attempt.outcome,
            reason: attempt.reason,
            reason_code: attempt.reason_code,
            call: attempt.call,
            code: attempt.code,
            code_name: attempt.code_name,
            seconds: start.elapsed().as_secs_f64(),
        },
        library,
        said,
        stuck,
    }
}

/// What is wrong with data, nothing where all is well.
fn climb(
    stage: &Stage<'_>,
    crowd: &mut Crowd<'_>,
    gpus: &[GpuIndex],
    library: &mut Option<Library>,
) -> Result<Vec<String>, Stop> {
    *library = Some(stage.open(crowd)?);
    let ranks = u32::try_from(gpus.len()).unwrap_or(u32::MAX);
    stage.join(crowd, ranks, BYTES, |process| {
        let member = |(rank, gpu): (u32, &GpuIndex)| NcclMember { rank, gpu: *gpu };
        (0..).zip(gpus).map(member).skip(process).take(1).collect()
    })?;
    for (collective, bytes) in STEPS {
        let Ran { wrong, .. } = run(
            crowd,
            NcclRun {
                collective,
                bytes,
                times: 0,
                samples: 0,
                limit_ms: stage.setup.limit_ms(),
            },
        )?;
        if !wrong.is_empty() {
            return Ok(wrong);
        }
    }
    Ok(Vec::new())
}

fn came_to(climbed: &Result<Vec<String>, Stop>, cut_short: bool) -> Attempt {
    match climbed {
        Ok(wrong) if wrong.is_empty() => Attempt {
            outcome: Outcome::Pass,
            reason: None,
            ..Attempt::skipped("")
        },
        Ok(wrong) => Attempt {
            outcome: Outcome::Fail,
            ..Attempt::skipped(wrong.join("; "))
        },
        Err(Stop::Before(trouble)) => Attempt {
            outcome: Outcome::Inconclusive,
            ..Attempt::not_ready(trouble)
        },
        Err(Stop::Nccl(trouble)) => {
            let attempt = Attempt::interrupted(trouble);
            let outcome = match trouble {
                Trouble::Call(failure) => answered(failure),
                Trouble::Worker(_) => attempt.outcome,
            };
            // NCCL's last warning stands behind the name, and in the reason.
            let name = attempt
                .code_name
                .as_ref()
                .and_then(|name| name.split(": ").next());
            let attempt = Attempt {
                outcome,
                code_name: name.map(str::to_owned),
                ..attempt
            };
            if outcome == Outcome::Hang && cut_short {
                return attempt.out_of_time();
            }
            attempt
        }
    }
}

/// Of a rank whose call failed. Only NCCL's own calls and what they began tell of NCCL: missing memory does not.
fn answered(failure: &CallFailure) -> Outcome {
    match failure.code {
        _ if !failure.call.starts_with("nccl") => Outcome::Inconclusive,
        Some(_) => Outcome::Fail,
        // Its work did not end in time.
        None if failure.poisoned => Outcome::Hang,
        None => Outcome::Inconclusive,
    }
}

pub(super) fn weigh(with: Outcome, without: Outcome) -> NcclVerdict {
    let fails = |outcome| matches!(outcome, Outcome::Fail | Outcome::Hang);
    match (with, without) {
        (Outcome::Pass, Outcome::Pass) => NcclVerdict::Ok,
        (with, Outcome::Pass) if fails(with) => NcclVerdict::PeerAccessFails,
        (Outcome::Pass, without) if fails(without) => NcclVerdict::StagingFails,
        _ => NcclVerdict::Inconclusive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_control_that_passes_blames_peer_access() {
        let (pass, fail, hang, unclear) =
            (Outcome::Pass, Outcome::Fail, Outcome::Hang, Outcome::Inconclusive);
        assert_eq!(weigh(pass, pass), NcclVerdict::Ok);
        assert_eq!(weigh(fail, pass), NcclVerdict::PeerAccessFails);
        assert_eq!(weigh(hang, pass), NcclVerdict::PeerAccessFails);
        assert_eq!(weigh(pass, hang), NcclVerdict::StagingFails);
        for (with, without) in [(fail, fail), (hang, fail), (unclear, pass), (pass, unclear)] {
            assert_eq!(
                weigh(with, without),
                NcclVerdict::Inconclusive,
                "{with:?} {without:?}"
            );
        }
    }
}
