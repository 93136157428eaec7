//! What the driver and NVML say: the GPUs, and rung 1 of each pair. Every absence is a gap with a reason.

pub(crate) mod during;
mod expected;
mod pair;

use std::collections::BTreeMap;
use std::rc::Rc;

use kb_core::report::{Fact, Gap, GapKind, Gpu};
use nvml_wrapper::error::NvmlError;

use crate::gpu::{CallError, Device, Driver, Listed, Managed, Management, PciAddress, Unlisted};

use super::protocol::{Loaded, ManagedGpu, NoList, Opened, Unanswered, Why};

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

pub(super) struct Known {
    pub(super) device: Device,
    address: Result<PciAddress, CallError>,
    managed: Managed,
}

/// An initialised driver with its GPUs in CUDA order.
pub(super) struct Inventory {
    pub(super) driver: Driver,
    nvml: Rc<Management>,
    pub(super) gpus: Vec<Known>,
}

impl Inventory {
    pub(super) fn take(driver: Driver, nvml: Rc<Management>) -> Result<Self, CallError> {
        let mut gpus = Vec::new();
        for device in driver.devices()? {
            let address = driver.pci_address(device);
            let managed = match &address {
                Ok(address) => nvml.find(address),
                // NVML cannot be asked about a GPU whose address is unknown.
                Err(error) => Managed::absent(Gap::new(
                    GapKind::Failed,
                    format!("without its PCI address the GPU is not found in NVML: {error}"),
                )),
            };
            gpus.push(Known {
                device,
                address,
                managed,
            });
        }
        Ok(Self { driver, nvml, gpus })
    }

    pub(super) fn describe(&self) -> Opened {
        let gpus = (0_u32..).zip(&self.gpus);
        let mut described: Vec<Gpu> = gpus
            .map(|(ordinal, gpu)| self.describe_gpu(ordinal, gpu))
            .collect();
        let valid_of_down: Vec<Option<u32>> = self.gpus.iter().map(Known::valid_of_down).collect();
        expected::add(&mut described, &valid_of_down);
        Opened {
            cuda_version: fact("cuDriverGetVersion", self.driver.version()),
            nvml_driver_version: self.nvml.driver_version(),
            gpus: described,
        }
    }

    fn describe_gpu(&self, cuda_ordinal: u32, gpu: &Known) -> Gpu {
        let device = gpu.device;
        let capability = self.driver.compute_capability(device);
        let address = gpu.address.clone();
        Gpu {
            cuda_ordinal,
            nvml_index: gpu.managed.index(),
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
            facts: gpu.managed.describe().into_facts(),
        }
    }

    pub(super) fn gpu(&self, index: u32) -> Option<&Known> {
        self.gpus.get(usize::try_from(index).ok()?)
    }
}

impl Known {
    pub(super) fn conditions(&self) -> BTreeMap<String, Fact> {
        self.managed.conditions().into_facts()
    }

    fn valid_of_down(&self) -> Option<u32> {
        self.managed.links().value.as_ref()?.valid_of_down
    }
}

/// What may have changed on the GPUs at these addresses. Needs NVML alone: it works even where the driver no longer opens.
pub(super) fn read_again(nvml: &Management, addresses: &[Option<String>]) -> Vec<BTreeMap<String, Fact>> {
    let read = |address: &Option<String>| {
        let Some(address) = address else {
            return BTreeMap::new();
        };
        let managed = nvml.find(&PciAddress::from_driver(address));
        managed.read_again().into_facts()
    };
    addresses.iter().map(read).collect()
}

/// Every GPU that NVML lists, also those that CUDA does not show. Needs NVML alone.
pub(super) fn list_managed(nvml: &Management) -> Result<Vec<ManagedGpu>, NoList> {
    match nvml.list() {
        Ok(listed) => Ok(listed.into_iter().map(describe_listed).collect()),
        Err(Unlisted::NotAsked(reason)) => Err(NoList::NotAsked(reason)),
        Err(Unlisted::Failed(call, error)) => Err(NoList::Unanswered(unanswered((call, error)))),
    }
}

fn unanswered((call, error): (&'static str, NvmlError)) -> Unanswered {
    Unanswered {
        why: match error {
            NvmlError::GpuLost => Why::Lost,
            NvmlError::NoPermission => Why::NoPermission,
            _ => Why::Failed,
        },
        message: format!("{call}: {error}"),
    }
}

fn describe_listed(listed: Listed) -> ManagedGpu {
    let address = listed.address.map(|address| address.as_str().to_owned());
    ManagedGpu {
        address: address.map_err(unanswered),
        uuid: listed.uuid,
        is_mig: listed.is_mig,
    }
}

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
