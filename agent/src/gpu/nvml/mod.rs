//! NVML: everything that it says about a GPU or a pair, as facts. Whatever it cannot say becomes a gap with a reason,
//! never an error.
//!
//! ```text
//! Management (the open library) -> Managed (one GPU, found by PCI address) -> describe: all facts, before the run
//!                                                                         -> read_again: counters and load, after it
//!     one file a subject: links, errors, fabric, modes, ecc, power, pcie, memory, processes    pair: P2P status, ancestor
//! ```
//!
//! nvml-wrapper calls where it wraps a function and the answer is no enumeration. Enumerations are read as numbers
//! from the function table and turned into words here, because a newer driver may answer with a number that no crate
//! knows: such a word is `unrecognised (n)`.

mod describe;
mod ecc;
mod errors;
mod fabric;
mod fields;
mod links;
mod list;
mod managed;
mod memory;
mod modes;
mod pair;
mod pcie;
mod power;
mod processes;
mod raw;
mod sheet;

pub(crate) use list::{Listed, Unlisted};
pub(crate) use managed::Managed;
use sheet::Sheet;

use kb_core::report::{Fact, Gap, GapKind, ReasonCode};
use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;

use crate::host::{NotLoaded, file_to_open};

use super::driver::PciAddress;
use super::library::with_causes;
use super::trace::Trace;

const LIBRARY_NAME: &str = "libnvidia-ml.so.1";

pub(crate) struct Management {
    /// Never shut down: this process ends when its work does.
    nvml: Result<&'static Nvml, Gap>,
    trace: Trace,
}

impl Management {
    pub(crate) fn open(trace: Trace) -> Self {
        trace.about_to("nvmlInit_v2");
        let nvml = match file_to_open(LIBRARY_NAME) {
            Ok(file) => Nvml::builder()
                .lib_path(file.as_os_str())
                .init()
                .map(|nvml| &*Box::leak(Box::new(nvml)))
                .map_err(|error| unusable(&error)),
            Err(error) => Err(useless(&error.message).coded(error.code)),
        };
        Self { nvml, trace }
    }

    pub(crate) fn driver_version(&self) -> Fact<String> {
        const CALL: &str = "nvmlSystemGetDriverVersion";
        match &self.nvml {
            Ok(nvml) => {
                self.trace.about_to(CALL);
                managed::answer(CALL, nvml.sys_driver_version())
            }
            Err(gap) => Fact::without(gap.clone(), CALL),
        }
    }

    pub(crate) fn find(&self, address: &PciAddress) -> Managed {
        match &self.nvml {
            Ok(nvml) => Managed::find(nvml, address, self.trace.clone()),
            Err(gap) => Managed::absent(gap.clone()),
        }
    }
}

fn unusable(error: &NvmlError) -> Gap {
    let message = with_causes(error);
    let code = match error {
        NvmlError::LibRmVersionMismatch => Some(ReasonCode::VersionMismatch),
        NvmlError::LibloadingError(_) => Some(NotLoaded::by_loader(message.clone()).code),
        _ => None,
    };
    // NVML that is there and does not begin: what it would have told of the GPUs is not known.
    let kind = match error {
        NvmlError::LibRmVersionMismatch
        | NvmlError::LibloadingError(_)
        | NvmlError::FailedToLoadSymbol(_) => GapKind::NotSupported,
        NvmlError::NoPermission => GapKind::NoPermission,
        _ => GapKind::Failed,
    };
    Gap {
        kind,
        reason_code: code,
        ..useless(&message)
    }
}

fn useless(why: &str) -> Gap {
    Gap::new(GapKind::NotSupported, format!("NVML cannot be used: {why}"))
}
