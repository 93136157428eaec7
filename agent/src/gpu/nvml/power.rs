//! Clocks, temperature, power, and what holds the clocks down.

use kb_core::report::{Fact, fact_name};
use nvml_wrapper::Device;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};

use super::managed::or_older;
use super::raw::get;
use super::{Managed, Sheet};

const REASONS: [&str; 9] = [
    "gpu_idle",
    "applications_clocks_setting",
    "sw_power_cap",
    "hw_slowdown",
    "sync_boost",
    "sw_thermal_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake_slowdown",
    "display_clock_setting",
];

/// The power limit in force, in watts.
pub(super) fn read_limits(gpu: &Managed, sheet: &mut Sheet) {
    let limit = gpu.ask("nvmlDeviceGetEnforcedPowerLimit", Device::enforced_power_limit);
    sheet.put("power.limit_w", limit.map(watts));
}

/// What changes with load: MHz, degrees Celsius, watts.
pub(super) fn read(gpu: &Managed, sheet: &mut Sheet) {
    let clock = |clock| gpu.ask("nvmlDeviceGetClockInfo", |device| device.clock_info(clock));
    sheet.put(fact_name::CLOCK_SM_MHZ, clock(Clock::SM));
    sheet.put(fact_name::CLOCK_MEMORY_MHZ, clock(Clock::Memory));
    sheet.put(
        fact_name::TEMPERATURE_GPU_C,
        gpu.ask("nvmlDeviceGetTemperature", |device| {
            device.temperature(TemperatureSensor::Gpu)
        }),
    );
    let draw = gpu.ask("nvmlDeviceGetPowerUsage", Device::power_usage);
    sheet.put(fact_name::POWER_DRAW_W, draw.map(watts));
    read_throttling(gpu, sheet);
}

pub(super) fn read_throttling(gpu: &Managed, sheet: &mut Sheet) {
    sheet.put(fact_name::THROTTLE_REASONS, reasons(gpu));
}

impl Managed {
    pub(crate) fn conditions(&self) -> Sheet {
        let mut sheet = Sheet::default();
        read(self, &mut sheet);
        sheet
    }
}

fn watts(milliwatts: u32) -> f64 {
    f64::from(milliwatts) / 1000.0
}

/// Renamed by driver 535; the older name is still there.
fn reasons(gpu: &Managed) -> Fact<Vec<String>> {
    let newer = gpu.ask("nvmlDeviceGetCurrentClocksEventReasons", |device| {
        let lib = device.nvml().lib();
        get(device, &lib.nvmlDeviceGetCurrentClocksEventReasons, 0)
    });
    let bits = or_older(newer, || {
        gpu.ask("nvmlDeviceGetCurrentClocksThrottleReasons", |device| {
            let lib = device.nvml().lib();
            get(device, &lib.nvmlDeviceGetCurrentClocksThrottleReasons, 0)
        })
    });
    bits.map(words)
}

fn words(bits: u64) -> Vec<String> {
    let set = (0..u64::BITS).filter(|bit| bits >> bit & 1 == 1);
    let word = |bit: u32| {
        let known = usize::try_from(bit).ok().and_then(|at| REASONS.get(at));
        known.map_or_else(|| format!("unrecognised (bit {bit})"), |word| (*word).to_owned())
    };
    set.map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_has_a_word() {
        assert!(words(0).is_empty());
        assert_eq!(words(0b1000_0100), ["sw_power_cap", "hw_power_brake_slowdown"]);
        assert_eq!(
            words(1 << 63 | 1 << 8),
            ["display_clock_setting", "unrecognised (bit 63)"]
        );
    }
}
