//! The driver as a whole, and its list of devices.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::rc::Rc;

use cudarc::driver::sys::{CUcontext, CUdevice, CUdevice_attribute, CUuuid};

use kb_core::verdict::is_hardware_code;

use crate::host::NotLoaded;

use super::call::{CallError, call};
use super::codes;
use super::library;
use super::symbols::Symbols;
use super::trace::{HardwareError, Trace};

/// Longest name asked for, in bytes with the terminating zero.
const NAME_BYTES: usize = 256;
/// `cuDeviceGetPCIBusId` needs 13 bytes; a wide domain needs more.
const ADDRESS_BYTES: usize = 32;

/// The function table and what every call needs. Shared by all objects of one worker, which has one thread.
pub(super) struct Api {
    pub(super) symbols: Symbols,
    pub(super) trace: Trace,
    /// The context that this thread has current; null at first.
    pub(super) current: Cell<CUcontext>,
    /// The GPU that calls are about, in CUDA's order.
    pub(super) gpu: Cell<Option<u32>>,
}

impl Api {
    pub(super) fn checked(&self, call: &'static str, code: i32) -> Result<(), CallError> {
        if code == 0 {
            return Ok(());
        }
        let name = codes::name(&self.symbols, code);
        if is_hardware_code(code) || codes::is_of_context(code) {
            self.trace.broken(HardwareError {
                gpu: self.gpu.get(),
                code,
                code_name: name.clone(),
                call: call.to_owned(),
            });
        }
        Err(CallError::Code { call, code, name })
    }
}

#[derive(Clone)]
pub(crate) struct Driver {
    pub(super) api: Rc<Api>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) simulated: bool,
}

/// A GPU by the driver's handle, valid for as long as the process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Device {
    pub(super) handle: CUdevice,
    /// Its place in CUDA's order.
    pub(super) ordinal: u32,
}

/// A PCI address as Peerless writes it: lower case, a domain of four or more digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PciAddress(String);

impl PciAddress {
    /// From CUDA's `0000:00:06.0` or NVML's `00000000:00:06.0`.
    pub(crate) fn from_driver(text: &str) -> Self {
        let text = text.trim().to_ascii_lowercase();
        let Some((domain, rest)) = text.split_once(':') else {
            return Self(text);
        };
        let digits = domain.trim_start_matches('0');
        Self(format!("{digits:0>4}:{rest}"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Driver {
    pub(crate) fn load(trace: Trace) -> Result<Self, NotLoaded> {
        trace.about_to(library::LIBRARY_NAME);
        let open = library::open()?;
        // SAFETY: it was opened under libcuda's name.
        let symbols = unsafe { Symbols::resolve(open.library) };
        let api = Api {
            symbols,
            trace,
            current: Cell::new(std::ptr::null_mut()),
            gpu: Cell::new(None),
        };
        Ok(Self {
            api: Rc::new(api),
            path: open.path,
            simulated: open.simulated,
        })
    }

    /// `cuInit(0)`: half a second and more on large machines.
    pub(crate) fn init(&self) -> Result<(), CallError> {
        // SAFETY: 0 is the only flag there is.
        unsafe { call!(self.api, cuInit(0)) }
    }

    /// `cuDriverGetVersion`: 13000 is CUDA 13.0.
    pub(crate) fn version(&self) -> Result<i32, CallError> {
        let mut version: c_int = 0;
        // SAFETY: a place for one int.
        unsafe { call!(self.api, cuDriverGetVersion(&raw mut version)) }?;
        Ok(version)
    }

    pub(crate) fn devices(&self) -> Result<Vec<Device>, CallError> {
        let mut count: c_int = 0;
        // SAFETY: a place for one int.
        unsafe { call!(self.api, cuDeviceGetCount(&raw mut count)) }?;
        let mut devices = Vec::new();
        for (number, ordinal) in (0..).zip(0..count) {
            let mut handle: CUdevice = 0;
            // SAFETY: a place for one handle, and an ordinal below the count.
            unsafe { call!(self.api, cuDeviceGet(&raw mut handle, ordinal)) }?;
            devices.push(Device {
                handle,
                ordinal: number,
            });
        }
        Ok(devices)
    }

    pub(crate) fn name(&self, device: Device) -> Result<String, CallError> {
        let mut text = [0 as c_char; NAME_BYTES];
        let bytes = c_int::try_from(NAME_BYTES).unwrap_or(0);
        // SAFETY: the buffer has as many bytes as said.
        unsafe { call!(self.api, cuDeviceGetName(text.as_mut_ptr(), bytes, device.handle)) }?;
        Ok(text_of(&text))
    }

    /// `GPU-…`, in the spelling of NVML and nvidia-smi.
    pub(crate) fn uuid(&self, device: Device) -> Result<String, CallError> {
        let mut uuid = CUuuid { bytes: [0; 16] };
        // SAFETY: a place for 16 bytes.
        unsafe { call!(self.api, cuDeviceGetUuid(&raw mut uuid, device.handle)) }?;
        let mut text = "GPU".to_owned();
        for (index, byte) in uuid.bytes.iter().enumerate() {
            if matches!(index, 0 | 4 | 6 | 8 | 10) {
                text.push('-');
            }
            // Writing into a String does not fail.
            let _ = write!(text, "{:02x}", byte.to_ne_bytes()[0]);
        }
        Ok(text)
    }

    pub(crate) fn pci_address(&self, device: Device) -> Result<PciAddress, CallError> {
        let mut text = [0 as c_char; ADDRESS_BYTES];
        let bytes = c_int::try_from(ADDRESS_BYTES).unwrap_or(0);
        // SAFETY: the buffer has as many bytes as said.
        unsafe {
            call!(
                self.api,
                cuDeviceGetPCIBusId(text.as_mut_ptr(), bytes, device.handle)
            )
        }?;
        Ok(PciAddress::from_driver(&text_of(&text)))
    }

    pub(crate) fn memory_bytes(&self, device: Device) -> Result<u64, CallError> {
        let mut bytes: usize = 0;
        // SAFETY: a place for one size.
        unsafe { call!(self.api, cuDeviceTotalMem_v2(&raw mut bytes, device.handle)) }?;
        Ok(bytes as u64)
    }

    pub(crate) fn compute_capability(&self, device: Device) -> Result<(i32, i32), CallError> {
        use CUdevice_attribute::{
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
        };
        Ok((
            attribute(&self.api, MAJOR, device)?,
            attribute(&self.api, MINOR, device)?,
        ))
    }

    /// Whether the driver grants `from` access to the memory of `to`.
    pub(crate) fn can_access_peer(&self, from: Device, to: Device) -> Result<bool, CallError> {
        let mut granted: c_int = 0;
        // SAFETY: a place for one int.
        unsafe {
            call!(
                self.api,
                cuDeviceCanAccessPeer(&raw mut granted, from.handle, to.handle)
            )
        }?;
        Ok(granted != 0)
    }

    /// One of CUDA's attributes of a directed pair, by its number (`CUdevice_P2PAttribute`).
    pub(crate) fn p2p_attribute(&self, number: c_int, from: Device, to: Device) -> Result<i32, CallError> {
        let mut value: c_int = 0;
        // SAFETY: a place for one int; an attribute that the driver does not know is a code.
        unsafe {
            call!(
                self.api,
                cuDeviceGetP2PAttribute(&raw mut value, number, from.handle, to.handle)
            )
        }?;
        Ok(value)
    }
}

pub(super) fn attribute(api: &Api, attribute: CUdevice_attribute, device: Device) -> Result<i32, CallError> {
    let mut value: c_int = 0;
    let number = attribute as c_int;
    // SAFETY: a place for one int; an attribute that the driver does not know is a code.
    unsafe { call!(api, cuDeviceGetAttribute(&raw mut value, number, device.handle)) }?;
    Ok(value)
}

fn text_of(buffer: &[c_char]) -> String {
    let bytes: Vec<u8> = buffer.iter().map(|byte| byte.to_ne_bytes()[0]).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::PciAddress;

    #[test]
    fn addresses_of_cuda_and_nvml_meet() {
        for (given, expected) in [
            ("0000:00:06.0", "0000:00:06.0"),
            ("00000000:00:06.0", "0000:00:06.0"),
            ("00000000:3B:00.0", "0000:3b:00.0"),
            ("00010000:01:00.0", "10000:01:00.0"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(PciAddress::from_driver(given).as_str(), expected);
        }
    }
}
