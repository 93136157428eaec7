//! A release server on a free loopback port, ended when dropped.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::client::{Connection, request};
use crate::shell;

/// Builds the server by the profile `release` and says where it is.
pub(crate) fn build() -> Result<PathBuf> {
    shell::run(&mut shell::cargo(&[
        "build",
        "--release",
        "--locked",
        "--package",
        "peerless",
    ]))?;
    Ok(shell::target().join("release").join("peerless"))
}

/// The server that is named, from wherever this program runs, or one that is built now.
pub(crate) fn given_or_built(given: Option<&Path>) -> Result<PathBuf> {
    match given {
        Some(given) => {
            std::path::absolute(given).with_context(|| format!("could not find {}", given.display()))
        }
        None => build(),
    }
}

/// An address that was free a moment ago.
pub(crate) fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?)
}

pub(crate) struct Server {
    process: Child,
    address: SocketAddr,
}

impl Server {
    pub(crate) fn start(program: &Path, address: SocketAddr, data: &Path) -> Result<Self> {
        Self::start_with(program, address, data, &[])
    }

    pub(crate) fn start_with(
        program: &Path,
        address: SocketAddr,
        data: &Path,
        arguments: &[&str],
    ) -> Result<Self> {
        Self::start_command(Command::new(program), address, data, arguments)
    }

    /// The same with a program that needs another one to start it.
    pub(crate) fn start_command(
        mut command: Command,
        address: SocketAddr,
        data: &Path,
        arguments: &[&str],
    ) -> Result<Self> {
        let process = command
            .arg("serve")
            .arg("--listen")
            .arg(address.to_string())
            .arg("--data-dir")
            .arg(data)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("could not start {}", command.get_program().display()))?;
        Ok(Self { process, address })
    }

    /// Waits until it answers that it is ready, which is when it can be searched, too; an empty database first takes in the records of the program.
    pub(crate) fn wait_until_ready(&self) -> Result<()> {
        self.wait_until_ready_within(Duration::from_mins(2))
    }

    /// The same, where there are many records to read.
    pub(crate) fn wait_until_ready_within(&self, patience: Duration) -> Result<()> {
        let started = Instant::now();
        let question = request("GET", "/readyz", self.address, &[], "");
        while started.elapsed() < patience {
            // It may not listen yet, and while it takes in its first records it does not answer.
            if let Ok(mut connection) = Connection::open(self.address)
                && connection
                    .exchange(&question)
                    .is_ok_and(|answer| answer.status == 200)
            {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        bail!("the server was not ready within {} s", patience.as_secs())
    }

    /// A gauge of `/metrics`, by its name.
    pub(crate) fn gauge(&self, name: &str) -> Result<f64> {
        let mut connection = Connection::open(self.address)?;
        let answer = connection.exchange(&request("GET", "/metrics", self.address, &[], ""))?;
        let metrics = String::from_utf8_lossy(answer.body);
        let value = metrics.lines().find_map(|line| {
            let (own, value) = line.split_once(' ')?;
            (own == name).then(|| value.trim().parse::<f64>().ok())?
        });
        value.with_context(|| format!("the server has no {name}"))
    }

    /// What the system says of its memory in kB, `VmRSS` or the most that it ever was, `VmHWM`.
    pub(crate) fn memory(&self, what: &str) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(what));
        let amount = line.and_then(|rest| rest.trim_start_matches(':').split_whitespace().next());
        Ok(amount
            .with_context(|| format!("the system does not say {what}"))?
            .parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
