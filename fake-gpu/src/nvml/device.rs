//! Devices: handles and identity. A handle is the place in the scenario plus one.

use super::{
    Code,
    about::{About, about},
    system::put,
};
use crate::{
    ffi::{Out, Text},
    gate::nvml_after_init,
    machine::Machine,
    scenario::{Gpu, parse_pci},
};
use std::ffi::{c_char, c_int, c_uint};

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

/// Puts the handle of the first GPU that fits; where none does, the error is `none`.
fn put_first(
    machine: &'static Machine,
    handle: &Out<usize>,
    none: Code,
    fits: impl Fn(&Gpu) -> bool,
) -> Result<(), Code> {
    let place = machine.scenario.gpus.iter().position(fits).ok_or(none)?;
    About::of(machine, place + 1)?;
    Ok(handle.put(place + 1)?)
}

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
        About::of(machine, wanted)?;
        Ok(handle.put(wanted)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetHandleByPciBusId_v2(address: Text, handle: Out<usize>) -> c_int {
    nvml_after_init("nvmlDeviceGetHandleByPciBusId_v2", |machine| {
        let wanted = parse_pci(&address.text()?).ok_or(Code::INVALID_ARGUMENT)?;
        put_first(machine, &handle, Code::INVALID_ARGUMENT, |gpu| {
            gpu.pci_parts() == Some(wanted)
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetHandleByUUID(uuid: Text, handle: Out<usize>) -> c_int {
    nvml_after_init("nvmlDeviceGetHandleByUUID", |machine| {
        let wanted = uuid.text()?;
        put_first(machine, &handle, Code::NOT_FOUND, |gpu| gpu.uuid == wanted)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetName(handle: usize, name: Out<c_char>, bytes: c_uint) -> c_int {
    about("nvmlDeviceGetName", handle, |about| {
        put(&name, bytes, &about.gpu.name)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetUUID(handle: usize, uuid: Out<c_char>, bytes: c_uint) -> c_int {
    about("nvmlDeviceGetUUID", handle, |about| {
        put(&uuid, bytes, &about.gpu.uuid)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetPciInfo_v3(handle: usize, info: Out<PciInfo>) -> c_int {
    about("nvmlDeviceGetPciInfo_v3", handle, |about| {
        let found = pci_info(&about.gpu.pci, about.gpu.pci_device_id);
        Ok(info.put(found.ok_or(Code::UNKNOWN)?)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetIndex(handle: usize, index: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetIndex", handle, |about| {
        Ok(index.put(about.place as c_uint)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMinorNumber(handle: usize, minor: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetMinorNumber", handle, |about| {
        Ok(minor.put(about.place as c_uint)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetCudaComputeCapability(
    handle: usize,
    major: Out<c_int>,
    minor: Out<c_int>,
) -> c_int {
    about("nvmlDeviceGetCudaComputeCapability", handle, |about| {
        let capability = about.gpu.compute_capability;
        major.put(capability.0 as c_int)?;
        Ok(minor.put(capability.1 as c_int)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetBrand(handle: usize, brand: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetBrand", handle, |about| {
        Ok(brand.put(about.now.brand)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetGspFirmwareVersion(handle: usize, version: Out<c_char>) -> c_int {
    /// `NVML_GSP_FIRMWARE_VERSION_BUF_SIZE`: the function takes no size.
    const BYTES: c_uint = 0x40;
    about("nvmlDeviceGetGspFirmwareVersion", handle, |about| {
        put(&version, BYTES, &about.now.gsp_version)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNumaNodeId(handle: usize, node: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetNumaNodeId", handle, |about| {
        Ok(node.put(about.now.numa_node.ok_or(Code::NOT_SUPPORTED)?)?)
    })
}
