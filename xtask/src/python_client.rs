//! `cargo xtask python-client`: the description is valid, and a Python client that is generated from it calls every
//! operation of a server that was just started.

use anyhow::{Context, Result, ensure};

use crate::scratch_server::{ScratchServer, python_tools};
use crate::{shell, tools};

/// The releases that are installed; others may check or generate something else.
const PACKAGES: [&str; 2] = ["openapi-spec-validator==0.9.0", "openapi-python-client==0.29.1"];
/// Settings of the generator: no formatter, and how to read media types that it does not know.
const CONFIG: &str = "\
post_hooks: []
content_type_overrides:
  application/x-ndjson: text/plain
  text/markdown: text/plain
  application/zip: application/octet-stream
";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// First install what is missing from the distribution (as root).
    #[arg(long)]
    install: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    tools::require(tools::PYTHON, options.install)?;
    let programs = python_tools("openapi-tools-0.29.1", &PACKAGES)?;
    let program = |name: &str| programs.join(name).to_string_lossy().into_owned();
    let asked = ScratchServer::start("python-client")?;
    let description = asked.folder.join("openapi.json");
    let fetch = "import sys, urllib.request; urllib.request.urlretrieve(sys.argv[1], sys.argv[2])";
    let mut fetched = shell::command("python3", &["-c", fetch, &asked.description()]);
    shell::run(fetched.arg(&description))?;
    shell::run(shell::command(&program("openapi-spec-validator"), &[]).arg(&description))?;

    let config = asked.folder.join("generator.yaml");
    std::fs::write(&config, CONFIG)?;
    let client = asked.folder.join("client");
    let mut generate = shell::command(&program("openapi-python-client"), &["generate", "--path"]);
    generate
        .arg(&description)
        .arg("--output-path")
        .arg(&client)
        .arg("--config")
        .arg(&config);
    shell::run(&mut generate)?;

    let mut call = shell::command(&program("python3"), &[]);
    call.arg(shell::root().join("xtask").join("python_client.py"))
        .arg(format!("http://{}", asked.address))
        .arg(&description)
        .arg(&client)
        .env("PEERLESS_TOKEN", &asked.token);
    let status = call.status().context("could not start python3")?;
    ensure!(
        status.success(),
        "the generated client does not fit the server: {status}"
    );
    Ok(())
}
