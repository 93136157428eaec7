//! What `gate` takes.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::daemon::{HereArgs, StateArgs};
use super::{ServerArgs, SpoolArgs, devices, seconds};
use crate::gate::{InDoubt, Limit};
use crate::slurm::Scontrol;
use crate::upload::Redaction;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: prolog 0 the job starts, or was held; 1 it must not start (the node is drained by then). \
    epilog, health 0. condition 0 no fault was seen, 1 a fault, 2 could not tell. ready 0 it can tell, 1 it cannot. \
    64 usage or configuration error. Only a fault drains, and only with --arm."
)]
pub(crate) struct GateArgs {
    /// Who asks
    #[arg(value_name = "WHERE")]
    pub(crate) asker: Asker,
    /// Drain and hold. Without it is only said what would be done
    #[arg(long)]
    pub(crate) arm: bool,
    /// Only say what would be done, whatever the settings file says
    #[arg(long, conflicts_with = "arm")]
    pub(crate) shadow: bool,
    /// What becomes of a job before which the GPUs could not be told of
    #[arg(long, value_name = "WHAT", default_value = "alert")]
    in_doubt: InDoubtArg,
    /// Most nodes drained by this program; beyond that it only says so. A share of all nodes (rounded up), nodes in an
    /// hour, nodes in all, comma-separated: all of them hold
    #[arg(long, value_name = "LIST", default_value = "2%,3/h")]
    pub(crate) max_drained: Limit,
    /// Slurm's program
    #[arg(long, value_name = "FILE", default_value = "scontrol")]
    scontrol: PathBuf,
    /// Socket of syslog, where all goes that is not a pass
    #[arg(long, value_name = "SOCKET", default_value = "/dev/log")]
    pub(crate) log_socket: PathBuf,
    /// File for Prometheus' textfile collector, written by `gate health`
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) here: HereArgs,
    #[arg(
        long,
        value_name = "LIST",
        value_parser = devices,
        help = "The job's GPUs, for prolog and epilog [default: what Slurm says in SLURM_JOB_GPUS]"
    )]
    pub(crate) devices: Option<String>,
    /// Longest that the prolog's run may take, in seconds; at most as long again it waits for another run
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Server that gets the prolog's report
    #[arg(long, value_name = "URL", env = "PEERLESS_SERVER")]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) access: ServerArgs,
    #[command(flatten)]
    pub(crate) spool: SpoolArgs,
    /// Take these out of the report, each with a mark
    #[arg(long, value_name = "WHAT", value_delimiter = ',', env = "PEERLESS_REDACT")]
    pub(crate) redact: Vec<Redaction>,
    /// How long nodes that drain at the same moment are given to be seen by each other, in seconds. Slurm counts in
    /// whole seconds
    #[arg(long, value_name = "SECONDS", hide = true, default_value = "1.1", value_parser = seconds)]
    pub(crate) settle: Duration,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Asker {
    /// Slurm's Prolog: proves the GPUs of a job before the job gets them
    Prolog,
    /// Slurm's Epilog: looks once more, taking nothing of a GPU
    Epilog,
    /// Slurm's `HealthCheckProgram`: what the daemon found last
    Health,
    /// node-problem-detector: what the daemon found last, as a condition
    Condition,
    /// A readiness probe: whether the daemon's look tells anything
    Ready,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum InDoubtArg {
    /// It starts, and an alert is raised
    Alert,
    /// It goes back into the queue and waits for a person
    Hold,
}

impl GateArgs {
    pub(crate) fn in_doubt(&self) -> InDoubt {
        match self.in_doubt {
            InDoubtArg::Alert => InDoubt::Alert,
            InDoubtArg::Hold => InDoubt::Hold,
        }
    }

    pub(crate) fn scontrol(&self) -> Scontrol {
        Scontrol(self.scontrol.clone())
    }
}
