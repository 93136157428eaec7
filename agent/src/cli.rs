//! The command line: what each verb takes, with defaults that `--help` shows.

mod admit;
mod completions;
mod config;
mod convert;
mod daemon;
mod enrol;
mod expect;
mod feedback;
mod gate;
mod matching;
mod nccl;
mod policy;
mod run;
mod upload;
mod variables;

pub(crate) use admit::AdmitArgs;
pub(crate) use completions::CompletionsArgs;
pub(crate) use config::with_file;
pub(crate) use convert::ConvertArgs;
pub(crate) use daemon::{ClearArgs, DaemonArgs, HereArgs, StateArgs, StatusArgs};
pub(crate) use enrol::EnrolArgs;
pub(crate) use feedback::{FeedbackArgs, Outcome};
pub(crate) use gate::{Asker, GateArgs};
pub(crate) use matching::{MatchArgs, MatchFailOn, SignatureArgs, WatchArgs};
use nccl::NcclArgs;
pub(crate) use policy::{PolicyArgs, PolicyVerb};
use run::seconds;
pub(crate) use run::{RunArgs, devices};
pub(crate) use upload::{BundleArgs, ServerArgs, SpoolArgs, UploadArgs};
pub(crate) use variables::strange_variables;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use kb_core::verdict::ExitCode;

use crate::host::HostRoot;
use crate::probe::{BenchOptions, NcclOptions};
use crate::upload::Redaction;
use crate::worker::serve::WorkerArgs;

/// Proves whether the GPUs of this node can reach each other's memory, and names the cause where they cannot.
#[derive(Debug, Parser)]
#[command(name = "peerless-agent", version, after_help = exit_codes())]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    // Not by clap's `env`, which takes an empty value for a wrong one.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help = "Configuration file (TOML: long options without their dashes, for one verb in [verb]) [else the one \
                that PEERLESS_CONFIG names, else /etc/peerless-agent.toml, where it is there]"
    )]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Check every pair of GPUs and print the verdict
    #[command(args_override_self = true)]
    Probe(ProbeArgs),
    /// Check every pair of GPUs, then measure bandwidths and latencies between them
    #[command(args_override_self = true)]
    Bench(BenchArgs),
    /// After a repair: check every pair, measure, load all GPUs for minutes, and say whether the node may return to service
    #[command(args_override_self = true)]
    Admit(AdmitArgs),
    /// Check every pair of GPUs and upload the report
    #[command(args_override_self = true)]
    Report(ReportArgs),
    /// Look again and again without disturbing anybody; check idle GPUs where told to
    #[command(args_override_self = true)]
    Daemon(DaemonArgs),
    /// Tell what the daemon found last, without touching the GPUs
    #[command(args_override_self = true)]
    Status(StatusArgs),
    /// Decide what is done with a result: for prolog, epilog and health check of Slurm, and for Kubernetes
    #[command(args_override_self = true)]
    Gate(GateArgs),
    /// End a fault or an event that the daemon holds open, with a reason that is kept
    #[command(args_override_self = true)]
    Clear(ClearArgs),
    /// Follow the kernel log, the journal or a file, and tell each known error
    #[command(args_override_self = true)]
    Watch(WatchArgs),
    /// Look for known errors in files, with signatures that were fetched before
    #[command(args_override_self = true)]
    Match(MatchArgs),
    /// Say what a code means on this node: by its record, by the site's policy, and what the node does then
    #[command(args_override_self = true)]
    Policy(PolicyArgs),
    /// Tell a server whether something that a record advises helped on this node
    #[command(args_override_self = true)]
    Feedback(FeedbackArgs),
    /// Get a credential for this node, which writes its reports and no others
    #[command(args_override_self = true)]
    Enrol(EnrolArgs),
    /// Upload what the spool holds, or the reports of files and bundles
    #[command(args_override_self = true)]
    Upload(UploadArgs),
    /// Write the reports of the spool into one file, to be uploaded from elsewhere
    #[command(args_override_self = true)]
    Bundle(BundleArgs),
    /// Turn what another tool printed into a report
    #[command(args_override_self = true)]
    Convert(ConvertArgs),
    /// Print a script that completes the command line of a shell
    Completions(CompletionsArgs),
    /// Print the manual page (roff)
    Man,
    /// Hold the GPUs for a parent process
    #[command(hide = true)]
    Worker(WorkerArgs),
}

impl Verb {
    /// How the verb runs over the GPUs; nothing where it does not.
    fn run(&self) -> Option<&RunArgs> {
        match self {
            Self::Probe(arguments) => Some(&arguments.run),
            Self::Bench(arguments) => Some(&arguments.run),
            Self::Admit(arguments) => Some(&arguments.run),
            Self::Report(arguments) => Some(&arguments.run),
            Self::Daemon(arguments) => Some(&arguments.run),
            _ => None,
        }
    }

    /// Why `--host-root` cannot be used by a verb that tells of the node. A gate tells it with its answer.
    pub(crate) fn check_host_root(&self) -> Result<(), String> {
        #[cfg(feature = "simulate")]
        if matches!(self, Self::Probe(arguments) if arguments.simulate.is_some()) {
            return Ok(());
        }
        let root = match self {
            Self::Status(arguments) => HostRoot::new(&arguments.here.host_root),
            Self::Enrol(arguments) => arguments.host_root(),
            Self::Feedback(arguments) => arguments.host_root(),
            Self::Convert(arguments) => HostRoot::new(&arguments.host_root),
            _ => match self.run() {
                Some(run) => run.host_root(),
                None => return Ok(()),
            },
        };
        root.check().map_err(|why| format!("--host-root: {why}"))
    }

    pub(crate) fn devices(&self) -> Option<&str> {
        self.run()?.devices.as_deref()
    }
}

fn exit_codes() -> String {
    let rows = ExitCode::ALL.map(|code| format!("\n  {:<3} {}", code.number(), code.means()));
    format!("Exit codes:{}", rows.concat())
}

#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Show what would be said of a machine that is made up, without touching a GPU or a driver: healthy, refused, lost,
    /// slow, hang or ecc
    #[cfg(feature = "simulate")]
    #[arg(long, value_name = "MACHINE", value_parser = simulated, conflicts_with_all = ["dry_run", "devices"])]
    pub(crate) simulate: Option<kb_core::simulate::Machine>,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Print the report as JSON, and nothing else, on standard output
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Measure everything: kernels both ways, all GPUs at once, sizes from 4 KiB on, latency under load
    #[arg(long)]
    full: bool,
    /// Bytes of the largest copies, in KiB [default: 262144, with --full 524288]
    #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u64).range(4..=4_194_304))]
    copy_kib: Option<u64>,
    #[command(flatten)]
    nccl: NcclArgs,
    /// Print the report as JSON, and nothing else, on standard output
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Server to upload to, by its http or https address
    #[arg(
        long,
        value_name = "URL",
        env = "PEERLESS_SERVER",
        hide_env_values = true,
        required_unless_present = "print"
    )]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) access: ServerArgs,
    /// Upload this report (JSON, or as kept in the spool) in place of making one
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Print the report that would be uploaded, and upload nothing
    #[arg(long)]
    pub(crate) print: bool,
    /// Take these out of the report, each with a mark: [host 1], [address 1], [path 1]
    #[arg(long, value_name = "WHAT", value_delimiter = ',', env = "PEERLESS_REDACT")]
    pub(crate) redact: Vec<Redaction>,
    #[command(flatten)]
    pub(crate) spool: SpoolArgs,
    /// How long to try again where the server does not answer or is busy, in seconds; behind that the report waits in
    /// the spool
    #[arg(long, value_name = "SECONDS", default_value = "0.1", value_parser = seconds)]
    pub(crate) retry_for: Duration,
}

impl BenchArgs {
    pub(crate) fn chosen(&self) -> BenchOptions {
        BenchOptions {
            full: self.full,
            bytes: self.copy_kib.map(|kib| kib * 1024),
        }
    }

    pub(crate) fn nccl(&self) -> Option<NcclOptions> {
        self.nccl.chosen(self.chosen())
    }
}

#[cfg(feature = "simulate")]
fn simulated(word: &str) -> Result<kb_core::simulate::Machine, String> {
    use kb_core::simulate::Machine;
    Machine::from_word(word).ok_or_else(|| {
        let words = Machine::ALL.map(Machine::word);
        format!("there are {}", words.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
