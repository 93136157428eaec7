//! `gate`, in the scripts that are shipped, beside a stand-in for Slurm that keeps the state of its nodes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::time::{Duration, SystemTime};

use fake_gpu::Scenario;
use kb_core::report::Report;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::deployment::shipped;
use crate::node::{Node, Run};

mod changed;
mod prolog;
mod results;
mod server;
mod settings;
mod unkept;

const AGENT: &str = env!("CARGO_BIN_EXE_peerless-agent");

/// Keeps its nodes in a file, a line each as `scontrol --oneliner show nodes` prints them, and writes down every call.
const SCONTROL: &str = r#"#!/bin/sh
here=${0%/*}
echo "$*" >> "$here/calls"
case "$*" in
    "--all --oneliner show nodes") cat "$here/nodes" ;;
    "update NodeName="*" State=DRAIN Reason="*)
        name=${2#NodeName=} reason=${4#Reason=}
        [ -z "$FAIL" ] || { echo "slurm_update error: Invalid user id" >&2; exit 1; }
        sed -i "s|^NodeName=$name .*|NodeName=$name State=IDLE+DRAIN Reason=$reason [root@$NOW]|" "$here/nodes"
        [ ! -e "$here/also" ] || cat "$here/also" >> "$here/nodes"
        [ ! -e "$here/then" ] || . "$here/then" ;;
    "update NodeName="*" State=RESUME")
        sed -i "s|^NodeName=${2#NodeName=} .*|NodeName=${2#NodeName=} State=IDLE|" "$here/nodes" ;;
    "requeuehold "*) ;;
    *) echo "unknown: $*" >&2; exit 1 ;;
esac
"#;

/// A simulated node of a cluster.
struct Cluster {
    node: Node,
    log: UnixDatagram,
}

impl Cluster {
    /// Of ten nodes, all in service. `settings` are those of `[gate]`.
    fn with(scenario: &Scenario, settings: &str) -> Self {
        let node = Node::with(scenario);
        let folder = node.path("bin");
        fs::create_dir(&folder).unwrap();
        for (name, text) in [
            ("scontrol", SCONTROL.to_owned()),
            ("peerless-agent", format!("#!/bin/sh\nexec {AGENT} \"$@\"\n")),
        ] {
            fs::write(folder.join(name), text).unwrap();
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let socket = node.path("log");
        let log = UnixDatagram::bind(&socket).unwrap();
        log.set_nonblocking(true).unwrap();
        let common = format!(
            "buffer-kib = 4\nhost-root = \"{}\"\nlock-file = \"{}\"\nstate = \"{}\"\n[gate]\nlog-socket = \"{}\"\nsettle = 0.1\n{settings}\n",
            node.path("host").display(),
            node.path("lock").display(),
            node.path("state").display(),
            socket.display(),
        );
        fs::write(node.path("settings.toml"), common).unwrap();
        fs::create_dir(node.path("state")).unwrap();
        let cluster = Self { node, log };
        cluster.set((10..20).map(|number| format!("NodeName=gpu-{number} State=IDLE")));
        cluster
    }

    fn set(&self, nodes: impl Iterator<Item = String>) {
        let text: String = nodes.map(|line| line + "\n").collect();
        fs::write(self.node.path("bin/nodes"), text).unwrap();
    }

    /// This node in another state.
    fn set_own(&self, state: &str) {
        let nodes = fs::read_to_string(self.node.path("bin/nodes")).unwrap();
        self.set(nodes.lines().map(|line| {
            if line.starts_with("NodeName=gpu-17 ") {
                format!("NodeName=gpu-17 {state}")
            } else {
                line.to_owned()
            }
        }));
    }

    fn own(&self) -> String {
        let nodes = fs::read_to_string(self.node.path("bin/nodes")).unwrap();
        let own = nodes.lines().find(|line| line.starts_with("NodeName=gpu-17 "));
        own.unwrap().to_owned()
    }

    /// What Slurm was told or asked.
    fn calls(&self) -> String {
        fs::read_to_string(self.node.path("bin/calls")).unwrap_or_default()
    }

    fn script(&self, name: &str, gpus: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        let path = format!("{}:/usr/bin:/bin", self.node.path("bin").display());
        command
            .arg(shipped(name))
            .env_clear()
            .envs(self.node.installed.environment())
            .env("PATH", path)
            .env("HOME", self.node.path("home"))
            .env("PEERLESS_SPOOL", self.node.path("default-spool"))
            .env("PEERLESS_CONFIG", self.node.path("settings.toml"))
            .env("SLURM_JOB_ID", "4711")
            .env("SLURM_JOB_GPUS", gpus)
            .env("SLURMD_NODENAME", "gpu-17")
            .env("NOW", seconds().to_string());
        command
    }

    fn run(&self, name: &str) -> Run {
        Run::of(&self.script(name, "0,1").output().unwrap())
    }

    /// The next line that reached the system's log.
    fn logged(&self) -> Option<String> {
        let mut buffer = [0; 2_048];
        let length = self.log.recv(&mut buffer).ok()?;
        Some(String::from_utf8_lossy(&buffer[..length]).into_owned())
    }

    /// The daemon's last look, with the verdict that a proof on a node of the scenario has.
    fn looked(&self, scenario: &Scenario, age: Duration) {
        let (report, _) = Node::with(scenario).probe(&[]);
        self.write("last-passive.json", &report, age);
    }

    /// A result that was made so long ago, by its own word: the file is new.
    fn write(&self, name: &str, report: &Report, age: Duration) {
        self.write_of(name, report, now().checked_sub(age).unwrap().into());
    }

    fn write_of(&self, name: &str, report: &Report, finished: OffsetDateTime) {
        let mut report = report.clone();
        report.finished_at = finished.format(&Rfc3339).unwrap();
        fs::write(
            self.node.path("state").join(name),
            serde_json::to_vec(&report).unwrap(),
        )
        .unwrap();
    }
}

#[expect(clippy::disallowed_methods, reason = "Slurm's own clock")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// As Slurm is asked to write times.
fn seconds() -> u64 {
    now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

const ARMED: &str = "arm = true";
const FRESH: Duration = Duration::ZERO;
