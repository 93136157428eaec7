//! What the kernel says of a process and of those that it started.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// Ticks of `/proc/PID/stat` a second: `USER_HZ`, 100 on every architecture that the agent is built for.
const TICKS: u64 = 100;

/// Processor time of a process and of its children that have ended, user and system (`proc_pid_stat(5)`, fields 14 to 17).
pub(super) fn processor_time(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    ticks(&stat)
        .map(|ticks| Duration::from_millis(ticks * 1_000 / TICKS))
        .with_context(|| format!("/proc/{pid}/stat: {stat:?}"))
}

/// The sum of the four fields. The name before them, in brackets, may hold anything.
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    // The first one behind the name is field 3.
    let own: Vec<u64> = fields
        .split_whitespace()
        .skip(14 - 3)
        .take(4)
        .filter_map(|field| field.parse().ok())
        .collect();
    (own.len() == 4).then(|| own.iter().sum())
}

/// A line of `/proc/PID/status` that is given in kB, in bytes: `VmRSS` now, `VmHWM` the most so far.
pub(super) fn memory(pid: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line
        .trim_start_matches(':')
        .split_whitespace()
        .next()?
        .parse()
        .ok()?;
    Some(kib * 1_024)
}

/// What a process and everything below it have resident together; what they share counts once for each.
pub(super) fn memory_of_all(pid: u32) -> u64 {
    let own = memory(pid, "VmRSS").unwrap_or_default();
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let below = threads.into_iter().flatten().flatten().filter_map(|thread| {
        let children = fs::read_to_string(thread.path().join("children")).ok()?;
        let children = children.split_whitespace().filter_map(|child| child.parse().ok());
        Some(children.map(memory_of_all).sum::<u64>())
    });
    own + below.sum::<u64>()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn times_are_read_behind_any_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 11 22 33 44 39 19 1 0 5 0 0";
        assert_eq!(ticks(stat), Some(110));
        assert_eq!(ticks("7 (a) S 1"), None);
    }

    #[test]
    fn this_process_has_memory() {
        let own = std::process::id();
        assert!(memory(own, "VmHWM").unwrap() >= memory(own, "VmRSS").unwrap() / 2);
        assert!(memory_of_all(own) > 1 << 20);
        processor_time(own).unwrap();
    }
}
