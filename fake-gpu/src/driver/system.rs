//! Initialisation, version and error texts.

use super::{Code, code};
use crate::{ffi::Out, gate};
use std::{
    ffi::{CStr, c_char, c_int, c_uint},
    ptr,
    sync::atomic::Ordering,
};

#[unsafe(no_mangle)]
extern "C" fn cuInit(flags: c_uint) -> c_int {
    gate::driver("cuInit", |machine| {
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        if machine.devices.is_empty() {
            return Err(Code::NO_DEVICE);
        }
        machine.cuda_ready.store(true, Ordering::Release);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDriverGetVersion(version: Out<c_int>) -> c_int {
    gate::driver("cuDriverGetVersion", |machine| {
        Ok(version.put(machine.scenario.cuda_version)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorName(error: c_int, text: Out<*const c_char>) -> c_int {
    gate::driver("cuGetErrorName", |_| {
        put_description(&text, code::describe(error).map(|(name, _)| name))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorString(error: c_int, text: Out<*const c_char>) -> c_int {
    gate::driver("cuGetErrorString", |_| {
        put_description(&text, code::describe(error).map(|(_, message)| message))
    })
}

/// Gives the address of the text; for an unknown code none, and error 1.
fn put_description(out: &Out<*const c_char>, text: Option<&'static CStr>) -> Result<(), Code> {
    out.put(text.map_or(ptr::null(), CStr::as_ptr))?;
    text.map(|_| ()).ok_or(Code::INVALID_VALUE)
}
