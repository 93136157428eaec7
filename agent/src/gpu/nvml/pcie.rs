//! The GPU's end of its PCIe link.

use kb_core::report::fact_name;
use nvml_wrapper::Device;

use super::raw::get;
use super::{Managed, Sheet};

pub(super) fn read_limits(gpu: &Managed, sheet: &mut Sheet) {
    sheet.put(
        fact_name::PCIE_LINK_GENERATION_MAX,
        gpu.ask("nvmlDeviceGetMaxPcieLinkGeneration", Device::max_pcie_link_gen),
    );
    sheet.put(
        "pcie.gpu_generation_max",
        gpu.ask("nvmlDeviceGetGpuMaxPcieLinkGeneration", |device| {
            get(
                device,
                &device.nvml().lib().nvmlDeviceGetGpuMaxPcieLinkGeneration,
                0,
            )
        }),
    );
    sheet.put(
        fact_name::PCIE_LINK_WIDTH_MAX,
        gpu.ask("nvmlDeviceGetMaxPcieLinkWidth", Device::max_pcie_link_width),
    );
}

/// What it is now. An idle GPU lowers the generation (not the width), so this is read right after the ladder's copies.
pub(super) fn read_link(gpu: &Managed, sheet: &mut Sheet) {
    sheet.put(
        fact_name::PCIE_LINK_GENERATION,
        gpu.ask(
            "nvmlDeviceGetCurrPcieLinkGeneration",
            Device::current_pcie_link_gen,
        ),
    );
    read_width(gpu, sheet);
}

/// The lanes in use, which an idle GPU keeps.
pub(super) fn read_width(gpu: &Managed, sheet: &mut Sheet) {
    sheet.put(
        fact_name::PCIE_LINK_WIDTH,
        gpu.ask("nvmlDeviceGetCurrPcieLinkWidth", Device::current_pcie_link_width),
    );
}

pub(super) fn read_counter(gpu: &Managed, sheet: &mut Sheet) {
    sheet.put(
        fact_name::PCIE_REPLAYS,
        gpu.ask("nvmlDeviceGetPcieReplayCounter", Device::pcie_replay_counter),
    );
}
