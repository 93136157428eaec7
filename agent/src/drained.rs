//! Whether somebody took the node out of service: then nobody waits for its GPUs, and a run disturbs no one.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest that Slurm may take to answer; without its controller `scontrol` waits for minutes.
const LIMIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);
/// Bytes of what a failed `scontrol` says that are looked at.
const LONGEST_COMPLAINT: u64 = 400;

/// Who knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Drained {
    /// `scontrol show node`.
    Slurm,
    /// A file that is there for as long as the node is out of service.
    File(PathBuf),
}

impl std::str::FromStr for Drained {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "slurm" => Ok(Self::Slurm),
            path if path.starts_with('/') => Ok(Self::File(path.into())),
            _ => Err("give slurm, or the absolute path of a file".to_owned()),
        }
    }
}

impl Drained {
    /// True when the node is out of service and no job is left on it; an error where that cannot be told.
    pub(crate) fn is_so(&self) -> Result<bool, String> {
        match self {
            Self::File(path) => path.try_exists().map_err(|error| cannot_look(path, &error)),
            Self::Slurm => {
                let name = slurms_name();
                let told = ask(Command::new("scontrol").args(["--oneliner", "show", "node", &name]))?;
                let state = state(&told).ok_or_else(|| format!("scontrol tells no State of node {name}"))?;
                Ok(is_drained(state))
            }
        }
    }
}

fn cannot_look(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// What slurmd calls this node: its own word where it set one, else the host's short name, which is its default.
fn slurms_name() -> String {
    if let Some(name) = std::env::var_os("SLURMD_NODENAME") {
        return name.to_string_lossy().into_owned();
    }
    let system = rustix::system::uname();
    let name = system.nodename().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// The standard output of a command that ends with 0 in time.
fn ask(command: &mut Command) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("scontrol: {error}"))?;
    let began = Instant::now();
    // A node's text fits into the pipe, and so do complaints, so that they can be read behind the end.
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if began.elapsed() < LIMIT => std::thread::sleep(PAUSE),
            Ok(None) => {
                // It may have ended meanwhile, which is as good.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("scontrol did not answer within {} s", LIMIT.as_secs()));
            }
            Err(error) => return Err(format!("scontrol: {error}")),
        }
    };
    if !status.success() {
        let complaint = child.stderr.take().and_then(first_line);
        return Err(complaint.map_or_else(
            || format!("scontrol: {status}"),
            |complaint| format!("scontrol: {status}: {complaint}"),
        ));
    }
    let mut told = Vec::new();
    let read = child.stdout.take().map(|mut out| out.read_to_end(&mut told));
    match read {
        Some(Err(error)) => Err(format!("scontrol: {error}")),
        _ => Ok(String::from_utf8_lossy(&told).into_owned()),
    }
}

/// The first line that says something, in as much as a message can bear.
fn first_line(from: impl Read) -> Option<String> {
    let mut bytes = Vec::new();
    from.take(LONGEST_COMPLAINT).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().filter(|c| !c.is_control()).collect())
}

/// `State=IDLE+DRAIN` among the words.
fn state(told: &str) -> Option<&str> {
    told.split_whitespace()
        .find_map(|word| word.strip_prefix("State="))
}

/// A state is a base and flags, joined by `+`, each perhaps with a mark behind it (`*`: the node does not respond).
/// DRAIN with jobs left (ALLOCATED, MIXED, COMPLETING) is what sinfo calls draining.
fn is_drained(state: &str) -> bool {
    let is = |word: &str| {
        state
            .split('+')
            .any(|part| part.trim_end_matches(|mark: char| !mark.is_ascii_alphabetic()) == word)
    };
    is("DRAIN") && (is("IDLE") || is("DOWN")) && !is("COMPLETING")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_drained_when_no_job_is_left() {
        for (state, expected) in [
            ("IDLE+DRAIN", true),
            ("IDLE*+DRAIN", true),
            ("DOWN+DRAIN+NOT_RESPONDING", true),
            ("IDLE", false),
            ("MIXED+DRAIN", false),
            ("ALLOCATED+DRAIN", false),
            ("IDLE+COMPLETING+DRAIN", false),
            ("DOWN", false),
            ("", false),
        ] {
            assert_eq!(is_drained(state), expected, "{state}");
        }
    }

    #[test]
    fn the_state_is_found_among_the_words() {
        let told = "NodeName=gpu-17 Arch=x86_64 CoresPerSocket=32 State=IDLE+DRAIN ThreadsPerCore=1 Reason=State of it";
        assert_eq!(state(told), Some("IDLE+DRAIN"));
        assert_eq!(state("Node gpu-17 not found"), None);
    }

    #[test]
    fn the_first_line_of_a_complaint_is_passed_on() {
        let of = |text: &str| first_line(text.as_bytes());
        let said = "\n slurm_load_node error: Unable to contact slurm controller\u{7}\nmore\n";
        assert_eq!(
            of(said).as_deref(),
            Some("slurm_load_node error: Unable to contact slurm controller")
        );
        assert_eq!(of(" \n\n"), None);
        assert_eq!(of(&"x".repeat(1_000)).unwrap_or_default().len(), 400);
    }

    #[test]
    fn a_relative_path_is_no_answer() {
        assert_eq!("slurm".parse(), Ok(Drained::Slurm));
        assert_eq!("/run/drained".parse(), Ok(Drained::File("/run/drained".into())));
        assert!("drained".parse::<Drained>().is_err());
    }
}
