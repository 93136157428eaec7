//! Running other programs: echoed, and a failure names the command.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// `cargo`, the one that runs this program.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    command(&cargo, arguments)
}

/// Runs to the end; a status other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    eprintln!("$ {shown}");
    let status = command
        .status()
        .with_context(|| format!("could not start: {shown}"))?;
    if !status.success() {
        bail!("{shown}: {status}");
    }
    Ok(())
}

/// Whether a program can be started and answers `arguments` with status 0.
pub(crate) fn answers(program: &str, arguments: &[&str]) -> bool {
    command(program, arguments)
        .output()
        .is_ok_and(|output| output.status.success())
}

fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// This program with a feature that the usual build of it lacks; its arguments follow.
pub(crate) fn xtask_with(feature: &str, optimised: bool) -> Command {
    let mut command = cargo(&[
        "run",
        "--quiet",
        "--locked",
        "--package",
        "xtask",
        "--no-default-features",
    ]);
    if optimised {
        command.arg("--release");
    }
    command.args(["--features", feature, "--"]);
    command
}
