//! Starting, stopping, versions and error texts.

use super::{Code, code};
use crate::{
    ffi::{Out, put_text},
    gate::{nvml, nvml_after_init},
};
use std::{
    ffi::{c_char, c_int, c_uint},
    sync::atomic::Ordering,
};

/// `nvmlErrorString` gives a text, not a code, and never fails: it is neither counted nor hit by faults.
#[unsafe(no_mangle)]
extern "C" fn nvmlErrorString(result: c_int) -> *const c_char {
    code::message(result).as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn nvmlInit_v2() -> c_int {
    nvml("nvmlInit_v2", |machine| {
        machine.nvml_users.fetch_add(1, Ordering::AcqRel);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlInitWithFlags(_flags: c_uint) -> c_int {
    nvml("nvmlInitWithFlags", |machine| {
        machine.nvml_users.fetch_add(1, Ordering::AcqRel);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlShutdown() -> c_int {
    nvml_after_init("nvmlShutdown", |machine| {
        machine.nvml_users.fetch_sub(1, Ordering::AcqRel);
        Ok(())
    })
}

/// Writes a text that has to fit.
pub(super) fn put(buffer: &Out<c_char>, bytes: c_uint, text: &str) -> Result<(), Code> {
    if put_text(buffer, bytes as usize, text)? {
        Ok(())
    } else {
        Err(Code::INSUFFICIENT_SIZE)
    }
}

#[unsafe(no_mangle)]
extern "C" fn nvmlSystemGetDriverVersion(version: Out<c_char>, bytes: c_uint) -> c_int {
    nvml_after_init("nvmlSystemGetDriverVersion", |machine| {
        put(&version, bytes, &machine.scenario.driver_version)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlSystemGetNVMLVersion(version: Out<c_char>, bytes: c_uint) -> c_int {
    nvml_after_init("nvmlSystemGetNVMLVersion", |machine| {
        // NVML's own version is CUDA's major, then the driver's.
        let scenario = &machine.scenario;
        put(
            &version,
            bytes,
            &format!("{}.{}", scenario.cuda_version / 1000, scenario.driver_version),
        )
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlSystemGetCudaDriverVersion(version: Out<c_int>) -> c_int {
    nvml_after_init("nvmlSystemGetCudaDriverVersion", |machine| {
        Ok(version.put(machine.scenario.cuda_version)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlSystemGetCudaDriverVersion_v2(version: Out<c_int>) -> c_int {
    nvml_after_init("nvmlSystemGetCudaDriverVersion_v2", |machine| {
        Ok(version.put(machine.scenario.cuda_version)?)
    })
}
