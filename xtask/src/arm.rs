//! Builds for Arm: which compiler has the standard library for it, and `cargo xtask arm`, which type-checks both programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::shell;

pub(crate) const TRIPLE: &str = "aarch64-unknown-linux-gnu";
/// Of Debian's `rustc-web`.
const OF_DEBIAN: &str = "/usr/bin/rustc";
/// Compiler and libraries of Debian 12 and later; the C compiler is asked by libraries that compile C.
const PACKAGES: [&str; 4] = [
    "rustc-web",
    "libstd-rust-web-dev:arm64",
    "gcc-aarch64-linux-gnu",
    "libc6-dev-arm64-cross",
];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Install Debian's compiler and libraries for Arm where they are missing (needs root).
    #[arg(long)]
    install: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.install && compiler(TRIPLE).is_err() {
        install()?;
    }
    let compiler = compiler(TRIPLE)?;
    let mut check = shell::cargo(&["check", "--locked", "--target", TRIPLE]);
    check.args(["--package", "peerless", "--package", "peerless-agent"]);
    // Another compiler would have all that was built with the usual one built again.
    check.arg("--target-dir").arg(shell::target().join("arm"));
    check.env("CC_aarch64_unknown_linux_gnu", "aarch64-linux-gnu-gcc");
    if let Some(compiler) = compiler {
        check.env("RUSTC", compiler);
    }
    shell::run(&mut check)
}

/// A compiler with the standard library for this target; nothing where it is the usual one.
pub(crate) fn compiler(triple: &str) -> Result<Option<PathBuf>> {
    if has_library(Path::new("rustc"), triple) {
        return Ok(None);
    }
    let of_debian = PathBuf::from(OF_DEBIAN);
    if has_library(&of_debian, triple) {
        return Ok(Some(of_debian));
    }
    bail!(
        "no compiler has the standard library of {triple}: `rustup target add {triple}`, or on Debian and Ubuntu `dpkg \
         --add-architecture arm64 && apt-get update && apt-get install {}` (`cargo xtask arm --install`)",
        PACKAGES.join(" ")
    )
}

fn has_library(compiler: &Path, triple: &str) -> bool {
    let output = Command::new(compiler)
        .args(["--print", "target-libdir", "--target", triple])
        .output();
    output.is_ok_and(|output| {
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names = files.map(|file| file.file_name());
        names.any(|name| name.to_string_lossy().starts_with("libstd-"))
    })
}

fn install() -> Result<()> {
    shell::run(&mut shell::command("dpkg", &["--add-architecture", "arm64"]))?;
    shell::run(&mut shell::command("apt-get", &["update", "-qq"]))?;
    let mut command = shell::command("apt-get", &["install", "-y", "-qq", "--no-install-recommends"]);
    command.args(PACKAGES).env("DEBIAN_FRONTEND", "noninteractive");
    shell::run(&mut command)
}
