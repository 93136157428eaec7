//! `probe --simulate`: what would be said of a machine that is made up.

use anyhow::Context as _;
use kb_core::simulate::{About, Machine, report};

use super::{InputError, print, print_table, say_reason};
use crate::cli::ProbeArgs;
use crate::clock::{Clock as _, SystemClock, timestamp};
use crate::output;
use crate::probe::{Chance, RANDOM_BYTES};
use crate::process::say;

/// Set where Slurm runs a prolog, an epilog or a health check.
const OF_SLURM: &str = "SLURM_SCRIPT_CONTEXT";
const GPUS: u32 = 8;

/// Shows the report of the machine, as a run would. No worker is started and no ledger is written.
pub(crate) fn show(machine: Machine, arguments: &ProbeArgs) -> anyhow::Result<u8> {
    if std::env::var_os(OF_SLURM).is_some() {
        let why =
            format!("--simulate is refused where {OF_SLURM} is set: a job's GPUs would not be looked at");
        return Err(InputError(why).into());
    }
    let mut random = [0; RANDOM_BYTES];
    getrandom::fill(&mut random).context("get random numbers")?;
    let now = timestamp(SystemClock.now());
    let about = About {
        report_id: Chance::from_random(random)?.report_id,
        node: arguments.run.node_id.clone(),
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: now.clone(),
        finished_at: now,
        gpus: GPUS,
    };
    let report = report(machine, about)?;
    if arguments.json {
        print(&output::json(&report)?)?;
    } else {
        print_table(&arguments.run, &report)?;
    }
    say(&format!(
        "simulated: the machine {} is made up, and no GPU of this node was touched",
        machine.word()
    ));
    say_reason(&report);
    Ok(arguments.run.exit_code(&report))
}
