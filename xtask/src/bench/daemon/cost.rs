//! What the kernel says of a process and of those that it started.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

/// Ticks of `/proc/PID/stat` a second: `USER_HZ`, 100 on every architecture that the agent is built for.
const TICKS: u64 = 100;

/// Processor time of each thread of a process, in nanoseconds (`/proc/PID/task/TID/schedstat`, first field;
/// Documentation/scheduler/sched-stats.rst in the kernel). One that ends meanwhile is left out.
pub(super) fn threads(pid: u32) -> Result<BTreeMap<u32, Duration>> {
    let mut found = BTreeMap::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let thread = thread?;
        let id = thread.file_name().to_string_lossy().parse()?;
        match fs::read_to_string(thread.path().join("schedstat")) {
            Ok(text) => {
                let time =
                    nanoseconds(&text).with_context(|| format!("{}: {text:?}", thread.path().display()))?;
                found.insert(id, time);
            }
            Err(error) if has_ended(&error) => {}
            Err(error) => return Err(error).with_context(|| thread.path().display().to_string()),
        }
    }
    ensure!(
        !found.is_empty(),
        "no schedstat: the kernel was built without CONFIG_SCHED_INFO"
    );
    Ok(found)
}

/// What reading of a thread that is gone gives: its folder is not there, or `ESRCH`.
fn has_ended(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound
        || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

fn nanoseconds(schedstat: &str) -> Option<Duration> {
    schedstat
        .split_whitespace()
        .next()?
        .parse()
        .ok()
        .map(Duration::from_nanos)
}

/// Processor time of the children of a process that have ended, user and system, in steps of 10 ms (`proc_pid_stat(5)`,
/// fields 16 and 17).
pub(super) fn of_children(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    ticks_of_children(&stat)
        .map(|ticks| Duration::from_millis(ticks * 1_000 / TICKS))
        .with_context(|| format!("/proc/{pid}/stat: {stat:?}"))
}

/// The sum of the two fields. The name before them, in brackets, may hold anything.
fn ticks_of_children(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    // The first one behind the name is field 3.
    let own: Vec<u64> = fields
        .split_whitespace()
        .skip(16 - 3)
        .take(2)
        .filter_map(|field| field.parse().ok())
        .collect();
    (own.len() == 2).then(|| own.iter().sum())
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

    use std::time::Instant;

    use super::*;

    #[test]
    fn times_are_read_behind_any_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 11 22 33 44 39 19 1 0 5 0 0";
        assert_eq!(ticks_of_children(stat), Some(77));
        assert_eq!(ticks_of_children("7 (a) S 1"), None);
        assert_eq!(
            nanoseconds("1234567 89 3\n"),
            Some(Duration::from_nanos(1_234_567))
        );
        assert_eq!(nanoseconds(""), None);
    }

    #[test]
    fn work_shows_below_a_tick() {
        let own = std::process::id();
        let spent = || threads(own).unwrap().values().sum::<Duration>();
        let (before, began) = (spent(), Instant::now());
        // The kernel brings the figure up to date at each tick of its own, 1 to 10 ms.
        while spent() == before {
            assert!(
                began.elapsed() < Duration::from_secs(10),
                "work that does not show"
            );
        }
        assert!(spent() < before + Duration::from_secs(20));
    }

    #[test]
    fn this_process_has_memory() {
        let own = std::process::id();
        assert!(memory(own, "VmHWM").unwrap() >= memory(own, "VmRSS").unwrap() / 2);
        assert!(memory_of_all(own) > 1 << 20);
        of_children(own).unwrap();
    }
}
