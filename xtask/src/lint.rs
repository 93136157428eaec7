//! Formatting and lints.

use anyhow::Result;

use crate::shell;

pub(crate) fn run() -> Result<()> {
    shell::run(&mut shell::cargo(&["fmt", "--all", "--check"]))?;
    // With the measurements that are built with an engine inside; Hyperscan's library is not everywhere. One pass over all: the server
    // would be checked again for each other set of features.
    let all = [
        "--workspace",
        "--all-targets",
        "--features",
        "xtask/daemon,xtask/evaluation,xtask/release",
    ];
    // What xtask is without them runs this command again with them.
    for what in [&all[..], &["--package", "xtask", "--no-default-features"]] {
        let mut clippy = shell::cargo(&["clippy", "--locked"]);
        clippy.args(what).args(["--", "--deny", "warnings"]);
        shell::run(&mut clippy)?;
    }
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
