//! Formatting and lints.

use anyhow::Result;

use crate::shell;

pub(crate) fn run() -> Result<()> {
    shell::run(&mut shell::cargo(&["fmt", "--all", "--check"]))?;
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "--deny",
        "warnings",
    ];
    shell::run(&mut shell::cargo(&clippy))?;
    // The measurements that are built with an engine inside; Hyperscan's library is not everywhere.
    let measurements = [
        "clippy",
        "--package",
        "xtask",
        "--features",
        "daemon,evaluation,release",
        "--locked",
        "--",
        "--deny",
        "warnings",
    ];
    shell::run(&mut shell::cargo(&measurements))?;
    if shell::answers("cargo", &["deny", "--version"]) {
        // Advisories need a database from the network; the hosted pipeline asks for them.
        shell::run(&mut shell::cargo(&[
            "deny",
            "--offline",
            "check",
            "licenses",
            "bans",
            "sources",
        ]))?;
    } else {
        eprintln!("note: cargo-deny is not installed, licences and bans were not checked");
    }
    Ok(())
}
