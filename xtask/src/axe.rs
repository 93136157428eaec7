//! `cargo xtask axe`: axe-core looks at every page in Chromium.

use anyhow::{Context, Result};

use crate::scratch_server::python_tools;
use crate::{shell, tools};

/// The package that axe-core is taken from. What it needs to drive browsers itself is left out.
const PACKAGES: [&str; 2] = ["--no-deps", "axe-playwright-python==0.1.8"];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// First install what is missing from the distribution (as root).
    #[arg(long)]
    install: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    tools::require(tools::PYTHON, options.install)?;
    tools::require(tools::TESTS, options.install)?;
    let programs = python_tools("axe-0.1.8", &PACKAGES)?;
    let libraries = programs.with_file_name("lib");
    let mut scripts = std::fs::read_dir(&libraries)?
        .filter_map(Result::ok)
        .map(|python| {
            python
                .path()
                .join("site-packages/axe_playwright_python/axe.min.js")
        })
        .filter(|script| script.is_file());
    let script = scripts.next().with_context(|| {
        format!(
            "no axe.min.js below {}: remove that folder's parent",
            libraries.display()
        )
    })?;
    let mut tests = shell::cargo(&["nextest", "run", "--workspace", "--locked"]);
    tests.args([
        "--run-ignored=only",
        "--no-tests=fail",
        "-E",
        "binary(browser) & test(axe)",
    ]);
    shell::run(tests.env("PEERLESS_TEST_AXE", script))
}
