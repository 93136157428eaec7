//! Another process: this test binary again, told by a variable which part to play.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// What the child is to work on.
const VARIABLE: &str = "PEERLESS_STORE_TEST_CHILD";

/// What this process is to work on; `None` when it is no child.
pub(crate) fn child_value() -> Option<String> {
    std::env::var(VARIABLE).ok()
}

/// A process that plays the part of an ignored test.
#[derive(Debug)]
pub(crate) struct Child {
    process: std::process::Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Child {
    /// Starts `part` (a test's full name) with `value`; `set_up` may change the command.
    pub(crate) fn start(part: &str, value: &str, set_up: impl FnOnce(&mut Command)) -> Self {
        Self::start_program(&std::env::current_exe().unwrap(), part, value, set_up)
    }

    /// The same with a copy of this program.
    pub(crate) fn start_program(
        program: &Path,
        part: &str,
        value: &str,
        set_up: impl FnOnce(&mut Command),
    ) -> Self {
        let mut command = Command::new(program);
        command
            .args(["--exact", part, "--ignored", "--nocapture", "--quiet"])
            .env(VARIABLE, value)
            .stdout(Stdio::piped());
        set_up(&mut command);
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap());
        Self { process, lines }
    }

    /// The next line that begins with `word`, without it; `None` at the end.
    pub(crate) fn line(&mut self, word: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // A line cut off by a kill was not said.
            let said = line.strip_suffix('\n').and_then(|line| line.strip_prefix(word));
            if let Some(said) = said {
                return Some(said.trim().to_owned());
            }
        }
    }

    /// SIGKILL; then what it had said before, whole lines that begin with `word`.
    pub(crate) fn kill(mut self, word: &str) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        std::iter::from_fn(|| self.line(word)).collect()
    }

    /// Waits for the end; whether it passed.
    pub(crate) fn passed(mut self) -> bool {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        self.process.wait().unwrap().success()
    }
}
