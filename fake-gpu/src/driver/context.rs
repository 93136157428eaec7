//! Primary contexts and the current context.

use super::{Code, device};
use crate::{
    ffi::Out,
    gate::after_init,
    machine::context::{current_ordinal, handle_of, ordinal_of, set_current},
};
use std::ffi::{c_int, c_uint};

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRetain(context: Out<usize>, device: c_int) -> c_int {
    after_init("cuDevicePrimaryCtxRetain", |machine| {
        let ordinal = device::ordinal(machine, device)?;
        if context.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        machine.retain(ordinal)?;
        Ok(context.put(handle_of(ordinal))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> c_int {
    after_init("cuDevicePrimaryCtxRelease_v2", |machine| {
        machine.release_context(device::ordinal(machine, device)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxGetState(device: c_int, flags: Out<c_uint>, active: Out<c_int>) -> c_int {
    after_init("cuDevicePrimaryCtxGetState", |machine| {
        let ordinal = device::ordinal(machine, device)?;
        flags.put(0)?;
        Ok(active.put(c_int::from(machine.contexts.active(ordinal).is_some()))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSetCurrent(context: usize) -> c_int {
    after_init("cuCtxSetCurrent", |machine| {
        if context == 0 {
            set_current(None);
            return Ok(());
        }
        machine.context(context)?;
        set_current(ordinal_of(context));
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxGetCurrent(context: Out<usize>) -> c_int {
    after_init("cuCtxGetCurrent", |_| {
        Ok(context.put(current_ordinal().map_or(0, handle_of))?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxGetDevice(device: Out<c_int>) -> c_int {
    after_init("cuCtxGetDevice", |_| {
        let ordinal = current_ordinal().ok_or(Code::INVALID_CONTEXT)?;
        Ok(device.put(ordinal as c_int)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSynchronize() -> c_int {
    after_init("cuCtxSynchronize", |machine| {
        let context = machine.current()?;
        machine.drain(&context);
        context.check()
    })
}
