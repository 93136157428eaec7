//! What `policy` takes.

use clap::{Args, ValueEnum};

use super::daemon::StateArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "The daemon fetches the policy from its server and keeps it in the state folder; without one the records alone decide."
)]
pub(crate) struct PolicyArgs {
    /// What to do
    #[arg(value_name = "WHAT")]
    pub(crate) what: PolicyVerb,
    /// An Xid ("xid 63"), a record or a cause; without one every known Xid, one a line
    #[arg(value_name = "CODE")]
    pub(crate) code: Vec<String>,
    /// The model of the GPU, as `nvidia-smi -L` names it: rules for one model count only where it is said
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// What to do with the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyVerb {
    /// Say what a code means on this node: by its record, by the policy, and what the node does then
    Explain,
}
