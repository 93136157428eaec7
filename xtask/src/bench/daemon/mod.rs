//! `cargo xtask bench daemon`: what an idle daemon costs a node of two simulated GPUs, by the kernel's word.

#[cfg(feature = "daemon")]
mod cost;
#[cfg(feature = "daemon")]
mod measure;

use std::path::PathBuf;

use anyhow::Result;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How long it is watched.
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// A built agent to take in place of building one.
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
}

#[cfg(feature = "daemon")]
pub(crate) fn run(options: &Options) -> Result<()> {
    measure::run(options)
}

/// Runs this command again with the stand-in for the driver beside it.
#[cfg(not(feature = "daemon"))]
pub(crate) fn run(options: &Options) -> Result<()> {
    use crate::shell;

    let mut command = shell::xtask_with("daemon", false);
    command.args(["bench", "daemon"]);
    command.arg(format!("--minutes={}", options.minutes));
    if let Some(agent) = &options.agent {
        command.arg("--agent").arg(std::path::absolute(agent)?);
    }
    shell::run(&mut command)
}
