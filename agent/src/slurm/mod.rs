//! What Slurm is asked and told, through `scontrol`.

mod node;

pub(crate) use node::Node;
#[cfg(test)]
pub(crate) use node::State;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::process::output_within;

/// Longest that Slurm may take to answer; without its controller `scontrol` waits for minutes.
const LIMIT: Duration = Duration::from_secs(10);
/// Characters of what a failed `scontrol` says that are passed on.
const LONGEST_COMPLAINT: usize = 400;

#[derive(Debug, Clone)]
pub(crate) struct Scontrol(pub(crate) PathBuf);

impl Default for Scontrol {
    fn default() -> Self {
        Self(PathBuf::from("scontrol"))
    }
}

impl Scontrol {
    pub(crate) fn node(&self, name: &str) -> Result<Node, String> {
        let told = self.run(&["--oneliner", "show", "node", name])?;
        let first = node::parse(&told).into_iter().next();
        first.ok_or_else(|| format!("scontrol tells no State of node {name}"))
    }

    pub(crate) fn nodes(&self) -> Result<Vec<Node>, String> {
        Ok(node::parse(&self.run(&[
            "--all",
            "--oneliner",
            "show",
            "nodes",
        ])?))
    }

    pub(crate) fn drain(&self, name: &str, reason: &str) -> Result<(), String> {
        self.update(name, &["State=DRAIN", &format!("Reason={reason}")])
    }

    pub(crate) fn resume(&self, name: &str) -> Result<(), String> {
        self.update(name, &["State=RESUME"])
    }

    /// Puts a batch job back into the queue, where it waits until a person releases it.
    pub(crate) fn requeue_and_hold(&self, job: &str) -> Result<(), String> {
        self.run(&["requeuehold", job]).map(drop)
    }

    fn update(&self, name: &str, changes: &[&str]) -> Result<(), String> {
        let node = format!("NodeName={name}");
        self.run(&[&["update", &node], changes].concat()).map(drop)
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.0);
        // Times as seconds since 1970, in whatever zone the node is.
        command.args(arguments).env("SLURM_TIME_FORMAT", "%s");
        let output = output_within(&mut command, LIMIT).map_err(|error| {
            if error.kind() == std::io::ErrorKind::TimedOut {
                format!("scontrol did not answer within {} s", LIMIT.as_secs())
            } else {
                format!("{}: {error}", self.0.display())
            }
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let status = output.status;
        let complaint = first_line(&output.stderr).or_else(|| first_line(&output.stdout));
        Err(complaint.map_or_else(
            || format!("scontrol: {status}"),
            |complaint| format!("scontrol: {status}: {complaint}"),
        ))
    }
}

/// What slurmd calls this node: its own word where it set one, else the host's short name, which is its default.
pub(crate) fn own_name() -> String {
    let set = std::env::var("SLURMD_NODENAME").ok();
    set.as_deref().and_then(usable_name).unwrap_or_else(|| {
        let system = rustix::system::uname();
        let name = system.nodename().to_string_lossy();
        name.split('.').next().unwrap_or_default().to_owned()
    })
}

/// Nothing of a name that is empty, or that Slurm would not take for one name.
fn usable_name(set: &str) -> Option<String> {
    let name = set.trim();
    let is_one = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control());
    is_one.then(|| name.to_owned())
}

fn first_line(said: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(said);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let shown = line.chars().filter(|c| !c.is_control());
    Some(shown.take(LONGEST_COMPLAINT).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_none_does_not_count() {
        for good in ["gpu-17", "gpu-17\n", " gpu-17"] {
            assert_eq!(usable_name(good).as_deref(), Some("gpu-17"), "{good:?}");
        }
        for bad in ["", "\n", "gpu-17\ngpu-18", "gpu-17 State=RESUME", "gpu\u{7}"] {
            assert_eq!(usable_name(bad), None, "{bad:?}");
        }
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
}
