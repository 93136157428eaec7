//! Who else uses the GPU.

use std::fmt::Display;
use std::fs;

use kb_core::report::{Fact, fact_name};
use nvml_wrapper::Device;
use nvml_wrapper::error::{NvmlError, nvml_try};
use nvml_wrapper_sys::bindings::{nvmlDevice_t, nvmlProcessInfo_t, nvmlReturn_t};
use rustix::process::{Pid, getpid, getppid};

use super::managed::or_older;
use super::raw::{Symbol, found};
use super::{Managed, Sheet};

/// Inode of the first PID namespace of a host (kernel: `PROC_PID_INIT_INO`): in any other, NVML lists only that one's processes.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

pub(super) fn read(gpu: &Managed, sheet: &mut Sheet) {
    sheet.put(fact_name::PROCESSES_COUNT, strangers(gpu));
    let rates = gpu.ask("nvmlDeviceGetUtilizationRates", Device::utilization_rates);
    sheet.put_part(fact_name::UTILIZATION_GPU_PERCENT, &rates, |rates| rates.gpu);
}

/// Compute processes that are not of this run. Version 3 came with driver 535; version 2 has the same shape.
fn strangers(gpu: &Managed) -> Fact<u64> {
    let newer = gpu.ask("nvmlDeviceGetComputeRunningProcesses_v3", |device| {
        pids(
            device,
            &device.nvml().lib().nvmlDeviceGetComputeRunningProcesses_v3,
        )
    });
    let listed = or_older(newer, || {
        gpu.ask("nvmlDeviceGetComputeRunningProcesses_v2", |device| {
            pids(
                device,
                &device.nvml().lib().nvmlDeviceGetComputeRunningProcesses_v2,
            )
        })
    });
    let mut count = listed.map(|pids| {
        let others = pids.into_iter().filter(|pid| !is_of_this_run(*pid));
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

type Lister = unsafe extern "C" fn(nvmlDevice_t, *mut u32, *mut nvmlProcessInfo_t) -> nvmlReturn_t;

/// More processes than a GPU usually has.
const ROOM: u32 = 64;
/// For processes that start between two questions.
const HEADROOM: u32 = 16;

fn pids<E: Display>(device: &Device<'_>, symbol: &Symbol<Lister, E>) -> Result<Vec<u32>, NvmlError> {
    const BLANK: nvmlProcessInfo_t = nvmlProcessInfo_t {
        pid: 0,
        usedGpuMemory: 0,
        gpuInstanceId: 0,
        computeInstanceId: 0,
    };
    let function = found(symbol)?;
    let ask = |room: u32| {
        let mut infos = vec![BLANK; usize::try_from(room).unwrap_or(0)];
        let mut count = room;
        // SAFETY: a live handle, and as many places as said.
        let answer = nvml_try(unsafe { function(device.handle(), &raw mut count, infos.as_mut_ptr()) });
        (answer, count, infos)
    };
    let (mut answer, mut count, mut infos) = ask(ROOM);
    if matches!(answer, Err(NvmlError::InsufficientSize(_))) {
        (answer, count, infos) = ask(count.saturating_add(HEADROOM));
    }
    answer?;
    infos.truncate(usize::try_from(count).unwrap_or(0));
    Ok(infos.iter().map(|info| info.pid).collect())
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
