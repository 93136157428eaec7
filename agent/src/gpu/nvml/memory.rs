//! Memory, and the window through which the host and other devices reach it.

use kb_core::report::fact_name;
use nvml_wrapper::Device;
use nvml_wrapper_sys::bindings::nvmlMemory_t;

use super::managed::or_older;
use super::raw::get;
use super::{Managed, Sheet};

pub(super) fn read(gpu: &Managed, sheet: &mut Sheet) {
    let bar1 = gpu.ask("nvmlDeviceGetBAR1MemoryInfo", Device::bar1_memory_info);
    sheet.put_part(fact_name::BAR1_TOTAL_BYTES, &bar1, |bar1| bar1.total);
    sheet.put_part("bar1.used_bytes", &bar1, |bar1| bar1.used);
    // What the driver reserves for itself is not "used" in version 2, which came with driver 510.
    let newer = gpu.ask("nvmlDeviceGetMemoryInfo_v2", |device| {
        device.memory_info().map(|memory| (memory.free, memory.used))
    });
    let memory = or_older(newer, || {
        gpu.ask("nvmlDeviceGetMemoryInfo", |device| {
            let blank = nvmlMemory_t {
                total: 0,
                free: 0,
                used: 0,
            };
            let memory = get(device, &device.nvml().lib().nvmlDeviceGetMemoryInfo, blank)?;
            Ok((memory.free, memory.used))
        })
    });
    sheet.put_part("memory.free_bytes", &memory, |(free, _)| *free);
    sheet.put_part(fact_name::MEMORY_USED_BYTES, &memory, |(_, used)| *used);
}
