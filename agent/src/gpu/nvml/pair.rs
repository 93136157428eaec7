//! What NVML says of two GPUs.

use kb_core::report::{Fact, NvmlP2p, P2pStatus};
use nvml_wrapper::error::nvml_try;

use super::Managed;
use super::raw::found;

/// `nvmlGpuP2PCapsIndex_t`.
const READ: u32 = 0;
const WRITE: u32 = 1;
const NVLINK: u32 = 2;
const ATOMICS: u32 = 3;
const PCI: u32 = 4;

impl Managed {
    pub(crate) fn p2p(&self, to: &Self) -> NvmlP2p {
        NvmlP2p {
            read: self.p2p_status(to, READ),
            write: self.p2p_status(to, WRITE),
            nvlink: self.p2p_status(to, NVLINK),
            atomics: self.p2p_status(to, ATOMICS),
            pci: self.p2p_status(to, PCI),
        }
    }

    fn p2p_status(&self, to: &Self, capability: u32) -> Fact<P2pStatus> {
        let status = self.ask_with(to, "nvmlDeviceGetP2PStatus", |from, to| {
            let function = found(&from.nvml().lib().nvmlDeviceGetP2PStatus)?;
            let mut status = u32::MAX;
            // SAFETY: two live handles and a place for one enumeration value, which is an unsigned int.
            nvml_try(unsafe { function(from.handle(), to.handle(), capability, &raw mut status) })?;
            Ok(status)
        });
        status.map(wire)
    }

    /// Nearest common ancestor, as `nvidia-smi topo -m` abbreviates it.
    pub(crate) fn common_ancestor(&self, other: &Self) -> Fact<String> {
        let level = self.ask_with(other, "nvmlDeviceGetTopologyCommonAncestor", |a, b| {
            let function = found(&a.nvml().lib().nvmlDeviceGetTopologyCommonAncestor)?;
            let mut level = u32::MAX;
            // SAFETY: two live handles and a place for one enumeration value, which is an unsigned int.
            nvml_try(unsafe { function(a.handle(), b.handle(), &raw mut level) })?;
            Ok(level)
        });
        level.map(ancestor)
    }
}

/// `nvmlGpuP2PStatus_t`.
fn wire(status: u32) -> P2pStatus {
    match status {
        0 => P2pStatus::Ok,
        1 => P2pStatus::Cns,
        2 => P2pStatus::Gns,
        3 => P2pStatus::Tns,
        4 => P2pStatus::Dr,
        5 => P2pStatus::Ns,
        6 => P2pStatus::U,
        _ => P2pStatus::Unrecognised,
    }
}

fn ancestor(level: u32) -> String {
    match level {
        0 => "X".to_owned(),
        10 => "PIX".to_owned(),
        20 => "PXB".to_owned(),
        30 => "PHB".to_owned(),
        40 => "NODE".to_owned(),
        50 => "SYS".to_owned(),
        other => format!("unrecognised ({other})"),
    }
}
