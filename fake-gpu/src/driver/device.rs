//! Devices: enumeration, names, attributes.

use super::Code;
use crate::{
    ffi::{Out, Text, put_cut, put_text},
    gate::after_init,
    machine::Machine,
    scenario::{Gpu, parse_pci},
};
use std::ffi::{c_char, c_int};

fn gpu(machine: &Machine, device: c_int) -> Result<&Gpu, Code> {
    machine.gpu(place(machine, device)?).ok_or(Code::INVALID_DEVICE)
}

pub(super) fn place(machine: &Machine, device: c_int) -> Result<usize, Code> {
    let ordinal = ordinal(machine, device)?;
    machine.devices.get(ordinal).copied().ok_or(Code::INVALID_DEVICE)
}

/// A CUDA ordinal that exists.
pub(super) fn ordinal(machine: &Machine, device: c_int) -> Result<usize, Code> {
    let ordinal = usize::try_from(device).map_err(|_| Code::INVALID_DEVICE)?;
    if ordinal < machine.devices.len() {
        Ok(ordinal)
    } else {
        Err(Code::INVALID_DEVICE)
    }
}

fn capacity(bytes: c_int) -> Result<usize, Code> {
    usize::try_from(bytes)
        .ok()
        .filter(|bytes| *bytes > 0)
        .ok_or(Code::INVALID_VALUE)
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetCount(count: Out<c_int>) -> c_int {
    after_init("cuDeviceGetCount", |machine| {
        Ok(count.put(machine.devices.len() as c_int)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGet(device: Out<c_int>, number: c_int) -> c_int {
    after_init("cuDeviceGet", |machine| {
        Ok(device.put(ordinal(machine, number)? as c_int)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetName(name: Out<c_char>, bytes: c_int, device: c_int) -> c_int {
    after_init("cuDeviceGetName", |machine| {
        put_cut(&name, capacity(bytes)?, &gpu(machine, device)?.name)?;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetUuid(uuid: Out<[u8; 16]>, device: c_int) -> c_int {
    after_init("cuDeviceGetUuid", |machine| put_uuid(machine, &uuid, device))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetUuid_v2(uuid: Out<[u8; 16]>, device: c_int) -> c_int {
    after_init("cuDeviceGetUuid_v2", |machine| put_uuid(machine, &uuid, device))
}

fn put_uuid(machine: &Machine, uuid: &Out<[u8; 16]>, device: c_int) -> Result<(), Code> {
    Ok(uuid.put(gpu(machine, device)?.uuid_bytes().ok_or(Code::UNKNOWN)?)?)
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetPCIBusId(text: Out<c_char>, bytes: c_int, device: c_int) -> c_int {
    after_init("cuDeviceGetPCIBusId", |machine| {
        let (domain, bus, slot, function) = gpu(machine, device)?.pci_parts().ok_or(Code::UNKNOWN)?;
        // Four digits of domain here, eight in NVML. Unlike a name, an address is given whole or not at all.
        let address = format!("{domain:04x}:{bus:02x}:{slot:02x}.{function:x}");
        if !put_text(&text, capacity(bytes)?, &address)? {
            return Err(Code::INVALID_VALUE);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetByPCIBusId(device: Out<c_int>, text: Text) -> c_int {
    after_init("cuDeviceGetByPCIBusId", |machine| {
        let wanted = parse_pci(&text.text()?).ok_or(Code::INVALID_VALUE)?;
        let fits = |place: &usize| machine.gpu(*place).and_then(Gpu::pci_parts) == Some(wanted);
        let found = machine
            .devices
            .iter()
            .position(fits)
            .ok_or(Code::INVALID_DEVICE)?;
        Ok(device.put(found as c_int)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: c_int) -> c_int {
    after_init("cuDeviceTotalMem_v2", |machine| {
        Ok(bytes.put(gpu(machine, device)?.memory_bytes as usize)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetAttribute(value: Out<c_int>, attribute: c_int, device: c_int) -> c_int {
    after_init("cuDeviceGetAttribute", |machine| {
        let gpu = gpu(machine, device)?;
        let found = attribute_of(machine, gpu, attribute).ok_or(Code::INVALID_VALUE)?;
        Ok(value.put(found)?)
    })
}

/// `CUdevice_attribute` numbers (`cuda.h`); `None` for those that the stand-in does not know.
fn attribute_of(machine: &Machine, gpu: &Gpu, attribute: c_int) -> Option<c_int> {
    let (domain, bus, slot, _) = gpu.pci_parts()?;
    let number = match attribute {
        1..=3 => 1024,                                 // threads of a block, its x and y
        4 => 64,                                       // block z
        5 => 0x7fff_ffff,                              // grid x
        6 | 7 => 0xffff,                               // grid y, z
        10 => 32,                                      // warp
        13 => gpu.clock_khz,                           // clock, kHz
        16 => gpu.multiprocessors,                     // multiprocessors
        20 => gpu.compute_mode.code(),                 // compute mode
        40 => gpu.copy_engines,                        // copy engines
        15 | 19 | 31 | 41 | 78 => 1, // copy overlap, host mapping, concurrent kernels, UVA, priorities
        17 | 18 | 35 | 128 => 0,     // kernel timeout, integrated, TCC, fabric handles
        33 => bus,                   // PCI bus
        34 => slot,                  // PCI device
        39 => 2048,                  // threads per multiprocessor
        50 => domain,                // PCI domain
        75 => gpu.compute_capability.0, // compute capability, major
        76 => gpu.compute_capability.1, // minor
        102 => u32::from(machine.exports("cuMemMap")), // virtual memory management
        103 => u32::from(machine.exports("cuMemExportToShareableHandle")), // descriptors of it
        _ => return None,
    };
    c_int::try_from(number).ok()
}
