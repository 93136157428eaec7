//! What every function passes that is asked about one GPU: the handle, whether the GPU is there and knows the question.

use super::Code;
use crate::{
    gate::nvml_after_init,
    machine::Machine,
    scenario::{Condition, Gpu},
};
use std::ffi::c_int;

/// The GPU of a handle, as it is at the moment of the call.
pub(super) struct About {
    pub(super) machine: &'static Machine,
    pub(super) place: usize,
    pub(super) gpu: &'static Gpu,
    pub(super) now: &'static Condition,
}

impl About {
    /// Error 2 for no handle, 15 for a lost GPU.
    pub(super) fn of(machine: &'static Machine, handle: usize) -> Result<Self, Code> {
        let place = place(machine, handle)?;
        let gpu = machine.gpu(place).ok_or(Code::INVALID_ARGUMENT)?;
        let now = machine.condition(place).ok_or(Code::INVALID_ARGUMENT)?;
        if now.lost {
            return Err(Code::GPU_IS_LOST);
        }
        Ok(Self {
            machine,
            place,
            gpu,
            now,
        })
    }

    /// Error 3 where the scenario says that this GPU does not know `what`.
    pub(super) fn supported(&self, what: &str) -> Result<(), Code> {
        if self.now.not_supported.iter().any(|name| name == what) {
            return Err(Code::NOT_SUPPORTED);
        }
        Ok(())
    }
}

/// The place of a handle, which is that place plus one.
fn place(machine: &Machine, handle: usize) -> Result<usize, Code> {
    let place = handle
        .checked_sub(1)
        .filter(|place| *place < machine.scenario.gpus.len());
    place.ok_or(Code::INVALID_ARGUMENT)
}

/// Runs a function that is asked about one GPU: gives its `nvmlReturn_t`.
pub(super) fn about(
    name: &'static str,
    handle: usize,
    body: impl FnOnce(&About) -> Result<(), Code>,
) -> c_int {
    nvml_after_init(name, |machine| {
        let about = About::of(machine, handle)?;
        about.supported(name)?;
        body(&about)
    })
}
