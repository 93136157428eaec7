//! NVLinks of a GPU.

use super::{
    Code,
    about::{About, about},
    device::{PciInfo, pci_info},
    fields::errors,
};
use crate::{
    ffi::Out,
    scenario::{LinkEnd, NvLink},
};
use std::ffi::{c_int, c_uint, c_ulonglong};

/// `nvmlIntNvLinkDeviceType_t`.
const END_GPU: c_uint = 0;
const END_SWITCH: c_uint = 2;
/// `nvmlNvLinkCapability_t`: peer access, system memory, peer atomics, system memory atomics, SLI bridge, valid.
const CAPABILITIES: c_uint = 6;
const SLI_BRIDGE: c_uint = 4;
const VALID: c_uint = 5;

/// A link of a GPU: error 3 where the model has none, 2 where the number is too high.
pub(super) fn link(about: &About, number: c_uint) -> Result<&'static NvLink, Code> {
    let links = &about.gpu.nvlinks;
    if links.is_empty() {
        return Err(Code::NOT_SUPPORTED);
    }
    links.get(number as usize).ok_or(Code::INVALID_ARGUMENT)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkState(handle: usize, number: c_uint, active: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetNvLinkState", handle, |about| {
        Ok(active.put(c_uint::from(link(about, number)?.active))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkVersion(handle: usize, number: c_uint, version: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetNvLinkVersion", handle, |about| {
        Ok(version.put(link(about, number)?.version)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkCapability(
    handle: usize,
    number: c_uint,
    capability: c_uint,
    result: Out<c_uint>,
) -> c_int {
    about("nvmlDeviceGetNvLinkCapability", handle, |about| {
        let link = link(about, number)?;
        if capability >= CAPABILITIES {
            return Err(Code::INVALID_ARGUMENT);
        }
        let has = match capability {
            VALID => link.valid,
            SLI_BRIDGE => false,
            _ => link.active,
        };
        Ok(result.put(c_uint::from(has))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkRemotePciInfo_v2(
    handle: usize,
    number: c_uint,
    info: Out<PciInfo>,
) -> c_int {
    about("nvmlDeviceGetNvLinkRemotePciInfo_v2", handle, |about| {
        let found = match &link(about, number)?.end {
            LinkEnd::Switch(address) => pci_info(address, 0),
            LinkEnd::Gpu(other) => about
                .machine
                .gpu(*other)
                .and_then(|gpu| pci_info(&gpu.pci, gpu.pci_device_id)),
        };
        Ok(info.put(found.ok_or(Code::UNKNOWN)?)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkRemoteDeviceType(handle: usize, number: c_uint, kind: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetNvLinkRemoteDeviceType", handle, |about| {
        let found = match link(about, number)?.end {
            LinkEnd::Gpu(_) => END_GPU,
            LinkEnd::Switch(_) => END_SWITCH,
        };
        Ok(kind.put(found)?)
    })
}

/// `nvmlNvLinkErrorCounter_t`: replay, recovery, CRC of flits, CRC of data, ECC of data.
#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkErrorCounter(
    handle: usize,
    number: c_uint,
    counter: c_uint,
    count: Out<c_ulonglong>,
) -> c_int {
    about("nvmlDeviceGetNvLinkErrorCounter", handle, |about| {
        let errors = errors(about, number)?;
        let value = match counter {
            0 => errors.replay,
            1 => errors.recovery,
            2 => errors.crc,
            3 | 4 => 0,
            _ => return Err(Code::INVALID_ARGUMENT),
        };
        Ok(count.put(value)?)
    })
}
