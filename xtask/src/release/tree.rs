//! A program and all that goes with it, as they lie on a machine.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::about::{AGENT, About, Machine};
use super::files::{Kind, OF_AGENT, OF_SERVER};
use crate::shell;

/// Below the root of a package, in the order of their paths.
pub(super) struct Tree {
    pub(super) about: About,
    pub(super) machine: Machine,
    /// The program that is packed.
    pub(super) program: PathBuf,
    pub(super) root: PathBuf,
    pub(super) files: Vec<Placed>,
}

pub(super) struct Placed {
    pub(super) path: String,
    pub(super) mode: u32,
    pub(super) kind: Kind,
}

impl Tree {
    /// Puts it together below `root`.
    pub(super) fn make(about: About, program: &Path, root: PathBuf) -> Result<Self> {
        let mut tree = Self {
            about,
            machine: Machine::of(program)?,
            program: program.to_owned(),
            root,
            files: Vec::new(),
        };
        let name = about.name;
        let bytes = std::fs::read(program).with_context(|| program.display().to_string())?;
        tree.place(&format!("usr/bin/{name}"), &bytes, 0o755, Kind::Plain)?;
        let printed = [
            (
                &["man"][..],
                format!("usr/share/man/man1/{name}.1"),
                Kind::Documentation,
            ),
            (
                &["completions", "bash"],
                format!("usr/share/bash-completion/completions/{name}"),
                Kind::Plain,
            ),
            (
                &["completions", "zsh"],
                format!("usr/share/zsh/site-functions/_{name}"),
                Kind::Plain,
            ),
            (
                &["completions", "fish"],
                format!("usr/share/fish/vendor_completions.d/{name}.fish"),
                Kind::Plain,
            ),
        ];
        for (arguments, to, kind) in printed {
            let mut command = tree.machine.start(program);
            let output = command.args(arguments).output()?;
            ensure!(
                output.status.success(),
                "{} {arguments:?}: {}",
                program.display(),
                output.status
            );
            tree.place(&to, &output.stdout, 0o644, kind)?;
        }
        for file in if about == AGENT { OF_AGENT } else { OF_SERVER } {
            let bytes = std::fs::read(shell::root().join(file.from)).with_context(|| file.from.to_owned())?;
            tree.place(file.to, &bytes, file.mode, file.kind)?;
        }
        tree.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(tree)
    }

    fn place(&mut self, path: &str, bytes: &[u8], mode: u32, kind: Kind) -> Result<()> {
        ensure!(!bytes.is_empty(), "/{path} is empty");
        let place = self.root.join(path);
        // As on a machine, whatever the mask of whoever packs.
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
        self.files.push(Placed {
            path: path.to_owned(),
            mode,
            kind,
        });
        Ok(())
    }
}
