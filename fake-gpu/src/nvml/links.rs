//! Pairs of GPUs and NVLink.

use super::{
    Code,
    device::{PciInfo, gpu, pci_info, place},
};
use crate::{
    ffi::Out,
    gate::nvml_after_init,
    machine::Machine,
    scenario::{LinkEnd, NvLink, entry},
};
use std::ffi::{c_int, c_uint};

/// `nvmlIntNvLinkDeviceType_t`.
const END_GPU: c_uint = 0;
const END_SWITCH: c_uint = 2;
/// `nvmlNvLinkCapability_t`: peer access, system memory, peer atomics, system memory atomics, SLI bridge, valid.
const CAPABILITIES: c_uint = 6;
const SLI_BRIDGE: c_uint = 4;

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetP2PStatus(
    from: usize,
    to: usize,
    capability: c_uint,
    status: Out<c_uint>,
) -> c_int {
    nvml_after_init("nvmlDeviceGetP2PStatus", |machine| {
        let (from, to) = (place(machine, from)?, place(machine, to)?);
        let pairs = &machine.scenario.pairs;
        let matrix = match capability {
            0 => &pairs.read,
            1 => &pairs.write,
            2 => &pairs.nvlink,
            3 => &pairs.atomics,
            4 => &pairs.pci,
            _ => return Err(Code::INVALID_ARGUMENT),
        };
        Ok(status.put(entry(matrix, from, to).ok_or(Code::UNKNOWN)?)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetTopologyCommonAncestor(from: usize, to: usize, level: Out<c_uint>) -> c_int {
    nvml_after_init("nvmlDeviceGetTopologyCommonAncestor", |machine| {
        let (from, to) = (place(machine, from)?, place(machine, to)?);
        let found = if from == to {
            Some(0)
        } else {
            entry(&machine.scenario.pairs.ancestor, from, to)
        };
        Ok(level.put(found.ok_or(Code::UNKNOWN)?)?)
    })
}

/// A link of a GPU: error 3 where the model has none, 2 where the number is too high.
fn link(machine: &Machine, handle: usize, number: c_uint) -> Result<&NvLink, Code> {
    let links = &gpu(machine, handle)?.nvlinks;
    if links.is_empty() {
        return Err(Code::NOT_SUPPORTED);
    }
    links.get(number as usize).ok_or(Code::INVALID_ARGUMENT)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkState(handle: usize, number: c_uint, active: Out<c_uint>) -> c_int {
    nvml_after_init("nvmlDeviceGetNvLinkState", |machine| {
        Ok(active.put(c_uint::from(link(machine, handle, number)?.active))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkVersion(handle: usize, number: c_uint, version: Out<c_uint>) -> c_int {
    nvml_after_init("nvmlDeviceGetNvLinkVersion", |machine| {
        Ok(version.put(link(machine, handle, number)?.version)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkCapability(
    handle: usize,
    number: c_uint,
    capability: c_uint,
    result: Out<c_uint>,
) -> c_int {
    nvml_after_init("nvmlDeviceGetNvLinkCapability", |machine| {
        let active = link(machine, handle, number)?.active;
        if capability >= CAPABILITIES {
            return Err(Code::INVALID_ARGUMENT);
        }
        Ok(result.put(c_uint::from(active && capability != SLI_BRIDGE))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkRemotePciInfo_v2(
    handle: usize,
    number: c_uint,
    info: Out<PciInfo>,
) -> c_int {
    nvml_after_init("nvmlDeviceGetNvLinkRemotePciInfo_v2", |machine| {
        let found = match &link(machine, handle, number)?.end {
            LinkEnd::Switch(address) => pci_info(address, 0),
            LinkEnd::Gpu(other) => machine
                .gpu(*other)
                .and_then(|gpu| pci_info(&gpu.pci, gpu.pci_device_id)),
        };
        Ok(info.put(found.ok_or(Code::UNKNOWN)?)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkRemoteDeviceType(handle: usize, number: c_uint, kind: Out<c_uint>) -> c_int {
    nvml_after_init("nvmlDeviceGetNvLinkRemoteDeviceType", |machine| {
        let found = match link(machine, handle, number)?.end {
            LinkEnd::Gpu(_) => END_GPU,
            LinkEnd::Switch(_) => END_SWITCH,
        };
        Ok(kind.put(found)?)
    })
}
