//! `cargo xtask oidc`: logs in at a provider of OpenID Connect that others wrote, started on this machine.

use anyhow::Result;

use crate::scratch_server::python_tools;
use crate::{shell, tools};

/// The release that is installed, and the library that does its cryptography.
const PACKAGES: [&str; 2] = ["oidc-provider-mock==0.3.4", "authlib==1.9.10"];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// First install what is missing from the distribution (as root).
    #[arg(long)]
    install: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    tools::require(tools::PYTHON, options.install)?;
    let provider = python_tools("oidc-provider-mock-0.3.4", &PACKAGES)?.join("oidc-provider-mock");
    let mut tests = shell::cargo(&["nextest", "run", "--workspace", "--locked"]);
    tests.args([
        "--run-ignored=only",
        "--no-tests=fail",
        "-E",
        "test(real_provider)",
    ]);
    shell::run(tests.env("PEERLESS_TEST_OIDC_PROVIDER", provider))
}
