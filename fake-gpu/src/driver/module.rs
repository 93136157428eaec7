//! Modules: PTX text in, functions out.

use super::Code;
use crate::{
    ffi::{Out, Text, put_cut},
    gate::after_init,
    machine::{
        Machine,
        modules::{Function, Loaded},
    },
    ptx::{LoadError, Module, Target},
};
use std::{
    ffi::{c_char, c_int, c_uint},
    sync::Arc,
};

/// `CUjit_option`: the buffers for messages and their sizes.
const INFO_LOG_SIZE: c_int = 4;
const ERROR_LOG: c_int = 5;
const ERROR_LOG_SIZE: c_int = 6;

struct ErrorLog {
    buffer: Out<c_char>,
    capacity: usize,
    /// The caller's option that holds the capacity, and takes the length.
    size_option: usize,
}

/// Compiles and keeps a module; the error text goes to `log`.
fn load(machine: &Machine, image: &Text, log: impl FnOnce(&str)) -> Result<usize, Code> {
    let context = machine.current()?;
    let gpu = machine.gpu(context.gpu).ok_or(Code::INVALID_DEVICE)?;
    let text = image.bytes()?;
    let target = Target {
        compute_capability: gpu.compute_capability,
        max_version: machine.scenario.max_ptx,
        clock_khz: gpu.clock_khz,
    };
    let module = Module::load(&text, target).map_err(|error| {
        log(&error.to_string());
        match error {
            LoadError::NoPtx => Code::INVALID_IMAGE,
            LoadError::Text { .. } | LoadError::Target { .. } => Code::INVALID_PTX,
            LoadError::Version { .. } => Code::UNSUPPORTED_PTX_VERSION,
        }
    })?;
    Ok(machine.modules.loaded.add(Arc::new(Loaded { module, context })))
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleLoadData(module: Out<usize>, image: Text) -> c_int {
    after_init("cuModuleLoadData", |machine| {
        Ok(module.put(load(machine, &image, |_| ())?)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleLoadDataEx(
    module: Out<usize>,
    image: Text,
    count: c_uint,
    options: Out<c_int>,
    values: Out<usize>,
) -> c_int {
    after_init("cuModuleLoadDataEx", |machine| {
        let wanted = error_log(count as usize, &options, &values)?;
        let handle = load(machine, &image, |text| {
            let Some(log) = &wanted else { return };
            let written = put_cut(&log.buffer, log.capacity, text).unwrap_or(0);
            let _ = values.put_at(log.size_option, written);
        })?;
        Ok(module.put(handle)?)
    })
}

/// Finds the error log among the options. Sizes of logs that stay empty are set to 0.
fn error_log(count: usize, options: &Out<c_int>, values: &Out<usize>) -> Result<Option<ErrorLog>, Code> {
    let mut buffer = None;
    let mut capacity = None;
    for index in 0..count {
        let value = values.get_at(index)?;
        match options.get_at(index)? {
            ERROR_LOG => buffer = Some(Out::from_option(value)),
            // The value of a size is an unsigned int where a pointer would be.
            ERROR_LOG_SIZE => {
                capacity = Some((value & u32::MAX as usize, index));
                values.put_at(index, 0)?;
            }
            INFO_LOG_SIZE => values.put_at(index, 0)?,
            _ => {}
        }
    }
    Ok(buffer
        .zip(capacity)
        .map(|(buffer, (capacity, size_option))| ErrorLog {
            buffer,
            capacity,
            size_option,
        }))
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleUnload(module: usize) -> c_int {
    after_init("cuModuleUnload", |machine| {
        if machine.modules.unload(module) {
            Ok(())
        } else {
            Err(Code::INVALID_HANDLE)
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleGetFunction(function: Out<usize>, module: usize, name: Text) -> c_int {
    after_init("cuModuleGetFunction", |machine| {
        machine.current()?;
        let of = machine.modules.loaded.get(module).ok_or(Code::INVALID_HANDLE)?;
        let name = name.text()?;
        if name.is_empty() {
            return Err(Code::INVALID_VALUE);
        }
        let kernel = of.module.kernel(&name).ok_or(Code::NOT_FOUND)?;
        Ok(function.put(machine.modules.functions.add(Function { kernel, of }))?)
    })
}
