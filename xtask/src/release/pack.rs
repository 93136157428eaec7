//! `cargo xtask package DIR`: the agent's deb and rpm, from the program that `deploy/build-release.sh` wrote there.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{deb, rpm};
use crate::shell;

/// What lies on a node behind the installation, beside the program's own manual and completions.
const FILES: &[File] = &[
    File::new(
        "deploy/agent/peerless-agent.toml",
        "etc/peerless-agent.toml",
        0o644,
        Kind::Settings,
    ),
    File::new(
        "deploy/agent/peerless-agent.service",
        "usr/lib/systemd/system/peerless-agent.service",
        0o644,
        Kind::Plain,
    ),
    File::new(
        "deploy/agent/node-condition.sh",
        "usr/share/peerless-agent/node-condition.sh",
        0o755,
        Kind::Plain,
    ),
    File::new(
        "deploy/agent/node-problem-detector.json",
        "usr/share/peerless-agent/node-problem-detector.json",
        0o644,
        Kind::Plain,
    ),
    File::new(
        "deploy/agent/slurm/prolog.sh",
        "usr/share/peerless-agent/slurm/prolog.sh",
        0o755,
        Kind::Plain,
    ),
    File::new(
        "deploy/agent/slurm/epilog.sh",
        "usr/share/peerless-agent/slurm/epilog.sh",
        0o755,
        Kind::Plain,
    ),
    File::new(
        "deploy/agent/slurm/healthcheck.sh",
        "usr/share/peerless-agent/slurm/healthcheck.sh",
        0o755,
        Kind::Plain,
    ),
    File::new(
        "deploy/prometheus/peerless-agent.rules.yaml",
        "usr/share/peerless-agent/prometheus.rules.yaml",
        0o644,
        Kind::Plain,
    ),
    File::new(
        "docs/AGENT.md",
        "usr/share/doc/peerless-agent/AGENT.md",
        0o644,
        Kind::Documentation,
    ),
    File::new(
        "LICENSE",
        "usr/share/doc/peerless-agent/copyright",
        0o644,
        Kind::Documentation,
    ),
];

/// What the program prints of itself: arguments, and where it goes.
const PRINTED: &[(&[&str], &str, Kind)] = &[
    (
        &["man"],
        "usr/share/man/man1/peerless-agent.1",
        Kind::Documentation,
    ),
    (
        &["completions", "bash"],
        "usr/share/bash-completion/completions/peerless-agent",
        Kind::Plain,
    ),
    (
        &["completions", "zsh"],
        "usr/share/zsh/site-functions/_peerless-agent",
        Kind::Plain,
    ),
    (
        &["completions", "fish"],
        "usr/share/fish/vendor_completions.d/peerless-agent.fish",
        Kind::Plain,
    ),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// Edited on the node: an update leaves it.
    Settings,
    /// May be left out on small systems.
    Documentation,
}

struct File {
    from: &'static str,
    to: &'static str,
    mode: u32,
    kind: Kind,
}

impl File {
    const fn new(from: &'static str, to: &'static str, mode: u32, kind: Kind) -> Self {
        Self { from, to, mode, kind }
    }
}

/// A tree as it lies on a node.
pub(super) struct Tree {
    pub(super) root: PathBuf,
    pub(super) files: Vec<Placed>,
}

pub(super) struct Placed {
    pub(super) path: &'static str,
    pub(super) mode: u32,
    pub(super) kind: Kind,
}

pub(super) fn make(folder: &Path) -> Result<()> {
    let program = folder.join("peerless-agent");
    let scratch = std::env::temp_dir().join(format!("peerless-package-{}", std::process::id()));
    std::fs::create_dir(&scratch)?;
    let made = tree(&program, scratch.join("root")).and_then(|tree| {
        let deb = deb::make(&tree, folder)?;
        let rpm = rpm::make(&tree, &program, folder)?;
        Ok([deb, rpm])
    });
    std::fs::remove_dir_all(&scratch)?;
    for package in made? {
        println!("{}", package.display());
    }
    Ok(())
}

fn tree(program: &Path, root: PathBuf) -> Result<Tree> {
    let mut tree = Tree {
        root,
        files: Vec::new(),
    };
    let bytes = std::fs::read(program).with_context(|| program.display().to_string())?;
    tree.place("usr/bin/peerless-agent", &bytes, 0o755, Kind::Plain)?;
    for (arguments, to, kind) in PRINTED {
        let output = Command::new(program).args(*arguments).output()?;
        ensure!(
            output.status.success(),
            "{} {arguments:?}: {}",
            program.display(),
            output.status
        );
        tree.place(to, &output.stdout, 0o644, *kind)?;
    }
    for file in FILES {
        let bytes = std::fs::read(shell::root().join(file.from)).with_context(|| file.from.to_owned())?;
        tree.place(file.to, &bytes, file.mode, file.kind)?;
    }
    Ok(tree)
}

impl Tree {
    fn place(&mut self, path: &'static str, bytes: &[u8], mode: u32, kind: Kind) -> Result<()> {
        ensure!(!bytes.is_empty(), "/{path} is empty");
        let place = self.root.join(path);
        // As on a node, whatever the mask of whoever packs.
        let below = place
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(&self.root));
        let mut folders: Vec<&Path> = below.collect();
        folders.reverse();
        for folder in folders {
            std::fs::create_dir_all(folder)?;
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))?;
        }
        std::fs::write(&place, bytes)?;
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode))?;
        self.files.push(Placed { path, mode, kind });
        Ok(())
    }
}
