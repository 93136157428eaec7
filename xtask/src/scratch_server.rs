//! A server that was just built and started on an empty folder, with a token that may do everything: for tools that read
//! the description of the interface and ask what it allows.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::bench::server::{Server, free_address};
use crate::shell;

/// The server and what is needed to ask it. Ended, and its folder removed, when dropped.
pub(crate) struct ScratchServer {
    server: Option<Server>,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) folder: PathBuf,
}

impl ScratchServer {
    /// Starts it; `name` is in the name of its folder.
    pub(crate) fn start(name: &str) -> Result<Self> {
        crate::test::build()?;
        Self::start_program(name, &shell::target().join("debug").join("peerless"))
    }

    /// The same with a program that is there.
    pub(crate) fn start_program(name: &str, program: &Path) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("peerless-{name}-{}", std::process::id()));
        let data = folder.join("data");

        let arguments = ["token", "create", "--init", "--name", name, "--scope", "admin"];
        let mut create = shell::command(&program.to_string_lossy(), &arguments);
        let output = create.arg("--data-dir").arg(&data).output()?;
        ensure!(output.status.success(), "no token: {}", output.status);
        let token = String::from_utf8(output.stdout)?.trim().to_owned();

        let address = free_address()?;
        let server = Server::start_with(program, address, &data, &["--rate-limit", "0"])?;
        server.wait_until_ready()?;
        Ok(Self {
            server: Some(server),
            address,
            token,
            folder,
        })
    }

    pub(crate) fn description(&self) -> String {
        format!("http://{}/api/v1/openapi.json", self.address)
    }
}

impl Drop for ScratchServer {
    fn drop(&mut self) {
        // It writes to the folder until it has ended.
        self.server.take();
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

/// A folder below `target` with these Python packages, installed when it has not exactly these; gives its programs' folder.
pub(crate) fn python_tools(name: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = shell::target().join(name);
    let programs = folder.join("bin");
    let installed = folder.join("installed");
    if !holds(&installed, packages) {
        let mut venv = shell::command("python3", &["-m", "venv", "--clear"]);
        shell::run(venv.arg(&folder)).context("python3 with its module venv is needed")?;
        let mut install = shell::command(&programs.join("pip").to_string_lossy(), &["install", "--quiet"]);
        shell::run(install.args(packages))?;
        std::fs::write(installed, list(packages))?;
    }
    Ok(programs)
}

fn list(packages: &[&str]) -> String {
    packages.join("\n")
}

fn holds(installed: &Path, packages: &[&str]) -> bool {
    std::fs::read_to_string(installed).is_ok_and(|held| held == list(packages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_pin_of_any_package_is_installed() {
        let installed = std::env::temp_dir().join(format!("peerless-installed-{}", std::process::id()));
        std::fs::write(&installed, list(&["a==1", "b==1"])).unwrap();
        assert!(holds(&installed, &["a==1", "b==1"]));
        for other in [&["a==1", "b==2"][..], &["a==1"], &[]] {
            assert!(!holds(&installed, other), "{other:?}");
        }
        std::fs::remove_file(&installed).unwrap();
        assert!(!holds(&installed, &["a==1", "b==1"]), "nothing is installed");
    }
}
