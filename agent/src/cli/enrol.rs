//! What `enrol` takes.

use std::path::PathBuf;

use clap::Args;
use kb_core::ids::NodeId;

use super::StateArgs;
use crate::host::HostRoot;

#[derive(Debug, Args)]
#[command(
    after_help = "The credential lies in the state folder, readable to its owner alone, and is used by every verb that is \
    given no other token. The same machine may enrol again: its former credential is revoked. Exit code: 0 enrolled, or \
    the credential is there already; 1 the server refused or did not answer; 64 usage or configuration error."
)]
pub(crate) struct EnrolArgs {
    /// Server to join, by its http or https address
    #[arg(long, value_name = "URL", env = "PEERLESS_SERVER", hide_env_values = true)]
    pub(crate) server: String,
    /// File with the join token
    #[arg(long, value_name = "FILE", env = "PEERLESS_JOIN_TOKEN_FILE")]
    pub(crate) join_token_file: PathBuf,
    /// Certificates (PEM) to trust in place of the system's
    #[arg(long, value_name = "FILE", env = "PEERLESS_CA_FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Id of this node in reports [default: made from machine id and board, the same after every boot]
    #[arg(long, alias = "node", value_name = "ID", env = "PEERLESS_NODE_ID")]
    pub(crate) node_id: Option<NodeId>,
    /// Folder that stands for / where the machine id is read
    #[arg(long, value_name = "DIR", default_value = "/", env = "PEERLESS_HOST_ROOT")]
    host_root: PathBuf,
    /// Ask for another credential although one is there
    #[arg(long)]
    pub(crate) again: bool,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

impl EnrolArgs {
    pub(crate) fn host_root(&self) -> HostRoot {
        HostRoot::new(&self.host_root)
    }
}
