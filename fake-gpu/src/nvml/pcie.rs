//! The PCIe link of a GPU.

use super::about::about;
use crate::ffi::Out;
use std::ffi::{c_int, c_uint};

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetCurrPcieLinkGeneration(handle: usize, generation: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetCurrPcieLinkGeneration", handle, |about| {
        Ok(generation.put(about.now.pcie.generation)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMaxPcieLinkGeneration(handle: usize, generation: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetMaxPcieLinkGeneration", handle, |about| {
        Ok(generation.put(about.now.pcie.generation_max)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetGpuMaxPcieLinkGeneration(handle: usize, generation: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetGpuMaxPcieLinkGeneration", handle, |about| {
        Ok(generation.put(about.now.pcie.gpu_generation_max)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetCurrPcieLinkWidth(handle: usize, width: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetCurrPcieLinkWidth", handle, |about| {
        Ok(width.put(about.now.pcie.width)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMaxPcieLinkWidth(handle: usize, width: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetMaxPcieLinkWidth", handle, |about| {
        Ok(width.put(about.now.pcie.width_max)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetPcieReplayCounter(handle: usize, count: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetPcieReplayCounter", handle, |about| {
        Ok(count.put(about.now.pcie.replays)?)
    })
}
