//! What `match` and `watch` take.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ServerArgs, StateArgs};

/// Where the signatures come from.
#[derive(Debug, Args)]
pub(crate) struct SignatureArgs {
    /// Server whose newest signatures are fetched first; without one those that were fetched before are used
    #[arg(long, value_name = "URL", env = "PEERLESS_SERVER", hide_env_values = true)]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) access: ServerArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Where they are kept [default: /var/cache/peerless-agent/signatures.json, or a file of the user's own]
    #[arg(long, value_name = "FILE", env = "PEERLESS_SIGNATURES")]
    pub(crate) signatures: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes:\n  0   a known error was found\n  1   no known error was found (a harmless message is none; lines that \
    look like errors and that no\n      record explains are printed and do not change the code without --fail-on)\n  3   could not tell: there are \
    no signatures; with --fail-on unexplained, also: a text has lines\n      that look like errors and that no record \
    explains\n  64  usage or configuration error"
)]
pub(crate) struct MatchArgs {
    /// Texts to look through, plain or compressed with zstd; - is standard input
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) signatures: SignatureArgs,
    /// Exit with 3 where a text has lines that look like errors and that no record explains
    #[arg(long, value_name = "WHAT")]
    pub(crate) fail_on: Option<MatchFailOn>,
    /// Print one JSON text for each file
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `match` fails of beside what it always fails of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MatchFailOn {
    /// Lines that look like errors and that no record explains
    Unexplained,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// File to follow in place of the kernel log; one that takes its place (a rotated log) is followed too
    #[arg(conflicts_with = "journal")]
    pub(crate) file: Option<PathBuf>,
    /// Follow the journal (journalctl) in place of the kernel log
    #[arg(long)]
    pub(crate) journal: bool,
    #[command(flatten)]
    pub(crate) signatures: SignatureArgs,
    /// Print each match as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Also match what stands there already, and stop at its end
    #[arg(long)]
    pub(crate) once: bool,
    /// Folder that stands for / where the kernel log is read
    #[arg(long, value_name = "DIR", default_value = "/", env = "PEERLESS_HOST_ROOT")]
    pub(crate) host_root: PathBuf,
}
