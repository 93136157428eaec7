//! What `daemon` and `status` take.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kb_core::ids::NodeId;
use kb_core::verdict::FailOn;

use super::{RunArgs, ServerArgs, SpoolArgs, seconds};
use crate::drained::Drained;
use crate::ledger::{Folders, LAST_LOOK, LedgerFile, OF_THE_NODE, folders, owner};
use crate::upload::{Redaction, Uploader};

#[derive(Debug, Args)]
pub(crate) struct DaemonArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Server to upload to; without one the results stay in the state folder
    #[arg(long, value_name = "URL", env = "PEERLESS_SERVER", hide_env_values = true)]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) access: ServerArgs,
    /// File with a join token: a node without a credential and without another token enrols by itself
    #[arg(
        long,
        value_name = "FILE",
        requires = "server",
        env = "PEERLESS_JOIN_TOKEN_FILE"
    )]
    pub(crate) join_token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) spool: SpoolArgs,
    /// Take these out of reports, each with a mark
    #[arg(long, value_name = "WHAT", value_delimiter = ',', env = "PEERLESS_REDACT")]
    pub(crate) redact: Vec<Redaction>,
    /// Between two looks at facts, counters and the kernel log, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "900", value_parser = seconds)]
    pub(crate) interval: Duration,
    /// Also climb the whole ladder on idle GPUs. Without it no context is made and no memory of a GPU is taken
    #[arg(long)]
    pub(crate) active: bool,
    /// How long all GPUs must have been seen idle before a run, in minutes
    #[arg(long, value_name = "MINUTES", requires = "active", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=10_080))]
    pub(crate) idle_minutes: u64,
    /// Do not wait where the node is out of service and empty, and its GPUs are idle now: slurm asks `scontrol`, a
    /// file's absolute path means the node is while the file is there
    #[arg(long, value_name = "slurm|FILE", requires = "active")]
    pub(crate) drained_by: Option<Drained>,
    /// Least time between two runs of the ladder, in hours
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u64).range(0..=8_760))]
    pub(crate) active_every: u64,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// File for Prometheus' node exporter (its textfile collector), written whole each time
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics_file: Option<PathBuf>,
    /// Longest wait for one answer of the server, in seconds, 60 at most. After as long, no further report of the spool is
    /// sent in this look
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = answer_limit)]
    pub(crate) upload_within: Duration,
    /// Look once, and end
    #[arg(long)]
    pub(crate) once: bool,
}

fn answer_limit(text: &str) -> Result<Duration, String> {
    let most = Uploader::LONGEST;
    seconds(text).ok().filter(|limit| *limit <= most).ok_or_else(|| {
        let most = most.as_secs();
        format!("{text:?} is not a number of seconds between 0.1 and {most}")
    })
}

/// Where the last result lies.
#[derive(Debug, Args)]
pub(crate) struct StateArgs {
    /// Folder of the last results [default: /var/lib/peerless-agent, or one of the user's own]
    #[arg(long, value_name = "DIR", env = "PEERLESS_STATE")]
    state: Option<PathBuf>,
}

impl StateArgs {
    pub(crate) fn folder(&self) -> PathBuf {
        self.state.clone().unwrap_or_else(default_folder)
    }

    /// True where settings, environment or command line name the folder.
    pub(crate) fn is_named(&self) -> bool {
        self.state.is_some()
    }

    pub(crate) fn ledger(&self) -> LedgerFile {
        LedgerFile::of(self.folder())
    }

    /// Whose ledgers count for a run of this user.
    pub(crate) fn folders(&self) -> Folders {
        let user = rustix::process::geteuid().as_raw();
        folders(user, self.state.as_deref(), default_folder(), owner)
    }

    pub(crate) fn file(&self, active: bool) -> PathBuf {
        self.folder()
            .join(if active { "last-active.json" } else { LAST_LOOK })
    }
}

fn default_folder() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from(OF_THE_NODE);
    }
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    home.unwrap_or_else(std::env::temp_dir).join("peerless-agent")
}

/// Which results are this node's own.
#[derive(Debug, Args)]
pub(crate) struct HereArgs {
    /// Id of this node in results; those of another one tell nothing [default: as the daemon of this boot calls it, else
    /// made from machine id and board]
    #[arg(long, alias = "node", value_name = "ID", env = "PEERLESS_NODE_ID")]
    pub(crate) node_id: Option<NodeId>,
    /// Folder that stands for / where the machine id is read
    #[arg(long, value_name = "DIR", default_value = "/", env = "PEERLESS_HOST_ROOT")]
    pub(crate) host_root: PathBuf,
    /// Believe results of a stand-in for the driver, too
    #[arg(long, hide = true, env = "PEERLESS_ALLOW_SIMULATED")]
    pub(crate) allow_simulated: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A state (a GPU that is lost, a remapping that is pending) opens again with the next look that still reads \
    it as bad. An event (an Xid, errors of memory) stays ended until it happens again."
)]
pub(crate) struct ClearArgs {
    /// What has ended: an id that `status --passive` names (xid-79@0000:3b:00.0), or a cause on all devices (xid)
    #[arg(value_name = "CAUSE|ID")]
    pub(crate) what: String,
    /// Why, for whoever reads the next report
    #[arg(long, value_name = "TEXT", value_parser = said)]
    pub(crate) reason: String,
    /// Who says so
    #[arg(long, value_name = "NAME", value_parser = said)]
    pub(crate) by: String,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

fn said(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.len() > 1_000 || text.chars().any(char::is_control) {
        return Err("give a line of 1 to 1000 bytes that says something".to_owned());
    }
    Ok(text.to_owned())
}

#[derive(Debug, Args)]
#[command(
    after_help = "It reads what the daemon wrote and never touches a GPU, so that a probe of Kubernetes may call it \
    often. 3 is also the answer where there is no result, an old one, one of a time to come, of another node or of another \
    version of the report, a simulated one, one without a fault of before the node was booted, and where the ledger is \
    damaged or gone, or the file system of the state folder read-only. A fault that the ledger holds open is told also without a result."
)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) here: HereArgs,
    /// The last look without checks, in place of the last run of the ladder
    #[arg(long)]
    pub(crate) passive: bool,
    /// Only whether there is a result that counts: 0, else 3. For probes of liveness
    #[arg(long)]
    pub(crate) alive: bool,
    /// What makes the exit code other than 0: fault, warning (also a fault), unknown (all three), or several: fault,unknown
    #[arg(long, value_name = "WHAT", default_value_t = FailOn::UNKNOWN)]
    pub(crate) fail_on: FailOn,
    /// Oldest result that counts, in hours
    #[arg(long, value_name = "HOURS", default_value_t = 48, value_parser = clap::value_parser!(u64).range(1..=8_760))]
    pub(crate) max_age: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_waited_for_as_long_as_was_said_or_the_option_is_refused() {
        assert_eq!(answer_limit("60"), Ok(Duration::from_mins(1)));
        assert_eq!(answer_limit("0.5"), Ok(Duration::from_millis(500)));
        for bad in ["61", "86400", "0", "x"] {
            assert!(
                answer_limit(bad).unwrap_err().contains("between 0.1 and 60"),
                "{bad}"
            );
        }
    }
}
