//! The program as it is shipped: started, asked, killed. Only processes started here are ended, each by its own id.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a test waits for something that must happen.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The program.
pub fn peerless() -> Command {
    peerless_by(env!("CARGO_BIN_EXE_peerless"))
}

fn peerless_by(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PEERLESS_")) {
        command.env_remove(name);
    }
    command
}

/// The program with a limit of the shell's: `-n 256` for descriptors, `-v 300000` for addresses in KiB.
pub fn limited(limit: &str) -> Command {
    let mut command = peerless_by("/bin/sh");
    command
        .args(["-c", &format!("ulimit {limit} && exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_peerless"));
    command
}

/// Runs a command to its end.
pub fn run(arguments: &[&str]) -> Output {
    peerless().args(arguments).output().unwrap()
}

/// A server in a process of its own; killed when dropped.
pub struct Server {
    pub url: String,
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub log: PathBuf,
}

/// Peak of a server's resident memory so far, in MB.
pub fn peak_megabytes(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

impl Server {
    /// Starts one on any free port and waits until it says where it serves.
    pub fn start(arguments: &[&str], log: &Path) -> Self {
        Self::start_by(peerless(), arguments, log)
    }

    /// The same by a command that starts the program with what it is given.
    pub fn start_by(mut command: Command, arguments: &[&str], log: &Path) -> Self {
        let mut child = command
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--rate-limit",
                "0",
                "--workers",
                "1",
            ])
            .args(arguments)
            .env("RUST_LOG", "debug")
            .stdout(Stdio::piped())
            .stderr(File::create(log).unwrap())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let Some(url) = line.trim().strip_prefix("Peerless serves on ") else {
            panic!(
                "the server did not start: {line}{}",
                std::fs::read_to_string(log).unwrap()
            );
        };
        Self {
            url: url.to_owned(),
            child,
            stdout,
            log: log.to_owned(),
        }
    }

    /// Number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as a power cut would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end, and waits until it has.
    pub fn terminate(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        assert!(self.child.wait().unwrap().success());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        rest
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Ended already, perhaps.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A token made by the command line.
pub fn token(data: &[&str], scopes: &[&str]) -> String {
    let mut command = peerless();
    command
        .args(["token", "create", "--init", "--name", "tester"])
        .args(data);
    for scope in scopes {
        command.args(["--scope", scope]);
    }
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Asks until the answer is yes; gives how long that took.
pub async fn until<F: Future<Output = bool>>(what: &str, mut ask: impl FnMut() -> F) -> Duration {
    let began = Instant::now();
    while !ask().await {
        assert!(began.elapsed() < PATIENCE, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    began.elapsed()
}

/// A folder and the arguments that make a server use it.
pub fn folder() -> (TempDir, String) {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data").to_string_lossy().into_owned();
    (folder, data)
}
