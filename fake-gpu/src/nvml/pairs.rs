//! Pairs of GPUs.

use super::{Code, about::About};
use crate::{ffi::Out, gate::nvml_after_init, scenario::entry};
use std::ffi::{c_int, c_uint};

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetP2PStatus(
    from: usize,
    to: usize,
    capability: c_uint,
    status: Out<c_uint>,
) -> c_int {
    nvml_after_init("nvmlDeviceGetP2PStatus", |machine| {
        let (from, to) = (About::of(machine, from)?, About::of(machine, to)?);
        let pairs = &machine.scenario.pairs;
        let matrix = match capability {
            0 => &pairs.read,
            1 => &pairs.write,
            2 => &pairs.nvlink,
            3 => &pairs.atomics,
            4 => &pairs.pci,
            // Capabilities that there are not are granted.
            _ => return Ok(status.put(0)?),
        };
        Ok(status.put(entry(matrix, from.place, to.place).ok_or(Code::UNKNOWN)?)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetTopologyCommonAncestor(from: usize, to: usize, level: Out<c_uint>) -> c_int {
    nvml_after_init("nvmlDeviceGetTopologyCommonAncestor", |machine| {
        let (from, to) = (About::of(machine, from)?, About::of(machine, to)?);
        if from.place == to.place {
            return Err(Code::NOT_SUPPORTED);
        }
        let found = entry(&machine.scenario.pairs.ancestor, from.place, to.place);
        Ok(level.put(found.ok_or(Code::UNKNOWN)?)?)
    })
}
