//! A release server on a free loopback port, ended when dropped.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use crate::shell;

/// Builds the release server and says where it is.
pub(crate) fn build() -> Result<PathBuf> {
    shell::run(&mut shell::cargo(&[
        "build",
        "--release",
        "--locked",
        "--package",
        "peerless",
    ]))?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| shell::root().join("target"), PathBuf::from);
    Ok(target.join("release").join("peerless"))
}

/// An address that was free a moment ago.
pub(crate) fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?)
}

/// A running server.
pub(crate) struct Server(Child);

impl Server {
    pub(crate) fn start(program: &Path, address: SocketAddr, data: &Path) -> Result<Self> {
        Self::start_with(program, address, data, &[])
    }

    /// Starts it with more arguments.
    pub(crate) fn start_with(
        program: &Path,
        address: SocketAddr,
        data: &Path,
        arguments: &[&str],
    ) -> Result<Self> {
        let child = Command::new(program)
            .arg("serve")
            .arg("--listen")
            .arg(address.to_string())
            .arg("--data-dir")
            .arg(data)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("could not start {}", program.display()))?;
        Ok(Self(child))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
