//! Which subjects are read when.

use kb_core::report::Fact;
use nvml_wrapper::Device;

use super::{Managed, Sheet, ecc, errors, fabric, links, memory, modes, pcie, power, processes};

impl Managed {
    pub(crate) fn index(&self) -> Fact<u32> {
        self.ask("nvmlDeviceGetIndex", Device::index)
    }

    /// Everything that NVML says of the GPU, before anything is done with it: the idle check rests on this reading.
    pub(crate) fn describe(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.put("nvml.uuid", self.ask("nvmlDeviceGetUUID", Device::uuid));
        links::read(self, &mut sheet);
        modes::read(self, &mut sheet);
        memory::read(self, &mut sheet);
        ecc::read_settings(self, &mut sheet);
        power::read_limits(self, &mut sheet);
        pcie::read_limits(self, &mut sheet);
        // For a look, which makes no second reading.
        power::read_throttling(self, &mut sheet);
        pcie::read_width(self, &mut sheet);
        self.read_changing(&mut sheet);
        sheet
    }

    /// States, counters, and who else is there: read before the run and after it.
    fn read_changing(&self, sheet: &mut Sheet) {
        modes::read_recovery(self, sheet);
        fabric::read(self, sheet);
        errors::read(self, sheet);
        ecc::read_counters(self, sheet);
        pcie::read_counter(self, sheet);
        processes::read(self, sheet);
    }

    /// The second reading, right after the ladder's last copies. What depends on load is read only now: contexts still exist,
    /// so the GPU is still in its fast state, and clocks and PCIe link have not been lowered yet.
    pub(crate) fn read_again(&self) -> Sheet {
        let mut sheet = Sheet::default();
        power::read(self, &mut sheet);
        pcie::read_link(self, &mut sheet);
        self.read_changing(&mut sheet);
        sheet
    }
}
