//! One GPU as NVML knows it, and how a question becomes a fact.

use std::cell::OnceCell;

use kb_core::report::{Fact, Gap, GapKind, ReasonCode};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

use super::super::driver::PciAddress;
use super::super::trace::Trace;
use super::links::LinkSummary;

pub(crate) struct Managed {
    device: Result<Device<'static>, Gap>,
    trace: Trace,
    pub(super) links: OnceCell<Fact<LinkSummary>>,
}

impl Managed {
    pub(super) fn find(nvml: &'static Nvml, address: &PciAddress, trace: Trace) -> Self {
        const CALL: &str = "nvmlDeviceGetHandleByPciBusId_v2";
        trace.about_to(CALL);
        let found = nvml.device_by_pci_bus_id(address.as_str());
        let device = found.map_err(|error| gap(CALL, &error));
        Self {
            device,
            trace,
            links: OnceCell::new(),
        }
    }

    pub(crate) fn absent(gap: Gap) -> Self {
        Self {
            device: Err(gap),
            trace: Trace::default(),
            links: OnceCell::new(),
        }
    }

    pub(super) fn ask<T>(
        &self,
        call: &'static str,
        question: impl FnOnce(&Device<'static>) -> Result<T, NvmlError>,
    ) -> Fact<T> {
        match &self.device {
            Ok(device) => {
                self.trace.about_to(call);
                answer(call, question(device))
            }
            Err(gap) => Fact::without(gap.clone(), call),
        }
    }

    pub(super) fn ask_with<T>(
        &self,
        other: &Self,
        call: &'static str,
        question: impl FnOnce(&Device<'static>, &Device<'static>) -> Result<T, NvmlError>,
    ) -> Fact<T> {
        match &other.device {
            Ok(other) => self.ask(call, |device| question(device, other)),
            Err(gap) => Fact::without(gap.clone(), call),
        }
    }
}

pub(super) fn answer<T>(call: &'static str, result: Result<T, NvmlError>) -> Fact<T> {
    match result {
        Ok(value) => Fact::read(value, call),
        Err(error) => Fact::without(gap(call, &error), call),
    }
}

/// The first fact, or where the driver or the GPU does not support that call, what an older call says.
pub(super) fn or_older<T>(newer: Fact<T>, older: impl FnOnce() -> Fact<T>) -> Fact<T> {
    let unsupported = newer
        .gap
        .as_ref()
        .is_some_and(|gap| gap.kind == GapKind::NotSupported);
    if !unsupported {
        return newer;
    }
    let older = older();
    if older.value.is_some() { older } else { newer }
}

fn gap(call: &str, error: &NvmlError) -> Gap {
    let kind = match error {
        NvmlError::NotSupported | NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound => {
            GapKind::NotSupported
        }
        NvmlError::NoPermission => GapKind::NoPermission,
        _ => GapKind::Failed,
    };
    let reason = match error {
        NvmlError::FailedToLoadSymbol(_) => format!("the driver's NVML has no {call}"),
        NvmlError::NotSupported => format!("{call}: not supported on this GPU (NVML error 3)"),
        NvmlError::GpuLost => format!("{call}: the GPU is lost (NVML error 15)"),
        // What the crate calls an unexpected variant is a code that it does not know.
        NvmlError::UnexpectedVariant(code) => format!("{call}: NVML error {code}"),
        error => format!("{call}: {error}"),
    };
    let gap = Gap::new(kind, reason);
    match error {
        NvmlError::GpuLost => gap.coded(ReasonCode::GpuLost),
        _ => gap,
    }
}
