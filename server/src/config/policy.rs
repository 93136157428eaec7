//! What codes and events mean on this site.

use std::path::PathBuf;

use clap::Args;
use kb_core::policy::Share;

/// The site's policy, and one that is tried first.
#[derive(Debug, Clone, Default, Args)]
pub struct PolicyArgs {
    /// File that says what codes and events mean here (policy.toml); agents fetch it [default: the records alone decide]
    #[arg(long, env = "PEERLESS_POLICY", value_name = "FILE")]
    pub policy: Option<PathBuf>,

    /// Policy that some of the nodes have in place of the other
    #[arg(
        long,
        env = "PEERLESS_POLICY_CANDIDATE",
        value_name = "FILE",
        requires = "policy_share"
    )]
    pub policy_candidate: Option<PathBuf>,

    /// Per cent of the nodes that have the candidate, as 1, 10 or all; a node that has it keeps it as the share grows
    #[arg(
        long,
        env = "PEERLESS_POLICY_SHARE",
        value_name = "PERCENT",
        requires = "policy_candidate"
    )]
    pub policy_share: Option<Share>,
}
