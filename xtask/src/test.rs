//! Every test, in one command.

use anyhow::Result;

use crate::{postgres, shell, tools};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// First install what is missing from the distribution (as root).
    #[arg(long)]
    install: bool,
    /// Passed on to the test runner, for example a part of a test's name.
    filter: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    tools::require(tools::TESTS, options.install)?;
    let scratch = std::env::temp_dir().join(format!("peerless-xtask-{}", std::process::id()));
    let server = postgres::start(&scratch)?;
    let outcome = run_tests(options, &server.url);
    drop(server);
    outcome
}

fn run_tests(options: &Options, postgres_url: &str) -> Result<()> {
    // Tests start each other's programs (agent runs need the server and the stand-in library).
    build()?;
    shell::run(&mut shell::command(
        "docker-compose",
        &["--file", "docker-compose.yml", "config", "--quiet"],
    ))?;
    // The program of that build: asked for by itself it would be built once more, with other features of its libraries.
    let server = shell::target().join("debug/peerless");
    shell::run(&mut shell::command(
        &server.to_string_lossy(),
        &["check", "kb-seed", "--coverage", "--complete"],
    ))?;
    let runner: &[&str] = if shell::answers("cargo", &["nextest", "--version"]) {
        &["nextest", "run"]
    } else {
        &["test"]
    };
    let mut tests = shell::cargo(runner);
    tests
        .args(["--workspace", "--locked"])
        .args(&options.filter)
        .env(postgres::VARIABLE, postgres_url);
    shell::run(&mut tests)
}

/// Builds all that tests use. Without their targets the features differ, and a hundred and fifty crates would be built once more.
pub(crate) fn build() -> Result<()> {
    shell::run(&mut shell::cargo(&[
        "build",
        "--workspace",
        "--all-targets",
        "--locked",
    ]))
}
