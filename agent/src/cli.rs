//! The command line: what each verb takes, with defaults that `--help` shows.

mod convert;
mod upload;

pub(crate) use convert::ConvertArgs;
pub(crate) use upload::{BundleArgs, ServerArgs, SpoolArgs, UploadArgs};

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use kb_core::report::Report;
use kb_core::verdict::{self, ExitCode, Expect};

use crate::host::HostRoot;
use crate::probe::Options;
use crate::upload::Redaction;
use crate::worker::lock;
use crate::worker::serve::WorkerArgs;

/// Proves whether the GPUs of this node can reach each other's memory, and names the cause where they cannot.
#[derive(Debug, Parser)]
#[command(name = "peerless-agent", version, after_help = exit_codes())]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Check every pair of GPUs and print the verdict
    #[command(args_override_self = true)]
    Probe(ProbeArgs),
    /// Check every pair of GPUs and upload the report
    #[command(args_override_self = true)]
    Report(ReportArgs),
    /// Upload what the spool holds, or the reports of files and bundles
    #[command(args_override_self = true)]
    Upload(UploadArgs),
    /// Write the reports of the spool into one file, to be uploaded from elsewhere
    Bundle(BundleArgs),
    /// Turn what another tool printed into a report
    Convert(ConvertArgs),
    /// Hold the GPUs for a parent process
    #[command(hide = true)]
    Worker(WorkerArgs),
}

/// How a run is made.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Print nothing on standard output
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Folder that stands for / where /proc, /sys and /etc are read
    #[arg(long, value_name = "DIR", default_value = "/")]
    host_root: PathBuf,
    /// Longest the whole run may take, in seconds; what is left then is skipped
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    timeout: Duration,
    /// Longest one step of a check may take before it counts as a hang, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    step_timeout: Duration,
    /// Data of each check, in KiB
    #[arg(long, value_name = "KIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(4..=1_048_576))]
    buffer_kib: u64,
    /// Lock that keeps a second agent off the GPUs [default: /run/lock/peerless-agent.lock, or one of the user's own]
    #[arg(long, value_name = "FILE", env = "PEERLESS_LOCK_FILE")]
    lock_file: Option<PathBuf>,
    /// Least that makes the exit code other than 0: a fault (2), also a warning (1), also not being able to tell (3)
    #[arg(long, value_name = "WHAT", default_value = "fault")]
    fail_on: FailOn,
    /// Pairs that must have peer access: all but those whose model has it off by policy (auto), all, those joined by
    /// NVLink (nvlink), or none. A refusal of others is shown and no fault; what is granted is proven in any case
    #[arg(long, value_name = "p2p=WHICH", default_value = "p2p=auto", value_parser = expect)]
    expect: Expect,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FailOn {
    Fault,
    Warning,
    Unknown,
}

/// The table of exit codes below `--help`.
fn exit_codes() -> String {
    let rows = ExitCode::ALL.map(|code| format!("\n  {:<3} {}", code.number(), code.means()));
    format!("Exit codes:{}", rows.concat())
}

/// `p2p=all`.
fn expect(text: &str) -> Result<Expect, String> {
    let known = Expect::ALL.into_iter().find(|(expect, _)| expect.words() == text);
    known.map(|(expect, _)| expect).ok_or_else(|| {
        let words = Expect::ALL.map(|(expect, _)| expect.words());
        format!("{text:?} is none of {}", words.join(", "))
    })
}

#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print the report as JSON, and nothing else, on standard output
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Server to upload to, by its http or https address
    #[arg(
        long,
        value_name = "URL",
        env = "PEERLESS_SERVER",
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

impl RunArgs {
    /// As the probe takes them. Fails where the agent cannot find its own binary.
    pub(crate) fn options(&self) -> std::io::Result<Options> {
        Ok(Options {
            host_root: HostRoot::new(&self.host_root),
            timeout: self.timeout,
            step_timeout: self.step_timeout,
            bytes: self.buffer_kib * 1024,
            lock_file: self.lock_file.clone().unwrap_or_else(lock::default_path),
            program: std::env::current_exe()?,
            expect: self.expect,
        })
    }

    /// The exit code that the caller gets.
    pub(crate) fn exit_code(&self, report: &Report) -> u8 {
        let fail_on = match self.fail_on {
            FailOn::Fault => verdict::FailOn::Fault,
            FailOn::Warning => verdict::FailOn::Warning,
            FailOn::Unknown => verdict::FailOn::Unknown,
        };
        fail_on.exit_code(&report.conclusion, &report.pairs)
    }
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

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn without_options_only_faults_fail_and_policy_is_no_fault() {
        let cli = Cli::try_parse_from(["peerless-agent", "probe"]).unwrap();
        let Verb::Probe(ProbeArgs { run, .. }) = cli.verb else {
            panic!("another verb");
        };
        assert!(matches!(run.fail_on, FailOn::Fault));
        assert_eq!(run.expect, Expect::Auto);
    }

    #[test]
    fn expectations_are_four() {
        assert_eq!(expect("p2p=nvlink"), Ok(Expect::Nvlink));
        for bad in ["", "nvlink", "p2p=", "p2p=All", "p2p=all "] {
            let error = expect(bad).unwrap_err();
            assert!(
                error.contains("p2p=auto, p2p=all, p2p=nvlink, p2p=none"),
                "{error}"
            );
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
