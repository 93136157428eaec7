//! Carries out what was decided.

use std::thread::sleep;

use crate::cli::GateArgs;
use crate::clock::{Clock as _, SystemClock};
use crate::gate::{Action, Cause, OURS, drained_before, is_as_drained};

use super::look::Looked;
use super::say;

/// Does it; what came of it in the end, or why it could not be done.
pub(super) fn act(
    arguments: &GateArgs,
    decided: Action,
    node: &str,
    looked: &Looked,
) -> Result<Action, String> {
    match decided {
        Action::Drain => {
            let action = drain(arguments, node, &looked.found.why)?;
            if action == Action::Drain {
                looked.mark();
            }
            Ok(action)
        }
        // Whoever took it out of service knows: the same result does not drain it behind the repair.
        Action::AlreadyOut { .. } => {
            looked.mark();
            Ok(decided)
        }
        Action::Hold => {
            let job = std::env::var("SLURM_JOB_ID")
                .map_err(|_| "which job is to be held is not said in SLURM_JOB_ID".to_owned())?;
            arguments.scontrol().requeue_and_hold(&job)?;
            Ok(decided)
        }
        Action::Pass | Action::Alert(_) => Ok(decided),
    }
}

/// Drains, and takes it back where too many did so at the same moment: each of them had counted before the others
/// were there. Those that stay are the same for all who look.
fn drain(arguments: &GateArgs, node: &str, why: &str) -> Result<Action, String> {
    let scontrol = arguments.scontrol();
    let reason = format!("{OURS} {}", say::short(why));
    let drained_at = SystemClock.now().unix_timestamp();
    scontrol.drain(node, &reason)?;
    sleep(arguments.settle);
    let now = SystemClock.now().unix_timestamp();
    let Ok(nodes) = scontrol.nodes() else {
        // The drain stands. Who comes later counts it.
        return Ok(Action::Drain);
    };
    let reached = drained_before(&nodes, node, now)
        .and_then(|standing| arguments.max_drained.reached(standing.nodes, standing.others));
    match reached {
        // A node that has changed meanwhile is out of service for another reason, too.
        Some(reached) if is_as_drained(&nodes, node, &reason, drained_at) => {
            scontrol.resume(node)?;
            Ok(Action::Alert(Cause::TooMany(reached)))
        }
        _ => Ok(Action::Drain),
    }
}
