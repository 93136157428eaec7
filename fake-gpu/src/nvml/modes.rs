//! Modes that an operator sets, and what uses the GPU.

use super::{Code, about::about};
use crate::{ffi::Out, gate::nvml_after_init, machine::Machine, scenario::ConfidentialCompute};
use std::ffi::{c_int, c_uint};

/// `nvmlUtilization_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Utilization {
    gpu: c_uint,
    memory: c_uint,
}

/// `nvmlConfComputeSystemState_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct ConfidentialState {
    environment: c_uint,
    feature: c_uint,
    tools: c_uint,
}

/// `nvmlSystemConfComputeSettings_v1_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct ConfidentialSettings {
    version: c_uint,
    environment: c_uint,
    feature: c_uint,
    tools: c_uint,
    multi_gpu: c_uint,
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMigMode(handle: usize, current: Out<c_uint>, pending: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetMigMode", handle, |about| {
        let on = c_uint::from(about.gpu.mig.ok_or(Code::NOT_SUPPORTED)?);
        current.put(on)?;
        Ok(pending.put(on)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetComputeMode(handle: usize, mode: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetComputeMode", handle, |about| {
        Ok(mode.put(about.gpu.compute_mode.code())?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetPersistenceMode(handle: usize, mode: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetPersistenceMode", handle, |about| {
        Ok(mode.put(c_uint::from(about.gpu.persistence))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetUtilizationRates(handle: usize, rates: Out<Utilization>) -> c_int {
    about("nvmlDeviceGetUtilizationRates", handle, |about| {
        Ok(rates.put(Utilization {
            gpu: about.now.utilization,
            memory: 0,
        })?)
    })
}

/// The machine's setting: that of the first GPU which has any on.
fn confidential(machine: &Machine) -> ConfidentialCompute {
    let off = ConfidentialCompute::default();
    let mut settings = (0..machine.scenario.gpus.len())
        .filter_map(|place| machine.condition(place))
        .map(|now| now.confidential_compute);
    settings.find(|setting| *setting != off).unwrap_or(off)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlSystemGetConfComputeState(state: Out<ConfidentialState>) -> c_int {
    nvml_after_init("nvmlSystemGetConfComputeState", |machine| {
        Ok(state.put(ConfidentialState {
            environment: 0,
            feature: c_uint::from(confidential(machine).feature),
            tools: 0,
        })?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlSystemGetConfComputeSettings(settings: Out<ConfidentialSettings>) -> c_int {
    nvml_after_init("nvmlSystemGetConfComputeSettings", |machine| {
        let version = settings.get()?.version;
        if version != size_of::<ConfidentialSettings>() as c_uint | 1 << 24 {
            return Err(Code::VERSION_MISMATCH);
        }
        let setting = confidential(machine);
        Ok(settings.put(ConfidentialSettings {
            version,
            environment: 0,
            feature: c_uint::from(setting.feature),
            tools: 0,
            multi_gpu: setting.multi_gpu,
        })?)
    })
}
