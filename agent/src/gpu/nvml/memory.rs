//! Memory, and the window through which the host and other devices reach it.

use nvml_wrapper::Device;

use super::{Managed, Sheet};

pub(super) fn read(gpu: &Managed, sheet: &mut Sheet) {
    let bar1 = gpu.ask("nvmlDeviceGetBAR1MemoryInfo", Device::bar1_memory_info);
    sheet.put_part("bar1.total_bytes", &bar1, |bar1| bar1.total);
    sheet.put_part("bar1.used_bytes", &bar1, |bar1| bar1.used);
    // The second version keeps what the driver reserves for itself out of "used".
    let memory = gpu.ask("nvmlDeviceGetMemoryInfo_v2", Device::memory_info);
    sheet.put_part("memory.free_bytes", &memory, |memory| memory.free);
    sheet.put_part("memory.used_bytes", &memory, |memory| memory.used);
}
