//! Both programs of a release on Arm: every kind of command line answers, the server serves, the agent proves.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::emulator::Emulator;
use super::stand_in;
use crate::bench::server::{Server, free_address};
use crate::shell;

/// Longest that one command may take, in seconds: an emulator takes ten times what the processor takes.
const LIMIT: &str = "120";
const XID_79: &str =
    "NVRM: Xid (PCI:0000:91:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n";
const RECORD: &str = "xid/79-gpu-has-fallen-off-the-bus";

pub(super) fn run(folder: &Path) -> Result<()> {
    let scratch = std::env::temp_dir().join(format!("peerless-arm-{}", std::process::id()));
    fs::create_dir(&scratch)?;
    let outcome = run_in(&scratch, folder);
    let removed = fs::remove_dir_all(&scratch);
    outcome?;
    Ok(removed?)
}

fn run_in(scratch: &Path, folder: &Path) -> Result<()> {
    let programs = [folder.join("peerless"), folder.join("peerless-agent")];
    let [server, agent] = &programs;
    let trial = Trial {
        emulator: Emulator::find(agent)?,
        scratch: scratch.to_owned(),
    };
    trial.command_lines(server, agent)?;
    trial.serving(server, agent)?;
    stand_in::run(&trial, agent)
}

pub(super) struct Trial {
    emulator: Emulator,
    scratch: PathBuf,
}

/// What a command line is given, and what it must come to.
pub(super) struct Expected<'a> {
    pub(super) name: &'a str,
    pub(super) input: &'a str,
    pub(super) code: i32,
    /// A part of what it prints.
    pub(super) says: &'a str,
}

impl Trial {
    /// A program with these arguments, and with folders of this trial in place of the machine's.
    pub(super) fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = self.emulator.command(program);
        command
            .args(arguments)
            .current_dir(shell::root())
            .env("PEERLESS_DATA_DIR", self.path("data"))
            .env("PEERLESS_LOCK_FILE", self.path("lock"))
            .env("PEERLESS_SIGNATURES", self.path("signatures.json"))
            .env("PEERLESS_SPOOL", self.path("spool"))
            .env("PEERLESS_STATE", self.path("state"));
        command
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    fn command_lines(&self, server: &Path, agent: &Path) -> Result<()> {
        let dated = format!("peerless {}\nrecords: ", env!("CARGO_PKG_VERSION"));
        let version = format!("peerless-agent {}", env!("CARGO_PKG_VERSION"));
        let rows: &[(&Path, &[&str], &str, i32, &str)] = &[
            (server, &["--version"], "", 0, &dated),
            (server, &["--help"], "", 0, "Usage: peerless"),
            (server, &["match", "-"], XID_79, 0, RECORD),
            (server, &["match", "-"], "all is well\n", 1, ""),
            (server, &["record", RECORD], "", 0, "GPU has fallen off the bus"),
            (server, &["search", "Xid", "79"], "", 0, RECORD),
            (server, &["check", "kb-seed/xid"], "", 0, "0 errors"),
            (server, &["match", "/nonexistent"], "", 2, "/nonexistent"),
            (agent, &["--version"], "", 0, &version),
            (agent, &["--help"], "", 0, "Usage: peerless-agent"),
            (agent, &["probe"], "", 3, "libcuda.so.1"),
            (agent, &["match", "-"], XID_79, 3, "no signatures"),
            (agent, &["probe", "--simulate", "healthy"], "", 0, "healthy"),
            (agent, &["probe", "--simulate", "lost"], "", 2, "gpu_lost"),
            (agent, &["probe", "--simulate", "hang"], "", 2, "hang"),
            (agent, &["probe", "--no-such-option"], "", 64, "--no-such-option"),
        ];
        for (program, arguments, input, code, says) in rows {
            let program_name = program.file_name().unwrap_or_default().to_string_lossy();
            let expected = Expected {
                name: &format!("{program_name} {}", arguments.join(" ")),
                input,
                code: *code,
                says,
            };
            expected.of(&self.command(program, arguments))?;
        }
        Ok(())
    }

    /// The server from an empty folder to its first answer, and both programs as its clients.
    fn serving(&self, server: &Path, agent: &Path) -> Result<()> {
        let address = free_address()?;
        let url = format!("http://{address}");
        let began = Instant::now();
        let command = self.command(server, &[]);
        let running = Server::start_command(command, address, &self.path("served"), &[])?;
        running.wait_until_ready()?;
        say("peerless serve, to the first answer", began.elapsed());
        let asked = Expected {
            name: "peerless match --server",
            input: XID_79,
            code: 0,
            says: RECORD,
        };
        asked.of(&self.command(server, &["match", "--server", &url, "-"]))?;
        let fetched = Expected {
            name: "peerless-agent match --server",
            ..asked
        };
        fetched.of(&self.command(agent, &["match", "--server", &url, "-"]))?;
        Ok(())
    }
}

impl Expected<'_> {
    /// Runs it to its end, and holds it to what is expected.
    pub(super) fn of(&self, command: &Command) -> Result<Output> {
        let name = self.name;
        let began = Instant::now();
        let mut child = limited(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("{name} does not start"))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that reads nothing may have ended before.
            stdin.write_all(self.input.as_bytes()).ok();
        }
        let output = child.wait_with_output()?;
        let lasted = began.elapsed();
        let told = [&output.stdout, &output.stderr].map(|stream| String::from_utf8_lossy(stream));
        ensure!(
            output.status.code() == Some(self.code) && told.iter().any(|stream| stream.contains(self.says)),
            "{name}: {} within {:.1} s, expected is code {} and {:?}:\n{}{}",
            output.status,
            lasted.as_secs_f64(),
            self.code,
            self.says,
            told[0],
            told[1]
        );
        say(name, lasted);
        Ok(output)
    }
}

/// The same, killed with all that it started when it takes too long.
fn limited(command: &Command) -> Command {
    let mut limited = Command::new("timeout");
    limited.args(["--signal=KILL", LIMIT]);
    limited.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        limited.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited
}

fn say(name: &str, lasted: Duration) {
    println!("{:6.1} s  {name}", lasted.as_secs_f64());
}
