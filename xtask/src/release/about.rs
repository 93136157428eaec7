//! What packages and images say of a program, and of the release.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use object::Endianness;
use object::elf::{EM_AARCH64, EM_X86_64, FileHeader64};
use object::read::elf::FileHeader as _;

use crate::shell;

pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(super) const LICENSE: &str = env!("CARGO_PKG_LICENSE");
pub(super) const MAINTAINER: &str = "The Peerless maintainers";
/// The oldest that the programs start with; the checks hold them to that.
pub(super) const GLIBC: &str = "2.17";

/// One of the two programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct About {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
}

pub(super) const AGENT: About = About {
    name: "peerless-agent",
    summary: "Proves whether the GPUs of a node can reach each other's memory",
    description: "Proves whether the GPUs of a node can reach each other's memory, and names the cause where they cannot.",
};

pub(super) const SERVER: About = About {
    name: "peerless",
    summary: "Explains GPU errors from a knowledge base of error records",
    description: "Explains GPU errors and logs, on the command line and as a server, and keeps the reports of GPU nodes.",
};

/// A kind of processor, as each format calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Machine {
    /// As Rust, RPM and Python call it.
    pub(super) name: &'static str,
    /// As Debian and OCI call it.
    pub(super) debian: &'static str,
    /// The program that loads the libraries of another one.
    pub(super) loader: &'static str,
}

const X86_64: Machine = Machine {
    name: "x86_64",
    debian: "amd64",
    loader: "lib64/ld-linux-x86-64.so.2",
};
const AARCH64: Machine = Machine {
    name: "aarch64",
    debian: "arm64",
    loader: "lib/ld-linux-aarch64.so.1",
};

impl Machine {
    /// What a program was built for.
    pub(super) fn of(program: &Path) -> Result<Self> {
        let data = std::fs::read(program).with_context(|| program.display().to_string())?;
        let header = FileHeader64::<Endianness>::parse(data.as_slice())
            .with_context(|| format!("{} is no ELF program", program.display()))?;
        match header.e_machine(header.endian()?) {
            EM_X86_64 => Ok(X86_64),
            EM_AARCH64 => Ok(AARCH64),
            other => bail!(
                "{}: no package is made for the machine {other}",
                program.display()
            ),
        }
    }

    /// The folder of its libraries on Debian.
    pub(super) fn multiarch(self) -> String {
        format!("{}-linux-gnu", self.name)
    }

    /// The program, started on this machine, whatever it was built for.
    pub(super) fn start(self, program: &Path) -> Command {
        if self.name == std::env::consts::ARCH {
            return Command::new(program);
        }
        let mut command = Command::new(format!("qemu-{}-static", self.name));
        // Only where `/` has no loader for it: see `arm/emulator.rs`.
        if !Path::new("/").join(self.loader).is_file() {
            command.args(["-L", &format!("/usr/{}", self.multiarch())]);
        }
        command.arg(program);
        command
    }
}

/// The time that all files of a release carry, in seconds: that of the commit, so that the same commit gives the same bytes.
pub(super) fn epoch() -> Result<u32> {
    if let Ok(given) = std::env::var("SOURCE_DATE_EPOCH") {
        return given
            .parse()
            .with_context(|| format!("SOURCE_DATE_EPOCH is no number of seconds: {given}"));
    }
    let output = shell::command("git", &["log", "-1", "--format=%ct"]).output()?;
    let told = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    told.parse()
        .context("without git set SOURCE_DATE_EPOCH, the seconds that the files of a release carry")
}
