//! Processes that use a GPU: those of the scenario, and those that really have a context of the stand-in.

use super::{
    Code,
    about::{About, about},
};
use crate::ffi::Out;
use std::ffi::{c_int, c_uint, c_ulonglong};

/// `nvmlProcessInfo_v1_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Process1 {
    pid: c_uint,
    used: c_ulonglong,
}

/// `nvmlProcessInfo_v2_t`, which functions of version 3 take too.
#[derive(Clone, Copy)]
#[repr(C)]
struct Process2 {
    pid: c_uint,
    used: c_ulonglong,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

/// "Not in a MIG instance".
const NO_INSTANCE: c_uint = c_uint::MAX;

/// Fills the caller's array as far as `count` says; error 7, and the number needed, when that is not far enough.
fn put_processes<T: Copy>(
    about: &About,
    count: &Out<c_uint>,
    infos: &Out<T>,
    make: impl Fn(u32, u64) -> T,
) -> Result<(), Code> {
    let listed = about
        .gpu
        .processes
        .iter()
        .map(|process| (process.pid, process.used_bytes));
    let real = about.machine.ledger.processes(about.place)?;
    let all: Vec<_> = listed.chain(real).collect();
    let room = count.get()?;
    count.put(all.len() as c_uint)?;
    if all.len() > room as usize {
        return Err(Code::INSUFFICIENT_SIZE);
    }
    for (index, (pid, used)) in all.into_iter().enumerate() {
        infos.put_at(index, make(pid, used))?;
    }
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetComputeRunningProcesses(
    handle: usize,
    count: Out<c_uint>,
    infos: Out<Process1>,
) -> c_int {
    about("nvmlDeviceGetComputeRunningProcesses", handle, |about| {
        put_processes(about, &count, &infos, |pid, used| Process1 { pid, used })
    })
}

fn with_instances(pid: u32, used: u64) -> Process2 {
    Process2 {
        pid,
        used,
        gpu_instance: NO_INSTANCE,
        compute_instance: NO_INSTANCE,
    }
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetComputeRunningProcesses_v2(
    handle: usize,
    count: Out<c_uint>,
    infos: Out<Process2>,
) -> c_int {
    about("nvmlDeviceGetComputeRunningProcesses_v2", handle, |about| {
        put_processes(about, &count, &infos, with_instances)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(
    handle: usize,
    count: Out<c_uint>,
    infos: Out<Process2>,
) -> c_int {
    about("nvmlDeviceGetComputeRunningProcesses_v3", handle, |about| {
        put_processes(about, &count, &infos, with_instances)
    })
}
