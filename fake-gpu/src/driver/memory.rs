//! Allocation of device and pinned host memory.

use super::Code;
use crate::{ffi::Out, gate::after_init, machine::memory::Origin};
use std::ffi::{c_int, c_uint};

/// `CU_MEMHOSTALLOC_PORTABLE | DEVICEMAP | WRITECOMBINED`.
const HOST_FLAGS: c_uint = 7;

#[unsafe(no_mangle)]
extern "C" fn cuMemAlloc_v2(address: Out<u64>, bytes: usize) -> c_int {
    after_init("cuMemAlloc_v2", |machine| {
        let context = machine.current()?;
        if bytes == 0 || address.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        Ok(address.put(machine.allocate(context.ordinal, context.gpu, bytes as u64)?)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFree_v2(address: u64) -> c_int {
    after_init("cuMemFree_v2", |machine| {
        if address == 0 {
            return Ok(());
        }
        machine.current()?;
        let region = machine.memory.beginning_at(address).ok_or(Code::INVALID_VALUE)?;
        if !matches!(&region.device, Some(device) if matches!(device.origin, Origin::Own)) {
            return Err(Code::INVALID_VALUE);
        }
        machine.finish_users(&region);
        machine.release(address);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) -> c_int {
    after_init("cuMemGetInfo_v2", |machine| {
        let context = machine.current()?;
        let gpu = machine.gpu(context.gpu).ok_or(Code::INVALID_DEVICE)?;
        let used = machine.ledger.used(context.gpu)? + gpu.listed_bytes();
        // Either may be left out.
        let _ = free.put(gpu.memory_bytes.saturating_sub(used) as usize);
        let _ = total.put(gpu.memory_bytes as usize);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemHostAlloc(address: Out<u64>, bytes: usize, flags: c_uint) -> c_int {
    after_init("cuMemHostAlloc", |machine| {
        let context = machine.current()?;
        if flags & !HOST_FLAGS != 0 || address.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        if bytes == 0 {
            return Ok(address.put(0)?);
        }
        Ok(address.put(machine.allocate_host(context.ordinal, bytes as u64)?)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFreeHost(address: u64) -> c_int {
    after_init("cuMemFreeHost", |machine| {
        machine.current()?;
        let region = machine
            .memory
            .beginning_at(address)
            .filter(|region| region.device.is_none());
        let region = region.ok_or(Code::INVALID_VALUE)?;
        machine.finish_users(&region);
        machine.release(address);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemHostGetDevicePointer_v2(device: Out<u64>, host: u64, flags: c_uint) -> c_int {
    after_init("cuMemHostGetDevicePointer_v2", |machine| {
        machine.current()?;
        let (region, _) = machine.memory.find(host, 1).ok_or(Code::INVALID_VALUE)?;
        if flags != 0 || region.device.is_some() {
            return Err(Code::INVALID_VALUE);
        }
        Ok(device.put(host)?)
    })
}
