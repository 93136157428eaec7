//! `cargo xtask schemathesis`: a server that was just started is asked thousands of things that its own description
//! allows or forbids, and each answer is held to that description.

use anyhow::{Context, Result, bail};

use crate::scratch_server::{ScratchServer, python_tools};
use crate::{shell, tools};

/// The release that is installed; another may know other checks.
const VERSION: &str = "4.32.5";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// First install what is missing from the distribution (as root).
    #[arg(long)]
    install: bool,
    /// Seconds that the run may take.
    #[arg(long, default_value_t = 180)]
    seconds: u32,
    /// Most examples of each operation and phase.
    #[arg(long, default_value_t = 50)]
    examples: u32,
    /// Other examples each time, in place of the same ones.
    #[arg(long)]
    random: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    tools::require(tools::PYTHON, options.install)?;
    let package = format!("schemathesis=={VERSION}");
    let tool = python_tools(&format!("schemathesis-{VERSION}"), &[&package])?.join("schemathesis");
    let asked = ScratchServer::start("schemathesis")?;
    let config = shell::root().join("xtask").join("schemathesis.toml");
    let mut run = shell::command(&tool.to_string_lossy(), &["--config-file"]);
    run.arg(config)
        .args(["run", &asked.description(), "--no-color"])
        .args(["--continue-on-failure", "--suppress-health-check", "all"])
        .args(["--max-examples", &options.examples.to_string()])
        .args(["--max-time", &options.seconds.to_string()])
        .arg("--header")
        .arg(format!("Authorization: Bearer {}", asked.token))
        .current_dir(&asked.folder);
    if !options.random {
        run.arg("--generation-deterministic");
    }
    // Not by `shell::run`, which shows the whole command: the token is in it.
    let status = run.status().context("could not start schemathesis")?;
    if !status.success() {
        bail!("schemathesis found something, or failed: {status}");
    }
    Ok(())
}
