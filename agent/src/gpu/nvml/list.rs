//! Every GPU that NVML lists, whether or not CUDA shows it to this process.

use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

use super::super::driver::PciAddress;
use super::Management;
use super::raw::state;

#[derive(Debug)]
pub(crate) struct Listed {
    /// Its address, or the call that failed and its error.
    pub(crate) address: Result<PciAddress, (&'static str, NvmlError)>,
    pub(crate) uuid: Option<String>,
    pub(crate) is_mig: bool,
}

#[derive(Debug)]
pub(crate) enum Unlisted {
    /// There is no NVML to ask, and why.
    NotAsked(String),
    Failed(&'static str, NvmlError),
}

impl Management {
    /// All GPUs in NVML's order, or why there is no list.
    pub(crate) fn list(&self) -> Result<Vec<Listed>, Unlisted> {
        const COUNT: &str = "nvmlDeviceGetCount_v2";
        let nvml = self.nvml.as_ref();
        let nvml = nvml.map_err(|gap| Unlisted::NotAsked(gap.reason.clone()))?;
        self.trace.about_to(COUNT);
        let count = nvml.device_count();
        let count = count.map_err(|error| Unlisted::Failed(COUNT, error))?;
        Ok((0..count).map(|index| self.listed(nvml, index)).collect())
    }

    fn listed(&self, nvml: &'static Nvml, index: u32) -> Listed {
        const HANDLE: &str = "nvmlDeviceGetHandleByIndex_v2";
        const PLACE: &str = "nvmlDeviceGetPciInfo_v3";
        self.trace.about_to(HANDLE);
        let device = nvml.device_by_index(index).map_err(|error| (HANDLE, error));
        let device = match device {
            Ok(device) => device,
            Err(error) => {
                return Listed {
                    address: Err(error),
                    uuid: None,
                    is_mig: false,
                };
            }
        };
        self.trace.about_to(PLACE);
        let place = device.pci_info();
        Listed {
            address: place
                .map(|place| PciAddress::from_driver(&place.bus_id))
                .map_err(|error| (PLACE, error)),
            uuid: device.uuid().ok(),
            is_mig: is_mig(&device),
        }
    }
}

fn is_mig(device: &Device<'_>) -> bool {
    state(device, &device.nvml().lib().nvmlDeviceGetMigMode).is_ok_and(|mode| mode == 1)
}
