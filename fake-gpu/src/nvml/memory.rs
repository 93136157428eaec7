//! Memory of a GPU, and the window to it.

use super::{
    Code,
    about::{About, about},
};
use crate::ffi::Out;
use std::ffi::{c_int, c_uint, c_ulonglong};

/// `nvmlMemory_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Memory {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlMemory_v2_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Memory2 {
    version: c_uint,
    total: c_ulonglong,
    reserved: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlBAR1Memory_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Bar1 {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// Total and used bytes.
fn memory(about: &About) -> Result<(u64, u64), Code> {
    let used = about.machine.ledger.used(about.place)? + about.gpu.listed_bytes();
    Ok((about.gpu.memory_bytes, used))
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMemoryInfo(handle: usize, info: Out<Memory>) -> c_int {
    about("nvmlDeviceGetMemoryInfo", handle, |about| {
        let (total, used) = memory(about)?;
        Ok(info.put(Memory {
            total,
            free: total.saturating_sub(used),
            used,
        })?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMemoryInfo_v2(handle: usize, info: Out<Memory2>) -> c_int {
    about("nvmlDeviceGetMemoryInfo_v2", handle, |about| {
        let version = info.get()?.version;
        if version != size_of::<Memory2>() as c_uint | 2 << 24 {
            return Err(Code::VERSION_MISMATCH);
        }
        let (total, used) = memory(about)?;
        let reserved = about.gpu.reserved_bytes;
        let used = used - reserved;
        Ok(info.put(Memory2 {
            version,
            total,
            reserved,
            free: total.saturating_sub(used + reserved),
            used,
        })?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetBAR1MemoryInfo(handle: usize, info: Out<Bar1>) -> c_int {
    about("nvmlDeviceGetBAR1MemoryInfo", handle, |about| {
        let bar1 = about.now.bar1;
        Ok(info.put(Bar1 {
            total: bar1.total,
            free: bar1.total.saturating_sub(bar1.used),
            used: bar1.used,
        })?)
    })
}
