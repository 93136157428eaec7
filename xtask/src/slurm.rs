//! The shipped scripts below a real Slurm, which needs root and daemons of the distribution.

use anyhow::{Result, ensure};

use crate::{shell, tools};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// First install what is missing from the distribution (as root).
    #[arg(long)]
    install: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    tools::require(tools::SLURM, options.install)?;
    ensure!(
        rustix::process::geteuid().is_root(),
        "slurmd starts jobs for others and needs root"
    );
    // Of the whole workspace, as `cargo xtask test` builds it: by itself the agent would be built once more, with other
    // features of its libraries.
    let arguments: &[&str] = if shell::answers("cargo", &["nextest", "--version"]) {
        &[
            "nextest",
            "run",
            "--workspace",
            "--locked",
            "--test",
            "agent",
            "--run-ignored",
            "only",
            "slurm::",
        ]
    } else {
        &[
            "test",
            "--workspace",
            "--locked",
            "--test",
            "agent",
            "slurm::",
            "--",
            "--ignored",
        ]
    };
    shell::run(&mut shell::cargo(arguments))
}
