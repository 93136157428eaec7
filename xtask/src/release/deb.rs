//! The Debian package, put together by `dpkg-deb`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::about;
use super::pack::{Kind, Tree};
use crate::shell;

pub(super) fn make(tree: &Tree, into: &Path) -> Result<PathBuf> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => bail!("what Debian calls {other} is not known here"),
    };
    let control = tree.root.join("DEBIAN");
    std::fs::create_dir(&control)?;
    std::fs::write(control.join("control"), stated(tree, architecture)?)?;
    let mut kept = String::new();
    for file in tree.files.iter().filter(|file| file.kind == Kind::Settings) {
        writeln!(kept, "/{}", file.path)?;
    }
    std::fs::write(control.join("conffiles"), kept)?;
    let version = about::VERSION;
    let package = into.join(format!("{}_{version}-1_{architecture}.deb", about::NAME));
    let mut command = Command::new("dpkg-deb");
    // gzip: what every dpkg reads.
    command.args(["--root-owner-group", "-Zgzip", "--build"]);
    shell::run(command.arg(&tree.root).arg(&package))?;
    std::fs::remove_dir_all(&control)?;
    Ok(package)
}

fn stated(tree: &Tree, architecture: &str) -> Result<String> {
    let mut bytes = 0;
    for file in &tree.files {
        bytes += std::fs::metadata(tree.root.join(file.path))?.len();
    }
    Ok(format!(
        "Package: {}\nVersion: {}-1\nArchitecture: {architecture}\nMaintainer: {}\nInstalled-Size: {}\n\
         Depends: libc6 (>= {})\nSection: admin\nPriority: optional\nDescription: {}\n {}\n",
        about::NAME,
        about::VERSION,
        about::MAINTAINER,
        bytes.div_ceil(1_024),
        about::GLIBC,
        about::SUMMARY,
        about::DESCRIPTION,
    ))
}
