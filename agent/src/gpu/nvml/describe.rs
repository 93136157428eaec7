//! Which subjects are read when.

use kb_core::report::Fact;

use super::{Managed, Sheet, ecc, errors, fabric, links, memory, modes, pcie, power, processes};

impl Managed {
    /// `nvmlDeviceGetIndex`.
    pub(crate) fn index(&self) -> Fact<u32> {
        self.ask("nvmlDeviceGetIndex", |device| device.index())
    }

    /// Everything that NVML says of the GPU, before anything is done with it: the idle check rests on this reading.
    pub(crate) fn describe(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.put("nvml.uuid", self.ask("nvmlDeviceGetUUID", |device| device.uuid()));
        links::read(self, &mut sheet);
        modes::read(self, &mut sheet);
        fabric::read(self, &mut sheet);
        memory::read(self, &mut sheet);
        ecc::read_settings(self, &mut sheet);
        power::read_limits(self, &mut sheet);
        pcie::read_limits(self, &mut sheet);
        self.read_changing(&mut sheet);
        sheet
    }

    /// What a run changes: counters, what depends on load, who else is there. Read before the run and after it.
    fn read_changing(&self, sheet: &mut Sheet) {
        errors::read(self, sheet);
        ecc::read_counters(self, sheet);
        power::read(self, sheet);
        pcie::read(self, sheet);
        processes::read(self, sheet);
    }

    /// The second reading, right after the last copies of the ladder: the contexts are still there, so the GPU is
    /// still in its fast state, and clocks and PCIe link have not been lowered yet.
    pub(crate) fn read_again(&self) -> Sheet {
        let mut sheet = Sheet::default();
        self.read_changing(&mut sheet);
        sheet
    }
}
