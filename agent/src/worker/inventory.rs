//! What the driver and NVML say: the GPUs, and rung 1 of each pair. Every absence is a gap with a reason.

use std::collections::BTreeMap;

use cudarc::driver::sys::CUdevice_P2PAttribute;
use kb_core::report::{Fact, GapKind, Gpu};

use crate::gpu::{CallError, Device, Driver, LinkSummary, Management, PciAddress};

use super::protocol::{DirectionFacts, Loaded, Opened, PairFacts};

/// CUDA's attributes of a directed pair, with the names that the report uses.
const ATTRIBUTES: [(&str, CUdevice_P2PAttribute); 4] = [
    (
        "performance_rank",
        CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK,
    ),
    (
        "access_supported",
        CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED,
    ),
    (
        "native_atomic_supported",
        CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
    ),
    (
        "cuda_array_access_supported",
        CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED,
    ),
];

/// The library of a driver that is loaded and not yet called.
pub(super) fn describe_library(driver: &Driver) -> Loaded {
    const SOURCE: &str = "/proc/self/maps";
    let library = match &driver.path {
        Some(path) => Fact::read(path.display().to_string(), SOURCE),
        None => Fact::missing(GapKind::NotVisible, "its mapping has no file name", SOURCE),
    };
    Loaded {
        simulated: driver.simulated,
        library,
    }
}

/// A GPU with what finds it in CUDA and in NVML.
pub(super) struct Known {
    pub(super) device: Device,
    address: Result<PciAddress, CallError>,
    links: Fact<LinkSummary>,
}

/// An initialised driver with its GPUs in CUDA order.
pub(super) struct Inventory {
    pub(super) driver: Driver,
    nvml: Management,
    pub(super) gpus: Vec<Known>,
}

impl Inventory {
    /// Lists the GPUs of an initialised driver.
    pub(super) fn take(driver: Driver, nvml: Management) -> Result<Self, CallError> {
        let mut gpus = Vec::new();
        for device in driver.devices()? {
            let address = driver.pci_address(device);
            let links = match &address {
                Ok(address) => nvml.links(address),
                Err(error) => unmapped(error),
            };
            gpus.push(Known {
                device,
                address,
                links,
            });
        }
        Ok(Self { driver, nvml, gpus })
    }

    /// For the report.
    pub(super) fn describe(&self) -> Opened {
        let gpus = (0_u32..).zip(&self.gpus);
        Opened {
            cuda_version: fact("cuDriverGetVersion", self.driver.version()),
            nvml_driver_version: self.nvml.driver_version(),
            gpus: gpus
                .map(|(ordinal, gpu)| self.describe_gpu(ordinal, gpu))
                .collect(),
        }
    }

    fn describe_gpu(&self, cuda_ordinal: u32, gpu: &Known) -> Gpu {
        let device = gpu.device;
        let capability = self.driver.compute_capability(device);
        let address = gpu.address.clone();
        Gpu {
            cuda_ordinal,
            nvml_index: match &gpu.address {
                Ok(address) => self.nvml.index_of(address),
                Err(error) => unmapped(error),
            },
            uuid: fact("cuDeviceGetUuid", self.driver.uuid(device)),
            pci_address: fact(
                "cuDeviceGetPCIBusId",
                address.map(|address| address.as_str().to_owned()),
            ),
            name: fact("cuDeviceGetName", self.driver.name(device)),
            memory_bytes: fact("cuDeviceTotalMem_v2", self.driver.memory_bytes(device)),
            compute_capability: fact(
                "cuDeviceGetAttribute",
                capability.map(|(major, minor)| format!("{major}.{minor}")),
            ),
            facts: BTreeMap::from([
                ("nvml.uuid".to_owned(), self.nvml_uuid(gpu)),
                (
                    "nvlink.links".to_owned(),
                    count_of(&gpu.links, |links| links.total),
                ),
                (
                    "nvlink.links_active".to_owned(),
                    count_of(&gpu.links, LinkSummary::active),
                ),
                (
                    "nvlink.links_to_switch".to_owned(),
                    count_of(&gpu.links, |links| links.to_switch),
                ),
            ]),
        }
    }

    fn nvml_uuid(&self, gpu: &Known) -> Fact {
        let uuid = match &gpu.address {
            Ok(address) => self.nvml.uuid(address),
            Err(error) => unmapped(error),
        };
        uuid.map(Into::into)
    }

    /// Rung 1 of a pair, both directions. `None` where there is no such GPU.
    pub(super) fn pair(&self, a: u32, b: u32) -> Option<PairFacts> {
        let (a, b) = (self.gpu(a)?, self.gpu(b)?);
        let (nvlinks, nvswitch) = links_between(a, b);
        Some(PairFacts {
            nvlinks,
            nvswitch,
            common_ancestor: match (&a.address, &b.address) {
                (Ok(a), Ok(b)) => self.nvml.common_ancestor(a, b),
                (Err(error), _) | (_, Err(error)) => unmapped(error),
            },
            forward: self.direction(a, b),
            backward: self.direction(b, a),
        })
    }

    pub(super) fn gpu(&self, index: u32) -> Option<&Known> {
        self.gpus.get(usize::try_from(index).ok()?)
    }

    fn direction(&self, from: &Known, to: &Known) -> DirectionFacts {
        let attributes = ATTRIBUTES.map(|(name, attribute)| {
            let value = self.driver.p2p_attribute(attribute, from.device, to.device);
            (name.to_owned(), fact("cuDeviceGetP2PAttribute", value))
        });
        let granted = self.driver.can_access_peer(from.device, to.device);
        DirectionFacts {
            can_access_peer: fact("cuDeviceCanAccessPeer", granted),
            nvml: self
                .nvml
                .p2p(from.address.as_ref().ok(), to.address.as_ref().ok()),
            cuda_attributes: BTreeMap::from(attributes),
        }
    }
}

/// Active links that join two GPUs: direct ones, else what both have into the NVSwitch fabric.
fn links_between(a: &Known, b: &Known) -> (Fact<u32>, Fact<bool>) {
    let source = a.links.source.clone();
    let (Some(from), Some(to)) = (&a.links.value, &b.links.value) else {
        let gap = a.links.gap.clone().or_else(|| b.links.gap.clone());
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

fn count_of(links: &Fact<LinkSummary>, count: impl Fn(&LinkSummary) -> u32) -> Fact {
    links.clone().map(|links| count(&links).into())
}

/// The value of a CUDA call, or the gap that its error is.
fn fact<T>(call: &str, result: Result<T, CallError>) -> Fact<T> {
    match result {
        Ok(value) => Fact::read(value, call),
        Err(error @ CallError::Missing { .. }) => {
            Fact::missing(GapKind::NotSupported, error.to_string(), call)
        }
        // 1 and 801: the driver does not know the attribute, or says that it is not supported.
        Err(error) if matches!(error.code(), Some((1 | 801, _))) => {
            Fact::missing(GapKind::NotSupported, error.to_string(), call)
        }
        Err(error) => Fact::missing(GapKind::Failed, error.to_string(), call),
    }
}

/// NVML cannot be asked about a GPU whose address is unknown.
fn unmapped<T>(error: &CallError) -> Fact<T> {
    let reason = format!("without its PCI address the GPU is not found in NVML: {error}");
    Fact::missing(GapKind::Failed, reason, "cuDeviceGetPCIBusId")
}
