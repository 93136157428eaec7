//! What `feedback` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use kb_core::ids::RecordId;

use crate::host::HostRoot;

#[derive(Debug, Args)]
#[command(
    after_help = "The vote is that of whoever owns the token; the credential of the node has none. Driver and GPU model are read \
    from this node. Exit code: 0 the server has taken it; 1 it refused or did not answer; 64 usage or configuration error."
)]
pub(crate) struct FeedbackArgs {
    /// Id of the record
    pub(crate) id: RecordId,
    #[arg(
        help = "What was tried: a pointer into the record, /workarounds/0 or /dead_ends/0, counted from 0"
    )]
    pub(crate) tried: String,
    /// What came of it
    #[arg(value_enum)]
    pub(crate) outcome: Outcome,
    /// Server to tell, by its http or https address
    #[arg(long, value_name = "URL", env = "PEERLESS_SERVER", hide_env_values = true)]
    pub(crate) server: String,
    #[arg(
        long,
        value_name = "FILE",
        help = "File with a token of one's own [else the value of PEERLESS_TOKEN; without one the server has to allow it]"
    )]
    pub(crate) token_file: Option<PathBuf>,
    /// Certificates (PEM) to trust in place of the system's
    #[arg(long, value_name = "FILE", env = "PEERLESS_CA_FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Folder that stands for / where /proc is read
    #[arg(long, value_name = "DIR", default_value = "/", env = "PEERLESS_HOST_ROOT")]
    host_root: PathBuf,
}

impl FeedbackArgs {
    pub(crate) fn host_root(&self) -> HostRoot {
        HostRoot::new(&self.host_root)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Outcome {
    /// The error was gone
    Worked,
    /// The error was still there
    DidNotHelp,
    /// The error was gone, and there again within a week
    CameBack,
}
