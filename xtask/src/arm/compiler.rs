//! Which compiler has the standard library for Arm, and how to get one and all else that Arm needs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::emulator;
use crate::shell;

/// Of Debian's `rustc-web`.
const OF_DEBIAN: &str = "/usr/bin/rustc";
/// Asked by libraries that compile C, and links what is for tests alone.
pub(super) const C_COMPILER: &str = "aarch64-linux-gnu-gcc";
/// Compiler and libraries of Debian 12 with its security updates (its first rustc-web, 1.85, is too old) and later, and what runs
/// programs for Arm on other processors.
const PACKAGES: [&str; 5] = [
    "rustc-web",
    "libstd-rust-web-dev:arm64",
    "gcc-aarch64-linux-gnu",
    "libc6-dev-arm64-cross",
    "qemu-user-static",
];

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

/// Installs what is missing of the packages.
pub(super) fn install(triple: &str) -> Result<()> {
    let is_there = compiler(triple).is_ok()
        && shell::answers(C_COMPILER, &["--version"])
        && shell::answers(emulator::QEMU, &["--version"]);
    if is_there {
        return Ok(());
    }
    shell::run(&mut shell::command("dpkg", &["--add-architecture", "arm64"]))?;
    shell::run(&mut shell::command("apt-get", &["update", "-qq"]))?;
    let mut command = shell::command("apt-get", &["install", "-y", "-qq", "--no-install-recommends"]);
    command.args(PACKAGES).env("DEBIAN_FRONTEND", "noninteractive");
    shell::run(&mut command)
}

/// Cargo with that compiler, for what is built beside the usual build.
pub(super) fn cargo(arguments: &[&str], triple: &str) -> Result<Command> {
    let mut command = shell::cargo(arguments);
    command.args(["--locked", "--target", triple]);
    // Another compiler would have all that was built with the usual one built again.
    command.arg("--target-dir").arg(folder());
    command.env("CC_aarch64_unknown_linux_gnu", C_COMPILER);
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", C_COMPILER);
    if let Some(compiler) = compiler(triple)? {
        command.env("RUSTC", compiler);
    }
    Ok(command)
}

/// Where it builds.
pub(super) fn folder() -> PathBuf {
    shell::target().join("arm")
}
