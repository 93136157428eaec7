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
mod upload;
mod variables;

pub(crate) use admit::AdmitArgs;
pub(crate) use completions::CompletionsArgs;
pub(crate) use config::with_file;
pub(crate) use convert::ConvertArgs;
pub(crate) use daemon::{ClearArgs, DaemonArgs, HereArgs, StateArgs, StatusArgs};
pub(crate) use enrol::EnrolArgs;
use expect::Expectation;
pub(crate) use feedback::{FeedbackArgs, Outcome};
pub(crate) use gate::{Asker, GateArgs};
pub(crate) use matching::{MatchArgs, SignatureArgs, WatchArgs};
use nccl::NcclArgs;
pub(crate) use upload::{BundleArgs, ServerArgs, SpoolArgs, UploadArgs};
pub(crate) use variables::strange_variables;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use kb_core::health::Scope;
use kb_core::ids::NodeId;
use kb_core::report::Report;
use kb_core::verdict::{ExitCode, FailOn};

use crate::host::HostRoot;
use crate::probe::{BenchOptions, Depth, NcclOptions, Options, names_gpus};
use crate::process::VISIBLE_GPUS;
use crate::upload::Redaction;
use crate::worker::lock;
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

    pub(crate) fn devices(&self) -> Option<&str> {
        self.run()?.devices.as_deref()
    }
}

/// How a run is made.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Print nothing on standard output
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// GPUs to look at, by nvidia-smi's numbers or by UUID, comma-separated [default: all that are visible]
    #[arg(long, value_name = "LIST", value_parser = devices)]
    pub(crate) devices: Option<String>,
    /// Say what would be taken, where and for how long, and take nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Folder that stands for / where /proc, /sys and /etc are read
    #[arg(long, value_name = "DIR", default_value = "/", env = "PEERLESS_HOST_ROOT")]
    host_root: PathBuf,
    /// Id of this node in reports [default: made from machine id and board, the same after every boot]
    #[arg(long, alias = "node", value_name = "ID", env = "PEERLESS_NODE_ID")]
    pub(crate) node_id: Option<NodeId>,
    /// Longest the whole run may take, in seconds; what is left then is skipped. Before it, at most as long is spent
    /// waiting for another agent's run
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    timeout: Duration,
    /// Longest one step of a check may take before it counts as a hang, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    step_timeout: Duration,
    /// Data of each check, in KiB
    #[arg(long, value_name = "KIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(4..=1_048_576))]
    buffer_kib: u64,
    /// Lock that keeps a second agent off the GPUs [default: /run/peerless-agent/lock, or one of the user's own]
    #[arg(long, value_name = "FILE", env = "PEERLESS_LOCK_FILE")]
    lock_file: Option<PathBuf>,
    /// What makes the exit code other than 0: fault (2), unknown (3, could not tell), warning (1). One word takes in what
    /// is worse: warning also a fault, unknown all three; of several, each counts by itself
    #[arg(long, value_name = "WHAT", default_value_t = FailOn::default())]
    fail_on: FailOn,
    /// What the node should have. gpus=N: so many GPUs that answer; fewer are a fault. p2p=WHICH: pairs that must have peer
    /// access: all but those whose model has it off by policy (auto), all, those joined by NVLink (nvlink), or none. A
    /// refusal of others is shown and no fault; what is granted is proven in any case
    #[arg(long, value_name = "gpus=N|p2p=WHICH", default_value = "p2p=auto", value_delimiter = ',', value_parser = expect::expectation)]
    expect: Vec<Expectation>,
}

fn exit_codes() -> String {
    let rows = ExitCode::ALL.map(|code| format!("\n  {:<3} {}", code.number(), code.means()));
    format!("Exit codes:{}", rows.concat())
}

/// `0,2` or `GPU-592ae3c5,GPU-645b7e67`, as `CUDA_VISIBLE_DEVICES` takes it.
pub(crate) fn devices(text: &str) -> Result<String, String> {
    if names_gpus(text) && !text.contains(' ') {
        let names = text.split(',');
        let mut once = std::collections::BTreeSet::new();
        // CUDA lists no GPU at all where one is named twice.
        return match names.into_iter().find(|name| !once.insert(*name)) {
            None => Ok(text.to_owned()),
            Some(twice) => Err(format!("{twice} is named twice in {text:?}")),
        };
    }
    Err(format!(
        "{text:?} is no list such as 0,2 or GPU-592ae3c5-d0e9-aa09-ab69-25fb91b6a20a"
    ))
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

impl RunArgs {
    /// As the probe takes them. Fails where the agent cannot find its own binary.
    pub(crate) fn options(&self, depth: Depth) -> std::io::Result<Options> {
        Ok(Options {
            host_root: HostRoot::new(&self.host_root),
            timeout: self.timeout,
            step_timeout: self.step_timeout,
            bytes: self.buffer_kib * 1024,
            lock_file: self.lock_file.clone().unwrap_or_else(lock::default_path),
            program: std::env::current_exe()?,
            expect: expect::p2p(&self.expect),
            expected_gpus: expect::gpus(&self.expect),
            devices: self.devices.clone(),
            depth,
            bench: None,
            nccl: None,
            load: None,
        })
    }

    pub(crate) fn buffer_kib(&self) -> u64 {
        self.buffer_kib
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) fn step_timeout(&self) -> Duration {
        self.step_timeout
    }

    pub(crate) fn host_root(&self) -> HostRoot {
        HostRoot::new(&self.host_root)
    }

    pub(crate) fn scope(&self) -> Scope {
        if self.devices.is_none() && std::env::var_os(VISIBLE_GPUS).is_none() {
            Scope::All
        } else {
            Scope::Part
        }
    }

    /// True where GPUs are asked for by numbers, which another one has when a GPU in front of it is gone.
    pub(crate) fn names_by_number(&self) -> bool {
        let in_environment = || std::env::var(VISIBLE_GPUS).ok();
        let asked = self.devices.clone().or_else(in_environment);
        asked.is_some_and(|asked| {
            names_gpus(&asked) && asked.starts_with(|letter: char| letter.is_ascii_digit())
        })
    }

    pub(crate) fn exit_code(&self, report: &Report) -> u8 {
        self.fail_on.exit_code(report)
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

/// A positive number of seconds, fractions allowed, of at most a day.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a number of seconds between 0.1 and 86400");
    let number: f64 = text.parse().map_err(|_| wrong())?;
    if !(0.1..=86_400.0).contains(&number) {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(number).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use kb_core::verdict::Expect;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn without_options_faults_and_doubts_fail_and_policy_is_no_fault() {
        let cli = Cli::try_parse_from(["peerless-agent", "probe"]).unwrap();
        let Verb::Probe(ProbeArgs { run, .. }) = cli.verb else {
            panic!("another verb");
        };
        assert_eq!(run.fail_on, FailOn::FAULT_AND_UNKNOWN);
        assert_eq!(
            (expect::p2p(&run.expect), expect::gpus(&run.expect)),
            (Expect::Auto, None)
        );
    }

    #[test]
    fn devices_are_numbers_or_uuids() {
        for good in ["0", "0,12", "GPU-592ae3c5,GPU-645b7e67-5884"] {
            assert_eq!(devices(good).as_deref(), Ok(good));
        }
        for bad in ["", "0,", "a", "-1", "0,GPU-1", "GPU-", "0;ls", "0,1,0"] {
            assert!(devices(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn seconds_are_bounded() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for bad in ["", "0", "-1", "x", "inf", "NaN", "1e9"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
