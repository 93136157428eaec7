//! Who else uses the GPU.

use std::fs;

use kb_core::report::Fact;
use rustix::process::{Pid, getpid, getppid};

use nvml_wrapper::Device;

use super::{Managed, Sheet};

/// Inode of the first PID namespace of a host (`PROC_PID_INIT_INO` of the kernel): in any other, NVML lists only the
/// processes of that one.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

pub(super) fn read(gpu: &Managed, sheet: &mut Sheet) {
    sheet.put("processes.count", strangers(gpu));
    let rates = gpu.ask("nvmlDeviceGetUtilizationRates", Device::utilization_rates);
    sheet.put_part("utilization.gpu_percent", &rates, |rates| rates.gpu);
}

/// Compute processes that are not of this run.
fn strangers(gpu: &Managed) -> Fact<u64> {
    let listed = gpu.ask(
        "nvmlDeviceGetComputeRunningProcesses_v3",
        Device::running_compute_processes,
    );
    let mut count = listed.map(|processes| {
        let others = processes.iter().filter(|process| !is_of_this_run(process.pid));
        u64::try_from(others.count()).unwrap_or(u64::MAX)
    });
    let elsewhere = fs::read_link("/proc/self/ns/pid").is_ok_and(|name| name.as_os_str() != FIRST_NAMESPACE);
    if count.value.is_some() && elsewhere {
        count
            .source
            .push_str(", which lists this container's processes only");
    }
    count
}

/// This process and what its parent has started beside it: the partner, and workers of earlier checks.
fn is_of_this_run(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let Some(pid) = pid else { return false };
    pid == getpid() || parent_of(pid).is_some_and(|parent| Some(parent) == getppid())
}

fn parent_of(pid: Pid) -> Option<Pid> {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    Pid::from_raw(line.trim().parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_and_its_siblings_are_of_the_run() {
        assert!(is_of_this_run(std::process::id()));
        assert_eq!(parent_of(getpid()), getppid());
        assert!(!is_of_this_run(0) && !is_of_this_run(u32::MAX));
        let mut child = std::process::Command::new("/bin/cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        assert!(!is_of_this_run(child.id()), "a child is no sibling");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
