//! `cargo xtask schemathesis`: a server that was just started is asked thousands of things that its own description
//! allows or forbids, and each answer is held to that description.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use crate::bench::server::{Server, free_address};
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
    let tool = installed()?;
    // As the tests build it: a package built alone has other features, and all its dependencies would be built again.
    shell::run(&mut shell::cargo(&["build", "--workspace", "--locked"]))?;
    let program = shell::target().join("debug").join("peerless");
    let scratch = std::env::temp_dir().join(format!("peerless-schemathesis-{}", std::process::id()));
    let data = scratch.join("data");

    let arguments = ["token", "create", "--name", "schemathesis", "--scope", "admin"];
    let mut create = shell::command(&program.to_string_lossy(), &arguments);
    let output = create.arg("--data-dir").arg(&data).output()?;
    ensure!(output.status.success(), "no token: {}", output.status);
    let token = String::from_utf8(output.stdout)?;

    let address = free_address()?;
    let server = Server::start_with(&program, address, &data, &["--rate-limit", "0"])?;
    server.wait_until_ready()?;
    let config = shell::root().join("xtask").join("schemathesis.toml");
    let mut run = shell::command(&tool.to_string_lossy(), &["--config-file"]);
    run.arg(config)
        .args([
            "run",
            &format!("http://{address}/api/v1/openapi.json"),
            "--no-color",
        ])
        .args(["--continue-on-failure", "--suppress-health-check", "all"])
        .args(["--max-examples", &options.examples.to_string()])
        .args(["--max-time", &options.seconds.to_string()])
        .arg("--header")
        .arg(format!("Authorization: Bearer {}", token.trim()))
        .current_dir(&scratch);
    if !options.random {
        run.arg("--generation-deterministic");
    }
    // Not by `shell::run`, which shows the whole command: the token is in it.
    let status = run.status().context("could not start schemathesis")?;
    drop(server);
    std::fs::remove_dir_all(&scratch).ok();
    if !status.success() {
        bail!("schemathesis found something, or failed: {status}");
    }
    Ok(())
}

/// The tool in a folder of its own, installed when it is not there yet.
fn installed() -> Result<PathBuf> {
    let folder = shell::target().join(format!("schemathesis-{VERSION}"));
    let tool = folder.join("bin").join("schemathesis");
    if !tool.try_exists()? {
        let mut venv = shell::command("python3", &["-m", "venv"]);
        shell::run(venv.arg(&folder)).context("python3 with its module venv is needed")?;
        let pip = folder.join("bin").join("pip");
        let package = format!("schemathesis=={VERSION}");
        let arguments = ["install", "--quiet", package.as_str()];
        shell::run(&mut shell::command(&pip.to_string_lossy(), &arguments))?;
    }
    Ok(tool)
}
