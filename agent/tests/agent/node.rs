//! A simulated node: a scenario, a small tree for the host's files, and the agent run on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fake_gpu::{Installed, Scenario, install};
use kb_core::report::Report;

use crate::tree::tree;

/// A node with the stand-in installed.
pub(crate) struct Node {
    folder: tempfile::TempDir,
    pub(crate) installed: Installed,
}

/// What the agent did.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Node {
    pub(crate) fn with(scenario: &Scenario) -> Self {
        Self::made(|_| scenario.clone())
    }

    /// A node whose scenario writes into the kernel log, at the place that `make` gets.
    pub(crate) fn with_log(make: impl FnOnce(&Path) -> Scenario) -> Self {
        let node = Self::made(|folder| make(&folder.join("host/dev/kmsg")));
        fs::create_dir_all(node.path("host/dev")).unwrap();
        node
    }

    fn made(make: impl FnOnce(&Path) -> Scenario) -> Self {
        let machines_own = Path::new("/var/lib/peerless-agent");
        assert!(
            !machines_own.try_exists().unwrap(),
            "{} is there: an agent without --state would read and change it, and these tests start such",
            machines_own.display()
        );
        let folder = tree(&[
            ("host/etc/machine-id", "0123456789abcdef0123456789abcdef\n"),
            ("host/proc/sys/kernel/hostname", "gpu-17\n"),
            (
                "host/proc/sys/kernel/random/boot_id",
                "9f1b2c3d-0000-4000-8000-000000000001\n",
            ),
        ]);
        let libraries = folder.path().join("libraries");
        fs::create_dir(&libraries).unwrap();
        let installed = install(&libraries, &make(folder.path())).unwrap();
        Self { folder, installed }
    }

    /// The same machine as the scenario has it from now on.
    pub(crate) fn becomes(&self, scenario: &Scenario) {
        let json = serde_json::to_vec(scenario).unwrap();
        fs::write(self.path("libraries/scenario.json"), json).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The agent with this node's libraries.
    pub(crate) fn bare(&self, verb: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_peerless-agent"));
        command.arg(verb).env_clear().envs(self.installed.environment());
        command
            .env("HOME", self.folder.path())
            // Root's default is the machine's own.
            .env("PEERLESS_SPOOL", self.path("default-spool"))
            .env("PATH", "/usr/bin:/bin");
        if verb == "status" {
            // As the daemon had it on its command line.
            command.env("PEERLESS_HOST_ROOT", self.path("host"));
        }
        command
    }

    /// The same as a verb that makes a run takes it, with host files and a lock of this node's own.
    pub(crate) fn command(&self, verb: &str) -> Command {
        let mut command = self.bare(verb);
        command.args(["--buffer-kib", "4", "--step-timeout", "20"]);
        // So that a test sees the exit code of every verdict; a later one takes its place.
        command.args(["--fail-on", "unknown"]);
        command.arg("--host-root").arg(self.path("host"));
        command.arg("--lock-file").arg(self.path("lock"));
        command
    }

    pub(crate) fn run(&self, verb: &str, arguments: &[&str]) -> Run {
        Run::of(&self.command(verb).args(arguments).output().unwrap())
    }

    /// `probe --json`, with the report read back.
    pub(crate) fn probe(&self, arguments: &[&str]) -> (Report, Run) {
        let run = self.run("probe", &[&["--json"], arguments].concat());
        (run.report(), run)
    }
}

impl Run {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().expect("the agent was killed"),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// The report on standard output, which holds nothing else, and which loses nothing on its way through the
    /// types of the wire format.
    pub(crate) fn report(&self) -> Report {
        let sent: serde_json::Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.stdout, self.stderr));
        let report: Report = serde_json::from_value(sent.clone()).unwrap();
        assert_eq!(serde_json::to_value(&report).unwrap(), sent);
        report
    }
}

/// Who may read and write a file.
pub(crate) fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777
}

/// Files in a folder that may not be there.
pub(crate) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
