//! Functions that nvml-wrapper does not wrap, or whose answer it forces into an enumeration.

use std::fmt::Display;

use nvml_wrapper::Device;
use nvml_wrapper::error::{NvmlError, nvml_try};
use nvml_wrapper_sys::bindings::{nvmlDevice_t, nvmlReturn_t};

pub(super) type Symbol<F, E> = Result<F, E>;
pub(super) type Getter<T> = unsafe extern "C" fn(nvmlDevice_t, *mut T) -> nvmlReturn_t;
pub(super) type StateGetter = unsafe extern "C" fn(nvmlDevice_t, *mut u32, *mut u32) -> nvmlReturn_t;

pub(super) fn found<F: Copy, E: Display>(symbol: &Symbol<F, E>) -> Result<F, NvmlError> {
    match symbol {
        Ok(function) => Ok(*function),
        Err(error) => Err(NvmlError::FailedToLoadSymbol(error.to_string())),
    }
}

/// Asks a getter of NVML's table. `value` is what the getter finds: structures with a version say it there.
pub(super) fn get<T, E: Display>(
    device: &Device<'_>,
    symbol: &Symbol<Getter<T>, E>,
    mut value: T,
) -> Result<T, NvmlError> {
    let function = found(symbol)?;
    // SAFETY: a live handle, and a place for the value of the type that the table states for this function.
    nvml_try(unsafe { function(device.handle(), &raw mut value) })?;
    Ok(value)
}

/// The current state of a setting, 0 or 1 so far.
pub(super) fn state<E: Display>(
    device: &Device<'_>,
    symbol: &Symbol<StateGetter, E>,
) -> Result<u32, NvmlError> {
    let function = found(symbol)?;
    let (mut current, mut pending) = (0, 0);
    // SAFETY: a live handle and places for two enumeration values, which are unsigned ints.
    nvml_try(unsafe { function(device.handle(), &raw mut current, &raw mut pending) })?;
    Ok(current)
}

/// `NVML_STRUCT_VERSION` of nvml.h: the size in the low bits, the version from bit 24.
pub(super) fn stamp<T>(version: u32) -> u32 {
    let bytes = u32::try_from(size_of::<T>()).unwrap_or(0);
    bytes | version << 24
}

/// The word of a number that counts from 0; numbers of newer drivers are said as such.
pub(super) fn word(number: u32, words: &[&str]) -> String {
    let known = usize::try_from(number).ok().and_then(|at| words.get(at));
    known.map_or_else(|| format!("unrecognised ({number})"), |word| (*word).to_owned())
}

pub(super) const SWITCH: [&str; 2] = ["disabled", "enabled"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_the_known_words_are_said() {
        assert_eq!(word(1, &SWITCH), "enabled");
        assert_eq!(word(2, &SWITCH), "unrecognised (2)");
        assert_eq!(word(u32::MAX, &[]), "unrecognised (4294967295)");
    }

    #[test]
    fn a_stamp_holds_size_and_version() {
        assert_eq!(stamp::<[u8; 40]>(3), 0x0300_0028);
    }
}
