//! Debian packages, put together by `dpkg-deb`.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::about::{self, SERVER};
use super::files::Kind;
use super::scripts::{MAKE_USER, RELOAD, STOP};
use super::tree::Tree;
use crate::shell;

pub(super) fn make(tree: &Tree, epoch: u32, into: &Path) -> Result<PathBuf> {
    let architecture = tree.machine.debian;
    let control = tree.root.join("DEBIAN");
    std::fs::create_dir(&control)?;
    std::fs::set_permissions(&control, std::fs::Permissions::from_mode(0o755))?;
    let write = |name: &str, text: &str, mode: u32| -> Result<()> {
        let path = control.join(name);
        std::fs::write(&path, text)?;
        Ok(std::fs::set_permissions(
            &path,
            std::fs::Permissions::from_mode(mode),
        )?)
    };
    write("control", &stated(tree)?, 0o644)?;
    let mut kept = String::new();
    for file in tree.files.iter().filter(|file| file.kind == Kind::Settings) {
        writeln!(kept, "/{}", file.path)?;
    }
    write("conffiles", &kept, 0o644)?;
    if tree.about == SERVER {
        let configured = format!("#!/bin/sh\nset -e\n[ \"$1\" = configure ] || exit 0\n{MAKE_USER}{RELOAD}");
        write("postinst", &configured, 0o755)?;
        let removed = format!("#!/bin/sh\nset -e\n[ \"$1\" = remove ] || exit 0\n{STOP}");
        write("prerm", &removed, 0o755)?;
    }
    let package = into.join(format!(
        "{}_{}-1_{architecture}.deb",
        tree.about.name,
        about::VERSION
    ));
    let mut command = Command::new("dpkg-deb");
    // gzip: what every dpkg reads. It sorts the files, and takes the time for those that are newer.
    command.args(["--root-owner-group", "-Zgzip", "--build"]);
    command.env("SOURCE_DATE_EPOCH", epoch.to_string());
    shell::run(command.arg(&tree.root).arg(&package))?;
    std::fs::remove_dir_all(&control)?;
    Ok(package)
}

fn stated(tree: &Tree) -> Result<String> {
    let mut bytes = 0;
    for file in &tree.files {
        bytes += std::fs::metadata(tree.root.join(&file.path))?.len();
    }
    let user = if tree.about == SERVER { ", passwd" } else { "" };
    Ok(format!(
        "Package: {}\nVersion: {}-1\nArchitecture: {}\nMaintainer: {}\nInstalled-Size: {}\n\
         Depends: libc6 (>= {}){user}\nSection: admin\nPriority: optional\nDescription: {}\n {}\n",
        tree.about.name,
        about::VERSION,
        tree.machine.debian,
        about::MAINTAINER,
        bytes.div_ceil(1_024),
        about::GLIBC,
        tree.about.summary,
        tree.about.description,
    ))
}
