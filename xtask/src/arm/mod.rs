//! `cargo xtask arm`: both programs on Arm. It type-checks them, or runs those of a release.

mod compiler;
mod emulator;
#[cfg(feature = "arm")]
mod stand_in;
#[cfg(feature = "arm")]
mod trial;

use std::path::PathBuf;

use anyhow::Result;

#[cfg(feature = "release")]
pub(crate) use compiler::compiler;

use crate::shell;

const TRIPLE: &str = "aarch64-unknown-linux-gnu";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// First install Debian's compiler, libraries and emulator for Arm where they are missing (as root).
    #[arg(long)]
    install: bool,
    /// In place of the type check run both programs of this folder, which `cargo xtask release DIR --target
    /// aarch64-unknown-linux-gnu` has filled: their command lines, and the agent with a stand-in for the driver.
    #[arg(long, value_name = "DIR")]
    test: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.install {
        compiler::install(TRIPLE)?;
    }
    if let Some(folder) = &options.test {
        return test(&std::path::absolute(folder)?);
    }
    let mut check = compiler::cargo(&["check"], TRIPLE)?;
    check.args(["--package", "peerless", "--package", "peerless-agent"]);
    shell::run(&mut check)
}

#[cfg(feature = "arm")]
fn test(folder: &std::path::Path) -> Result<()> {
    trial::run(folder)
}

/// Runs this command again with the stand-in for the driver built in.
#[cfg(not(feature = "arm"))]
fn test(folder: &std::path::Path) -> Result<()> {
    let mut command = shell::xtask_with("arm", false);
    command.args(["arm", "--test"]);
    shell::run(command.arg(folder))
}
