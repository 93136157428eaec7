//! Devices: handles, identity, state. A handle is the place in the scenario plus one.

use super::{Code, system::put};
use crate::{
    ffi::{Out, Text},
    gate::nvml_after_init,
    machine::Machine,
    scenario::{Gpu, parse_pci},
};
use std::ffi::{c_char, c_int, c_uint, c_ulonglong};

/// `nvmlPciInfo_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct PciInfo {
    bus_id_legacy: [u8; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    pci_device_id: c_uint,
    pci_subsystem_id: c_uint,
    bus_id: [u8; 32],
}

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

/// The place of a handle.
pub(super) fn place(machine: &Machine, handle: usize) -> Result<usize, Code> {
    let place = handle
        .checked_sub(1)
        .filter(|place| *place < machine.scenario.gpus.len());
    place.ok_or(Code::INVALID_ARGUMENT)
}

/// The GPU of a handle.
pub(super) fn gpu(machine: &Machine, handle: usize) -> Result<&Gpu, Code> {
    machine.gpu(place(machine, handle)?).ok_or(Code::INVALID_ARGUMENT)
}

/// Puts the handle of the first GPU that fits.
fn put_first(machine: &Machine, handle: &Out<usize>, fits: impl Fn(&Gpu) -> bool) -> Result<(), Code> {
    let place = machine
        .scenario
        .gpus
        .iter()
        .position(fits)
        .ok_or(Code::NOT_FOUND)?;
    Ok(handle.put(place + 1)?)
}

/// NVML's description of a PCI address.
pub(super) fn pci_info(address: &str, device_id: u32) -> Option<PciInfo> {
    let (domain, bus, device, function) = parse_pci(address)?;
    let text = format!("{domain:08X}:{bus:02X}:{device:02X}.{function:X}");
    let legacy = format!("{domain:04X}:{bus:02X}:{device:02X}.{function:X}");
    Some(PciInfo {
        bus_id_legacy: padded(&legacy),
        domain,
        bus,
        device,
        pci_device_id: device_id,
        pci_subsystem_id: 0,
        bus_id: padded(&text),
    })
}

fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    for (byte, value) in bytes.iter_mut().take(N - 1).zip(text.bytes()) {
        *byte = value;
    }
    bytes
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetCount_v2(count: Out<c_uint>) -> c_int {
    nvml_after_init("nvmlDeviceGetCount_v2", |machine| {
        Ok(count.put(machine.scenario.gpus.len() as c_uint)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, handle: Out<usize>) -> c_int {
    nvml_after_init("nvmlDeviceGetHandleByIndex_v2", |machine| {
        let wanted = index as usize + 1;
        place(machine, wanted)?;
        Ok(handle.put(wanted)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetHandleByPciBusId_v2(address: Text, handle: Out<usize>) -> c_int {
    nvml_after_init("nvmlDeviceGetHandleByPciBusId_v2", |machine| {
        let wanted = parse_pci(&address.text()?).ok_or(Code::INVALID_ARGUMENT)?;
        put_first(machine, &handle, |gpu| gpu.pci_parts() == Some(wanted))
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetHandleByUUID(uuid: Text, handle: Out<usize>) -> c_int {
    nvml_after_init("nvmlDeviceGetHandleByUUID", |machine| {
        let wanted = uuid.text()?;
        put_first(machine, &handle, |gpu| gpu.uuid == wanted)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetName(handle: usize, name: Out<c_char>, bytes: c_uint) -> c_int {
    nvml_after_init("nvmlDeviceGetName", |machine| {
        put(&name, bytes, &gpu(machine, handle)?.name)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetUUID(handle: usize, uuid: Out<c_char>, bytes: c_uint) -> c_int {
    nvml_after_init("nvmlDeviceGetUUID", |machine| {
        put(&uuid, bytes, &gpu(machine, handle)?.uuid)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetPciInfo_v3(handle: usize, info: Out<PciInfo>) -> c_int {
    nvml_after_init("nvmlDeviceGetPciInfo_v3", |machine| {
        let gpu = gpu(machine, handle)?;
        Ok(info.put(pci_info(&gpu.pci, gpu.pci_device_id).ok_or(Code::UNKNOWN)?)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetIndex(handle: usize, index: Out<c_uint>) -> c_int {
    nvml_after_init("nvmlDeviceGetIndex", |machine| {
        Ok(index.put(place(machine, handle)? as c_uint)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMinorNumber(handle: usize, minor: Out<c_uint>) -> c_int {
    nvml_after_init("nvmlDeviceGetMinorNumber", |machine| {
        Ok(minor.put(place(machine, handle)? as c_uint)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetCudaComputeCapability(
    handle: usize,
    major: Out<c_int>,
    minor: Out<c_int>,
) -> c_int {
    nvml_after_init("nvmlDeviceGetCudaComputeCapability", |machine| {
        let capability = gpu(machine, handle)?.compute_capability;
        major.put(capability.0 as c_int)?;
        Ok(minor.put(capability.1 as c_int)?)
    })
}

/// Total and used bytes.
fn memory(machine: &Machine, handle: usize) -> Result<(u64, u64), Code> {
    let gpu = gpu(machine, handle)?;
    Ok((
        gpu.memory_bytes,
        machine.ledger.used(place(machine, handle)?)? + gpu.listed_bytes(),
    ))
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMemoryInfo(handle: usize, info: Out<Memory>) -> c_int {
    nvml_after_init("nvmlDeviceGetMemoryInfo", |machine| {
        let (total, used) = memory(machine, handle)?;
        Ok(info.put(Memory {
            total,
            free: total.saturating_sub(used),
            used,
        })?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMemoryInfo_v2(handle: usize, info: Out<Memory2>) -> c_int {
    nvml_after_init("nvmlDeviceGetMemoryInfo_v2", |machine| {
        let version = info.get()?.version;
        if version != size_of::<Memory2>() as c_uint | 2 << 24 {
            return Err(Code::VERSION_MISMATCH);
        }
        let (total, used) = memory(machine, handle)?;
        let reserved = gpu(machine, handle)?.reserved_bytes;
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
extern "C" fn nvmlDeviceGetMigMode(handle: usize, current: Out<c_uint>, pending: Out<c_uint>) -> c_int {
    nvml_after_init("nvmlDeviceGetMigMode", |machine| {
        let on = c_uint::from(gpu(machine, handle)?.mig.ok_or(Code::NOT_SUPPORTED)?);
        current.put(on)?;
        Ok(pending.put(on)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetComputeMode(handle: usize, mode: Out<c_uint>) -> c_int {
    nvml_after_init("nvmlDeviceGetComputeMode", |machine| {
        Ok(mode.put(gpu(machine, handle)?.compute_mode.code())?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetPersistenceMode(handle: usize, mode: Out<c_uint>) -> c_int {
    nvml_after_init("nvmlDeviceGetPersistenceMode", |machine| {
        Ok(mode.put(c_uint::from(gpu(machine, handle)?.persistence))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetTemperature(handle: usize, sensor: c_uint, degrees: Out<c_uint>) -> c_int {
    nvml_after_init("nvmlDeviceGetTemperature", |machine| {
        let gpu = gpu(machine, handle)?;
        // The only sensor of this function is that of the die, number 0.
        if sensor != 0 {
            return Err(Code::INVALID_ARGUMENT);
        }
        Ok(degrees.put(gpu.temperature)?)
    })
}
