//! Rung 1: what driver and NVML say of a pair, both directions.

use std::collections::BTreeMap;
use std::ffi::c_int;

use cudarc::driver::sys::CUdevice_P2PAttribute;
use kb_core::report::{Fact, GapKind};

use crate::worker::protocol::{DirectionFacts, PairFacts};

use super::{Inventory, Known, fact};

/// CUDA's attributes of a directed pair, with the names that the report uses.
const ATTRIBUTES: [(&str, c_int); 5] = [
    (
        "performance_rank",
        CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK as c_int,
    ),
    (
        "access_supported",
        CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED as c_int,
    ),
    (
        "native_atomic_supported",
        CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED as c_int,
    ),
    (
        "cuda_array_access_supported",
        CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED as c_int,
    ),
    ("only_partial_native_atomic_supported", ONLY_PARTIAL_NATIVE_ATOMIC),
];
/// `CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED`, since CUDA 13.0; cudarc's names are those of 12.9.
const ONLY_PARTIAL_NATIVE_ATOMIC: c_int = 5;

impl Inventory {
    /// Rung 1 of a pair, both directions. `None` where there is no such GPU.
    pub(in crate::worker) fn pair(&self, a: u32, b: u32) -> Option<PairFacts> {
        let (a, b) = (self.gpu(a)?, self.gpu(b)?);
        let (nvlinks, nvswitch) = links_between(a, b);
        Some(PairFacts {
            nvlinks,
            nvswitch,
            common_ancestor: a.managed.common_ancestor(&b.managed),
            forward: self.direction(a, b),
            backward: self.direction(b, a),
        })
    }

    fn direction(&self, from: &Known, to: &Known) -> DirectionFacts {
        let attributes = ATTRIBUTES.map(|(name, attribute)| {
            let value = self.driver.p2p_attribute(attribute, from.device, to.device);
            (name.to_owned(), fact("cuDeviceGetP2PAttribute", value))
        });
        let granted = self.driver.can_access_peer(from.device, to.device);
        DirectionFacts {
            can_access_peer: fact("cuDeviceCanAccessPeer", granted),
            nvml: from.managed.p2p(&to.managed),
            cuda_attributes: BTreeMap::from(attributes),
        }
    }
}

/// Active links that join two GPUs: direct ones, else what both have into the NVSwitch fabric.
fn links_between(a: &Known, b: &Known) -> (Fact<u32>, Fact<bool>) {
    let (from_links, to_links) = (a.managed.links(), b.managed.links());
    let source = from_links.source.clone();
    let (Some(from), Some(to)) = (&from_links.value, &to_links.value) else {
        let gap = from_links.gap.clone().or_else(|| to_links.gap.clone());
        let links = Fact {
            value: None,
            source: source.clone(),
            gap: gap.clone(),
        };
        let value = None;
        return (links, Fact { value, source, gap });
    };
    if from.to_unknown + to.to_unknown > 0 {
        let reason = "NVML does not say what is at the other end of an active link";
        return (
            Fact::missing(GapKind::NotVisible, reason, source.clone()),
            Fact::missing(GapKind::NotVisible, reason, source),
        );
    }
    let direct = match &b.address {
        Ok(address) => from.to_gpu(address),
        Err(_) => 0,
    };
    let switched = from.to_switch.min(to.to_switch);
    (
        Fact::read(direct + switched, source.clone()),
        Fact::read(switched > 0, source),
    )
}
