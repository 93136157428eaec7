//! Clocks, temperature and power.

use super::{Code, about::about};
use crate::ffi::Out;
use std::ffi::{c_int, c_uint, c_ulonglong};

/// `nvmlClockType_t`.
const CLOCK_SM: c_uint = 1;
const CLOCK_MEMORY: c_uint = 2;

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetTemperature(handle: usize, sensor: c_uint, degrees: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetTemperature", handle, |about| {
        // The only sensor of this function is that of the die, number 0.
        if sensor != 0 {
            return Err(Code::INVALID_ARGUMENT);
        }
        Ok(degrees.put(about.gpu.temperature)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetClockInfo(handle: usize, clock: c_uint, mhz: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetClockInfo", handle, |about| {
        let rate = match clock {
            CLOCK_SM => about.now.clocks.sm_mhz,
            CLOCK_MEMORY => about.now.clocks.memory_mhz,
            _ => return Err(Code::INVALID_ARGUMENT),
        };
        Ok(mhz.put(rate)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetCurrentClocksEventReasons(handle: usize, reasons: Out<c_ulonglong>) -> c_int {
    about("nvmlDeviceGetCurrentClocksEventReasons", handle, |about| {
        Ok(reasons.put(about.now.clocks.event_reasons)?)
    })
}

/// The name of the same function before driver 535.
#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetCurrentClocksThrottleReasons(handle: usize, reasons: Out<c_ulonglong>) -> c_int {
    about("nvmlDeviceGetCurrentClocksThrottleReasons", handle, |about| {
        Ok(reasons.put(about.now.clocks.event_reasons)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetPowerUsage(handle: usize, milliwatts: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetPowerUsage", handle, |about| {
        Ok(milliwatts.put(about.now.power.draw_mw)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetEnforcedPowerLimit(handle: usize, milliwatts: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetEnforcedPowerLimit", handle, |about| {
        Ok(milliwatts.put(about.now.power.limit_mw)?)
    })
}
