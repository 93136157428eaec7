//! The GPU's end of its PCIe link.

use super::raw::get;
use super::{Managed, Sheet};

/// What the link could be.
pub(super) fn read_limits(gpu: &Managed, sheet: &mut Sheet) {
    sheet.put(
        "pcie.link_generation_max",
        gpu.ask("nvmlDeviceGetMaxPcieLinkGeneration", |device| {
            device.max_pcie_link_gen()
        }),
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
        "pcie.link_width_max",
        gpu.ask("nvmlDeviceGetMaxPcieLinkWidth", |device| {
            device.max_pcie_link_width()
        }),
    );
}

/// What it is now. An idle GPU lowers the generation (not the width), so the reading that counts is the one after the
/// ladder's copies.
pub(super) fn read(gpu: &Managed, sheet: &mut Sheet) {
    sheet.put(
        "pcie.link_generation",
        gpu.ask("nvmlDeviceGetCurrPcieLinkGeneration", |device| {
            device.current_pcie_link_gen()
        }),
    );
    sheet.put(
        "pcie.link_width",
        gpu.ask("nvmlDeviceGetCurrPcieLinkWidth", |device| {
            device.current_pcie_link_width()
        }),
    );
    sheet.put(
        "pcie.replays",
        gpu.ask("nvmlDeviceGetPcieReplayCounter", |device| {
            device.pcie_replay_counter()
        }),
    );
}
