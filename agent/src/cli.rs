//! The command line: what each verb takes, with defaults that `--help` shows.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use kb_core::report::Report;
use kb_core::verdict;

use crate::host::HostRoot;
use crate::probe::Options;
use crate::worker::lock;
use crate::worker::serve::WorkerArgs;

/// Proves whether the GPUs of this node can reach each other's memory, and names the cause where they cannot.
#[derive(Debug, Parser)]
#[command(name = "peerless-agent", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXIT_CODES: &str = "\
Exit codes:
  0   healthy, proven in both directions for every pair
  1   warning: works, with something to look at (or the report could not be uploaded)
  2   fault: refused or broken
  3   could not tell
  64  usage or configuration error";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Check every pair of GPUs and print the verdict
    #[command(args_override_self = true)]
    Probe(ProbeArgs),
    /// Check every pair of GPUs and upload the report
    #[command(args_override_self = true)]
    Report(ReportArgs),
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
    /// Exit with 0 unless the run ends in this or worse: a fault (2), a warning (1), or not being able to tell (3).
    /// Without it every exit code is passed on
    #[arg(long, value_name = "WHAT")]
    fail_on: Option<FailOn>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FailOn {
    Fault,
    Warning,
    Unknown,
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
    #[arg(
        long,
        value_name = "FILE",
        help = "File with the API token [else the value of PEERLESS_TOKEN]"
    )]
    pub(crate) token_file: Option<PathBuf>,
    /// Certificates (PEM) to trust in place of the system's
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Upload this report (JSON, or as kept in the spool) in place of making one
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Print the report that would be uploaded, and upload nothing
    #[arg(long)]
    pub(crate) print: bool,
    /// Folder for reports that could not be uploaded [default: /var/lib/peerless-agent/spool, or one of the user's own]
    #[arg(long, value_name = "DIR", env = "PEERLESS_SPOOL")]
    pub(crate) spool: Option<PathBuf>,
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
        })
    }

    /// The exit code that the caller gets.
    pub(crate) fn exit_code(&self, report: &Report) -> u8 {
        let fail_on = match self.fail_on {
            None => return report.conclusion.verdict.exit_code(),
            Some(FailOn::Fault) => verdict::FailOn::Fault,
            Some(FailOn::Warning) => verdict::FailOn::Warning,
            Some(FailOn::Unknown) => verdict::FailOn::Unknown,
        };
        fail_on.exit_code(&report.conclusion, &report.pairs)
    }
}

/// A positive number of seconds, fractions allowed, of at most a day.
fn seconds(text: &str) -> Result<Duration, String> {
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
    fn seconds_are_bounded() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for bad in ["", "0", "-1", "x", "inf", "NaN", "1e9"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
